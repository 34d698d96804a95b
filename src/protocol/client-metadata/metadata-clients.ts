import { findBlockedHost, isBlockedHost } from '../../clients/blocked-hosts.ts';
import { describedClient, updateFromDocument } from '../../clients/metadata-clients.ts';
import type { ClientMetadataSetting } from '../../clients/metadata-setting.ts';
import { hasHost, metadataUrlProblem } from '../../clients/rules/metadata-document.ts';
import { type Client, findByMetadataUrl } from '../../clients/store.ts';
import { take, takeFrom } from '../../limits/limits.ts';
import type { Limits } from '../../limits/settings.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { hostOf } from '../../platform/domain-name.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import type { MetadataDocuments, MetadataFailure } from './documents.ts';

/** What is known of a `client_id` that is a URL. */
export type FoundMetadataClient =
  /** On record, or only described by its document; the copy of that is current. */
  | { readonly kind: 'found'; readonly client: Client }
  /** Its document has to be fetched first, which cannot be done in a unit of work: see {@link MetadataClients.fetch}. */
  | { readonly kind: 'fetch'; readonly url: string }
  | { readonly kind: 'refused'; readonly failure: MetadataFailure };

/** Clients that identify themselves by the URL of a metadata document. */
export interface MetadataClients {
  /** Reads a client, and judges whether it may be used now. */
  find(url: string, now: number): Work<FoundMetadataClient>;
  /** Reads a client that a person has consented to, for its tokens: whether its document may be read now does not matter. */
  findRecorded(url: string): Work<Client | undefined>;
  /**
   * Requires a current copy of the document, before anything new is issued to a client that is on record.
   * @returns the client as the document describes it now
   */
  requireCurrent(client: Client, origin: Origin): Promise<Client | MetadataFailure>;
  /** Fetches the document of a client, and applies it where the client is on record. Undefined where a current copy is kept then. */
  fetch(url: string, origin: Origin): Promise<MetadataFailure | undefined>;
}

interface MetadataClientParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly setting: ClientMetadataSetting;
  readonly documents: MetadataDocuments;
}

const refused = (why: Pick<MetadataFailure, 'description' | 'remedy'>): FoundMetadataClient => ({
  kind: 'refused',
  failure: { isPassing: false, ...why },
});

/** What the operator decides. */
const OFF = {
  description: 'This server does not read metadata documents of clients.',
  remedy:
    'Have the operator register the app, or let this server read metadata documents: TESSERA_CLIENT_METADATA=listed or open.',
};
const NOT_LISTED = {
  description: 'This server does not accept apps of this domain.',
  remedy: 'Ask the operator to add the domain to TESSERA_CLIENT_METADATA_DOMAINS, or to register the app.',
};
const BLOCKED = {
  description: 'The domain of this app, or one to which it sends people, is blocked.',
  remedy: 'Ask the operator why it is.',
};

export function createMetadataClients(parts: MetadataClientParts): MetadataClients {
  const { database, clock, setting, documents } = parts;

  /** Decisions §15: by domain, unless an operator has accepted the app itself. */
  const isListed = (url: string, client: Client | undefined): boolean =>
    setting.mode === 'open' || hasHost(setting.domains, hostOf(url)) || client?.acceptedAt != null;

  /** Why the setting or an operator refuses a client; undefined where neither does. */
  function* whyRefused(url: string, client: Client | undefined): Work<Parameters<typeof refused>[0] | undefined> {
    if (setting.mode === 'off') return OFF;
    const problem = metadataUrlProblem(url);
    if (problem !== undefined)
      return { description: `client_id must ${problem}.`, remedy: 'Send the URL of a metadata document as client_id.' };
    if (!isListed(url, client)) return NOT_LISTED;
    if (yield* isBlockedHost(hostOf(url))) return BLOCKED;
    return client === undefined ? undefined : yield* whyNotThere(client);
  }

  /** Why people are not sent where a client says; undefined where nothing speaks against it. */
  function* whyNotThere(client: Client): Work<typeof BLOCKED | undefined> {
    return client.acceptedAt === null && (yield* findBlockedHost(client)) !== undefined ? BLOCKED : undefined;
  }

  const clients: MetadataClients = {
    *find(url, now) {
      const client = setting.mode === 'off' ? undefined : yield* findByMetadataUrl({ metadataUrl: url });
      const why = yield* whyRefused(url, client);
      if (why !== undefined) return refused(why);
      const failure = documents.failure(url);
      if (client !== undefined && (client.metadataExpiresAt ?? 0) > now) return { kind: 'found', client };
      const copy = client === undefined ? documents.kept(url) : undefined;
      if (copy !== undefined) {
        const described = describedClient(copy);
        const whyNot = yield* whyNotThere(described);
        return whyNot === undefined ? { kind: 'found', client: described } : refused(whyNot);
      }
      return failure === undefined ? { kind: 'fetch', url } : { kind: 'refused', failure };
    },

    *findRecorded(url) {
      const client = setting.mode === 'off' ? undefined : yield* findByMetadataUrl({ metadataUrl: url });
      return client !== undefined && (yield* whyRefused(url, client)) === undefined ? client : undefined;
    },

    async requireCurrent(client, origin) {
      const { metadataUrl: url } = client;
      if (url === null) return client;
      const find = () => database.read(() => clients.find(url, clock()));
      let found = await find();
      if (found.kind === 'fetch') {
        const failure = await clients.fetch(url, origin);
        found = failure === undefined ? await find() : { kind: 'refused', failure };
      }
      if (found.kind === 'found') return found.client;
      return found.kind === 'refused' ? found.failure : BEING_FETCHED;
    },

    async fetch(url, origin) {
      const now = clock();
      const wait = await database.commit(() => countFetch(parts, url, origin, now));
      if (wait > 0)
        return { isPassing: true, description: `Too many metadata documents are asked for; wait ${wait} s.` };
      const result = await documents.fetch(url);
      if (!('url' in result)) return result;
      await database.commit(function* apply(): Work<void> {
        const client = yield* findByMetadataUrl({ metadataUrl: url });
        if (client !== undefined) yield* updateFromDocument(result, client.id, clock(), origin);
      });
      return undefined;
    },
  };
  return clients;
}

/** The copy expired while it was fetched. */
const BEING_FETCHED: MetadataFailure = { isPassing: true, description: 'The metadata document has just expired.' };

/** Anyone can name a URL. What a person has consented to is fetched again whatever strangers ask for. */
function* countFetch({ limits }: MetadataClientParts, url: string, origin: Origin, now: number): Work<number> {
  if ((yield* findByMetadataUrl({ metadataUrl: url })) !== undefined) return 0;
  const about = { name: 'metadataAddress', origin } as const;
  const ofAsker = yield* takeFrom('metadata', limits.metadataAddress, now, about);
  if (ofAsker > 0) return ofAsker;
  return yield* take(`metadata-host ${hostOf(url)}`, limits.metadataHost, now, {
    ...about,
    name: 'metadataHost',
  });
}
