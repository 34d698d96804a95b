import type { ExpressionBuilder, Kysely } from 'kysely';
import type { ApiScope } from '../claims/rules/api-scopes.ts';
import type { LeftOut } from '../claims/rules/member-claims.ts';
import { type AsymmetricAlg, OPTIONAL_ALGS } from '../keys/algorithms.ts';
import { listWithin, ownOrganizations, type Reached, reachedOrganizations } from '../operators/reach.ts';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import { forKeyShare, forUpdate } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import {
  type Codec,
  changes,
  columnsOf,
  command,
  decoder,
  encode,
  joint,
  jsonOr,
  many,
  one,
  plain,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { clientStatusOf } from '../verdict/rules.ts';
import { CLIENT_FIELDS } from './fields.ts';
import { saveOrigins } from './origin-store.ts';
import type { ResourceScope } from './resource-fields.ts';
import type { ConsentApproval } from './rules/consent-approval.ts';
import { isUrlForm } from './rules/metadata-document.ts';
import type { ClientTable } from './tables.ts';

/** {@link toRow} writes the status, which depends on who may use the app. */
const STATUS: Codec<'active' | 'disabled'> = { decode: clientStatusOf, encode: (status) => status };

const STORED = {
  id: storedField('id', plain<string>()),
  ...CLIENT_FIELDS,
  /** The name of its picture; null where there is none. */
  picture: storedField('picture', plain<string | null>()),
  status: storedField('status', STATUS),
  /** The last time that tokens lacked a claim because it was too long, to within an hour. */
  leftOut: storedField('left_out', jsonOr<LastLeftOut, null>(null)),
  /** What an operator approved for the people who use it; null for nothing. */
  consentApproval: storedField('consent_approval', jsonOr<ConsentApproval, null>(null)),
  /** The organization that it belongs to; null for the installation. */
  organizationId: storedField('organization_id', plain<string | null>()),
  /** The operator who made it as a developer, and may change it as one; null for none. */
  developerId: storedField('developer_id', plain<string | null>()),
  /** What operators left of these when they took some of it from a developer's app; null for nothing taken. */
  narrowed: storedField('narrowed', jsonOr<Narrowed, null>(null)),
  /** Who registered it, if not an operator: then it needs an operator's acceptance to pass for a registered one. */
  registeredBy: storedField('registered_by', plain<RegisteredBy | null>()),
  /** When an operator accepted it; null while none has. */
  acceptedAt: storedField('accepted_at', plain<number | null>()),
  /** The URL of its metadata document, which is its client_id on the wire; null for one with a number. */
  metadataUrl: storedField('metadata_url', plain<string | null>()),
  metadataHost: storedField('metadata_host', plain<string | null>()),
  /** When the copy of that document expires that the other fields are from. */
  metadataExpiresAt: storedField('metadata_expires_at', plain<number | null>()),
  /** The hash of the token with which it manages its registration (RFC 7592); null where it does not. */
  registrationHash: storedField('registration_hash', plain<string | null>()),
  /** The initial access token with which it registered itself; null without one. */
  initialTokenId: storedField('initial_token_id', plain<string | null>()),
  /** When it is removed unless a person allows it first; null for any other. */
  unusedUntil: storedField('unused_until', plain<number | null>()),
  /** Replaced to invalidate every code and token of the client. */
  generation: storedField('generation', plain<string>()),
  /** Of which registration grants and tokens for its resource are: see `markedResource`. */
  resourceMark: storedField('resource_mark', plain<string | null>()),
  /** Replaced to require new consent. */
  consentEpoch: storedField('consent_epoch', plain<string>()),
  createdAt: storedField('created_at', plain<number>()),
  updatedAt: storedField('updated_at', plain<number>()),
} as const;

/**
 * How a client came to be here without an operator: by its metadata document, by registering itself, or that with an initial access token, or
 * by a person who develops apps by the policy of the installation alone.
 */
export type RegisteredBy = 'metadata' | 'open' | 'token' | 'developer';

/** What operators left an app, by field: its developer adds nothing to it. */
export type Narrowed = Partial<Readonly<Record<'scopes' | 'endpoints' | 'grantTypes', readonly string[]>>>;

/** What tokens lacked, and when. */
export interface LastLeftOut extends LeftOut {
  readonly at: number;
}

/** A registered client. */
export type Client = Values<typeof STORED>;

/** The `client_id` of a client in requests, tokens and responses. */
export const wireId = ({ id, metadataUrl }: Pick<Client, 'id' | 'metadataUrl'>): string => metadataUrl ?? id;

const SECRET = {
  id: storedField('id', plain<string>()),
  hash: storedField('hash', plain<string>()),
  createdAt: storedField('created_at', plain<number>()),
  lastUsedAt: storedField('last_used_at', plain<number | null>()),
  expiresAt: storedField('expires_at', plain<number | null>()),
} as const;

/** A secret of a client. Only its hash is stored. */
export type ClientSecret = Values<typeof SECRET>;

const COLUMNS = columnsOf(STORED);
const columns = (p: ClientTable): ClientTable => pick(p, COLUMNS);
const toClient: (row: object) => Client = decoder(STORED);

export const findClient = one(
  (db, p: { id: string }) => db.selectFrom('client').select(COLUMNS).where('id', '=', p.id),
  toClient,
);

/** Finds the client that registered this resource (RFC 8707). */
export const findResource = one(
  (db, p: { resource: string }) => db.selectFrom('client').select(COLUMNS).where('resource', '=', p.resource),
  toClient,
);

/** Every resource that a client registered. */
export const listResources = many(
  (db, _p: object) => db.selectFrom('client').select(['id', 'resource']).where('resource', 'is not', null),
  ({ id, resource }) => ({ id, resource: resource ?? '' }),
);

export const findByMetadataUrl = one(
  (db, p: { metadataUrl: string }) => db.selectFrom('client').select(COLUMNS).where('metadata_url', '=', p.metadataUrl),
  toClient,
);

/** Finds the client with a `client_id` as it stands in requests and tokens. */
export function* findClientOnWire(clientId: string): Work<Client | undefined> {
  if (isUrlForm(clientId)) return yield* findByMetadataUrl({ metadataUrl: clientId });
  const client = isSnowflake(clientId) ? yield* findClient({ id: clientId }) : undefined;
  return client?.metadataUrl === null ? client : undefined;
}

/** Reads a client and locks it until the unit of work ends. */
export const lockClient = one(
  (db, p: { id: string }) => db.selectFrom('client').select(COLUMNS).where('id', '=', p.id).$call(forUpdate),
  toClient,
);

/** Reads a client under a shared lock: changing it waits for the end of this unit of work. */
export const holdClient = one(
  joint({}, (db, p: { id: string }) =>
    db.selectFrom('client').select(COLUMNS).where('id', '=', p.id).$call(forKeyShare),
  ),
  toClient,
);

const insert = command((db, p: ClientTable) => db.insertInto('client').values(columns(p)));
const update = command((db, p: ClientTable) => db.updateTable('client').set(columns(p)).where('id', '=', p.id));

const toRow = (client: Client): ClientTable => ({
  ...encode(STORED, client),
  status: client.status === 'active' && client.access === 'assigned' ? 'assigned' : client.status,
});

export function* insertClient(client: Client): Work<void> {
  yield* insert(toRow(client));
  yield* saveOrigins(client);
}

const insertIfNew = changes((db, p: ClientTable) =>
  db
    .insertInto('client')
    .values(columns(p))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id'),
);

/** Inserts a client with a metadata document; false where another one with the same URL is on record by now. */
export function* insertMetadataClient(client: Client): Work<boolean> {
  if (!(yield* insertIfNew(toRow(client)))) return false;
  yield* saveOrigins(client);
  return true;
}

/** The hosts of metadata documents after one, in one order. */
export const listMetadataHosts = many(
  (db, p: { after: string; limit: number }) =>
    db
      .selectFrom('client')
      .select('metadata_host')
      .distinct()
      .where('metadata_host', '>', p.after)
      .orderBy('metadata_host')
      .limit(p.limit),
  (row) => row.metadata_host ?? '',
);

/** Replaces the generation of every client with a metadata document at a host: all that was issued to them is invalid. */
export const renewGenerationsAt = command((db, p: { host: string; generation: string }) =>
  db.updateTable('client').set({ generation: p.generation }).where('metadata_host', '=', p.host),
);

export function* saveClient(client: Client): Work<void> {
  yield* update(toRow(client));
  yield* saveOrigins(client);
}

export const saveLeftOut = command((db, p: { id: string; leftOut: string }) =>
  db.updateTable('client').set({ left_out: p.leftOut }).where('id', '=', p.id),
);

/** Deletes a client; false where it does not exist. */
export const removeClient = changes((db, p: { id: string }) =>
  db.deleteFrom('client').where('id', '=', p.id).returning('id'),
);

interface ClientPage {
  readonly after: string;
  readonly limit: number;
}

const page = (db: Kysely<Tables>, p: ClientPage) =>
  db.selectFrom('client').select(COLUMNS).where('id', '>', p.after).orderBy('id').limit(p.limit);

/** Whether a client is within the reach of an operator. */
export const isReached = (eb: ExpressionBuilder<Tables, 'client'>, p: Reached) =>
  eb.or([
    eb('organization_id', 'in', reachedOrganizations(p)),
    eb('developer_id', '=', p.anywhereDeveloperId),
    eb.and([eb('developer_id', '=', p.installationDeveloperId), eb('organization_id', 'is', null)]),
    eb.and([eb('developer_id', '=', p.developerId), eb('organization_id', 'in', ownOrganizations(p))]),
  ]);

const listAll = many((db, p: ClientPage) => page(db, p), toClient);
const listReached = many((db, p: ClientPage & Reached) => page(db, p).where((eb) => isReached(eb, p)), toClient);

/** The clients in the order of their ids: all, or those that an operator reaches. */
export const listClients = listWithin({ order: 'oldest first', all: listAll, reached: listReached });

/** The clients that no operator has registered or accepted, in the order of their ids. */
export const listUnregistered = many(
  (db, p: ClientPage) => page(db, p).where('registered_by', 'is not', null).where('accepted_at', 'is', null),
  toClient,
);

const appsOf = one(
  (db, p: { developerId: string }) =>
    db
      .selectFrom('client')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('developer_id', '=', p.developerId),
  ({ count }) => Number(count),
);

/** How many apps an operator has made as a developer. */
export function* countAppsOf(developer: { readonly developerId: string }): Work<number> {
  return (yield* appsOf(developer)) ?? 0;
}

/** The scopes of APIs that a client may request, in one order. A disabled API has none. */
export const listApiScopes = many(
  (db, p: { clientId: string }) =>
    db
      .selectFrom('client_api_scope as s')
      .innerJoin('client as a', 'a.id', 's.api_id')
      .select(['s.id', 's.name', 's.api_id', 'a.resource'])
      .where('s.client_id', '=', p.clientId)
      .where('a.status', '<>', 'disabled')
      .where('a.resource', 'is not', null)
      .orderBy('s.api_id')
      .orderBy('s.name'),
  (row): ApiScope => ({ id: row.id, name: row.name, apiId: row.api_id, resource: row.resource ?? '' }),
);

const listApisLike = many(
  (db, p: { pattern: string }) =>
    db
      .selectFrom('client')
      .select(['id', 'resource', 'resource_scopes'])
      .where('resource', 'is not', null)
      .where('resource_scopes', 'like', p.pattern)
      .where('status', '<>', 'disabled')
      .orderBy('resource')
      .limit(20),
  (row) => ({
    id: row.id,
    resource: row.resource ?? '',
    scopes: (JSON.parse(row.resource_scopes ?? '[]') as readonly ResourceScope[]).map(({ name }) => name),
  }),
);

/** Some of the active APIs whose declared scopes may include one of this name: what SQL takes for a pattern is compared by the caller. */
export const listDeclaringApis = (scope: string): Work<readonly { id: string; resource: string; scopes: string[] }[]> =>
  listApisLike({ pattern: `%"${scope.slice(0, LONGEST_SCOPE).replaceAll(/[%_\\]/g, '_')}"%` });

/** Of the names that an API may declare. */
const LONGEST_SCOPE = 64;

/** The secrets of a client that are valid at `now`, oldest first. */
export const liveSecrets = many(
  (db, p: { clientId: string; now: number }) =>
    db
      .selectFrom('client_secret')
      .select(columnsOf(SECRET))
      .where('client_id', '=', p.clientId)
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', p.now)]))
      // The newest has no end yet. The ids of two nodes are in no order within a millisecond.
      .orderBy((eb) => eb.case().when('expires_at', 'is', null).then(1).else(0).end())
      .orderBy('id'),
  decoder(SECRET),
);

/**
 * The `expires_at` of a secret that somebody ended: the instant with a minus sign, which is in the past of every node, whatever its clock
 * says.
 */
export const endedAt = (now: number): number => -now;

/** A secret by its hash, and when it was ended, or expires or expired. */
export const findSecretOwner = one(
  (db, p: { hash: string }) =>
    db.selectFrom('client_secret').select(['id', 'client_id', 'expires_at']).where('hash', '=', p.hash),
  ({ id, client_id, expires_at }) => ({
    id,
    clientId: client_id,
    ...(expires_at !== null && expires_at < 0
      ? { endedAt: -expires_at, expiresAt: null }
      : { endedAt: null, expiresAt: expires_at }),
  }),
);

/** Whether a secret has this id. */
export const isSecretId = one((db, p: { id: string }) =>
  db.selectFrom('client_secret').select('id').where('id', '=', p.id),
);

export const addSecret = command((db, p: { id: string; clientId: string; hash: string; now: number }) =>
  db.insertInto('client_secret').values({
    id: p.id,
    client_id: p.clientId,
    hash: p.hash,
    created_at: p.now,
    last_used_at: null,
    expires_at: null,
  }),
);

export const expireSecret = command((db, p: { id: string; at: number }) =>
  db.updateTable('client_secret').set({ expires_at: p.at }).where('id', '=', p.id),
);

/** Removes the secrets of a client that are no longer valid, except the newest. */
export const removeFormerSecrets = command((db, p: { clientId: string; now: number; kept: number }) =>
  db
    .deleteFrom('client_secret')
    .where('client_id', '=', p.clientId)
    .where('expires_at', '<=', p.now)
    .where('id', 'not in', (eb) =>
      eb
        .selectFrom('client_secret as former')
        .select('former.id')
        .where('former.client_id', '=', p.clientId)
        .where('former.expires_at', '<=', p.now)
        .orderBy('former.id', 'desc')
        .limit(p.kept),
    ),
);

export const markSecretUsed = command((db, p: { id: string; now: number }) =>
  db.updateTable('client_secret').set({ last_used_at: p.now }).where('id', '=', p.id),
);

const usesAlgorithm = one((db, p: { alg: AsymmetricAlg }) =>
  db
    .selectFrom('client')
    .select('id')
    .where((eb) =>
      eb.or([eb('id_token_signed_response_alg', '=', p.alg), eb('userinfo_signed_response_alg', '=', p.alg)]),
    )
    .limit(1),
);

/** Reads the algorithms that a client is registered for, of those that are published only then. */
export function* readAlgorithmsInUse(): Work<ReadonlySet<AsymmetricAlg>> {
  const inUse = new Set<AsymmetricAlg>();
  for (const alg of OPTIONAL_ALGS) if ((yield* usesAlgorithm({ alg })) !== undefined) inUse.add(alg);
  return inUse;
}

/** Sets the generation of every client: all codes and tokens are invalid. */
export const renewClientGenerations = command((db, p: { generation: string }) =>
  db.updateTable('client').set({ generation: p.generation }),
);

/** Sets the generation and consent epoch of every client: all codes and tokens are invalid, and new consent is required. */
export const renewClients = command((db, p: { generation: string; epoch: string }) =>
  db.updateTable('client').set({ generation: p.generation, consent_epoch: p.epoch }),
);
