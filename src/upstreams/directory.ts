import { type Clock, SECOND } from '../platform/clock.ts';
import type { Database, Work } from '../platform/database/database.ts';
import type { Outgoing } from '../platform/http/outgoing.ts';
import { listActiveDomains } from './domain-store.ts';
import { listActiveOnly } from './only-store.ts';
import { createProviderDocuments, type ProviderDocuments } from './provider-documents.ts';
import { listActiveUpstreams, type Upstream } from './store.ts';

/** For how long a process shows the same buttons. What is behind one is read again when it is pressed. */
const SHOWN = 10 * SECOND;

/** An upstream to which people with an address of a domain are led. */
export type HomeUpstream = Pick<Upstream, 'name' | 'displayName'>;

/** An upstream to which the members of an organization are led. */
export interface HomeOfOrganization {
  readonly organization: string;
  readonly upstream: HomeUpstream;
}

/** What the pages need of upstreams. */
export interface Upstreams {
  /** Those that people can use, in the order of their buttons: as of a few seconds ago. */
  shown(): Promise<readonly Upstream[]>;
  /** The one that is authoritative for a domain, in ASCII and lower case: as of a few seconds ago. */
  homeOf(domain: string): Promise<HomeUpstream | undefined>;
  /** The one through which alone the members of an organization use its apps: as of a few seconds ago. */
  ofOrganization(which: { readonly id: string } | { readonly name: string }): Promise<HomeOfOrganization | undefined>;
  readonly documents: ProviderDocuments;
  readonly outgoing: Outgoing;
  /** Whether this installation runs on a developer's machine, where `http` is allowed. */
  readonly local: boolean;
}

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
  readonly outgoing: Outgoing;
  readonly local: boolean;
}

interface Shown {
  readonly upstreams: readonly Upstream[];
  /** By domain. */
  readonly homes: ReadonlyMap<string, HomeUpstream>;
  /** Those of organizations, by their ids and by their names. */
  readonly byId: ReadonlyMap<string, HomeOfOrganization>;
  readonly byName: ReadonlyMap<string, HomeOfOrganization>;
}

function* readShown(): Work<Shown> {
  const upstreams = yield* listActiveUpstreams({});
  const homes = yield* listActiveDomains({});
  const only = yield* listActiveOnly({});
  return {
    upstreams,
    homes: new Map(homes.map(({ domain, upstream }) => [domain, upstream])),
    byId: new Map(only.map((home) => [home.id, home])),
    byName: new Map(only.map((home) => [home.organization, home])),
  };
}

export function createUpstreams({ database, clock, outgoing, local }: Parts): Upstreams {
  let read: { readonly current: Shown; readonly at: number } | undefined;
  async function current(): Promise<Shown> {
    const now = clock();
    if (read === undefined || Math.abs(now - read.at) >= SHOWN) {
      read = { current: await database.read(readShown), at: now };
    }
    return read.current;
  }
  return {
    shown: async () => (await current()).upstreams,
    homeOf: async (domain) => (await current()).homes.get(domain),
    async ofOrganization(which) {
      const { byId, byName } = await current();
      return 'id' in which ? byId.get(which.id) : byName.get(which.name);
    },
    documents: createProviderDocuments(outgoing, clock, local),
    outgoing,
    local,
  };
}
