import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import type { ClientSecretTable, ClientTable } from '../platform/database/schema.ts';
import {
  changes,
  columnsOf,
  command,
  decoder,
  encode,
  many,
  one,
  plain,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { CLIENT_FIELDS } from './fields.ts';
import { saveOrigins } from './origin-store.ts';

const STORED = {
  id: storedField('id', plain<string>()),
  ...CLIENT_FIELDS,
  /** The name of its picture; null where there is none. */
  picture: storedField('picture', plain<string | null>()),
  status: storedField('status', plain<'active' | 'disabled'>()),
  /** Replaced to invalidate every code and token of the client. */
  generation: storedField('generation', plain<string>()),
  /** Replaced to require new consent. */
  consentEpoch: storedField('consent_epoch', plain<string>()),
  createdAt: storedField('created_at', plain<number>()),
  updatedAt: storedField('updated_at', plain<number>()),
} as const;

/** A registered client. */
export type Client = Values<typeof STORED>;

/** A secret of a client. Only its hash is stored. */
export interface ClientSecret {
  readonly id: string;
  readonly hash: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number | null;
}

const COLUMNS = columnsOf(STORED);
const columns = (p: ClientTable): ClientTable => pick(p, COLUMNS);
const toClient: (row: object) => Client = decoder(STORED);

const SECRET_COLUMNS = ['id', 'hash', 'created_at', 'last_used_at', 'expires_at'] as const;

const toSecret = (row: Omit<ClientSecretTable, 'client_id'>): ClientSecret => ({
  id: row.id,
  hash: row.hash,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
  expiresAt: row.expires_at,
});

export const findClient = one(
  (db, p: { id: string }) => db.selectFrom('client').select(COLUMNS).where('id', '=', p.id),
  toClient,
);

/** Finds the client that registered this resource (RFC 8707). */
export const findResource = one(
  (db, p: { resource: string }) => db.selectFrom('client').select(COLUMNS).where('resource', '=', p.resource),
  toClient,
);

/** Reads a client and locks it until the unit of work ends. */
export const lockClient = one(
  (db, p: { id: string }) => db.selectFrom('client').select(COLUMNS).where('id', '=', p.id).forUpdate(),
  toClient,
);

const insert = command((db, p: ClientTable) => db.insertInto('client').values(columns(p)));
const update = command((db, p: ClientTable) => db.updateTable('client').set(columns(p)).where('id', '=', p.id));

export function* insertClient(client: Client): Work<void> {
  yield* insert(encode(STORED, client));
  yield* saveOrigins(client);
}

export function* saveClient(client: Client): Work<void> {
  yield* update(encode(STORED, client));
  yield* saveOrigins(client);
}

/** Deletes a client; false where it does not exist. */
export const removeClient = changes((db, p: { id: string }) =>
  db.deleteFrom('client').where('id', '=', p.id).returning('id'),
);

export const listClients = many(
  (db, p: { after: string; limit: number }) =>
    db.selectFrom('client').select(COLUMNS).where('id', '>', p.after).orderBy('id').limit(p.limit),
  toClient,
);

const secretsOf = many(
  (db, p: { clientId: string }) =>
    db.selectFrom('client_secret').select(SECRET_COLUMNS).where('client_id', '=', p.clientId).orderBy('id'),
  toSecret,
);

/** The secrets of a client that are valid at `now`, oldest first. */
export function* liveSecrets(clientId: string, now: number): Work<readonly ClientSecret[]> {
  const secrets = yield* secretsOf({ clientId });
  return secrets.filter((secret) => secret.expiresAt === null || now < secret.expiresAt);
}

/** A client with its valid secrets; an id that is malformed is not looked up. */
export function* findClientWithSecrets(
  id: string,
  now: number,
): Work<{ client: Client; secrets: readonly ClientSecret[] } | undefined> {
  const client = isSnowflake(id) ? yield* findClient({ id }) : undefined;
  return client && { client, secrets: yield* liveSecrets(id, now) };
}

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

export const removeSecret = command((db, p: { id: string; clientId: string }) =>
  db.deleteFrom('client_secret').where('id', '=', p.id).where('client_id', '=', p.clientId),
);

export const markSecretUsed = command((db, p: { id: string; now: number }) =>
  db.updateTable('client_secret').set({ last_used_at: p.now }).where('id', '=', p.id),
);

/** Sets the generation and consent epoch of every client: all codes and tokens are invalid, and new consent is required. */
export const renewClients = command((db, p: { generation: string; epoch: string }) =>
  db.updateTable('client').set({ generation: p.generation, consent_epoch: p.epoch }),
);
