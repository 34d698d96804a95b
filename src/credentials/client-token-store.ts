import type { Kysely } from 'kysely';
import { storedResources } from '../claims/permissions.ts';
import { forUpdate } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import { command, decoder, one, plain, readAs, storedField, type Values } from '../platform/database/statement.ts';
import { clientStatusOf } from '../verdict/rules.ts';

export interface NewClientToken {
  readonly jti: string;
  readonly clientId: string;
  readonly clientGeneration: string;
  readonly createdAt: number;
  readonly endsAt: number;
  /** Scopes of APIs, as they are stored; null for none. */
  readonly scopes: string | null;
  /** The resources that it is for: see `encodeResources`. */
  readonly resources: string | null;
}

type Key = Pick<NewClientToken, 'jti' | 'clientId'>;

const CLIENT_NOW = {
  client: {
    status: storedField('status', readAs(clientStatusOf)),
    generation: storedField('generation', plain<string>()),
  },
  keyVersion: storedField('version', plain<string>()),
};
const TOKEN = {
  ...CLIENT_NOW,
  clientGeneration: storedField('client_generation', plain<string>()),
  endsAt: storedField('ends_at', plain<number>()),
  deadAt: storedField('dead_at', plain<number | null>()),
  /** Scopes of APIs, as they are stored. */
  scopes: storedField(
    'scopes',
    readAs((stored: string | null) => stored ?? ''),
  ),
  resources: storedField('resources', storedResources),
};
const toRecord = decoder(TOKEN);

/** A client with the version of the key set, read at one moment. */
export type ClientNow = Values<typeof CLIENT_NOW>;

/** A token that a client got for itself, with all that the verdict needs, read at one moment. */
export type ClientTokenRecord = Values<typeof TOKEN>;

/** The state of a client, and the version of the key set. */
export const readClientNow = one(
  (db, p: { clientId: string }) =>
    db
      .selectFrom('client as c')
      .innerJoin('key_set as k', (join) => join.on('k.id', '=', 1))
      .where('c.id', '=', p.clientId)
      .select(['c.status', 'c.generation', 'k.version']),
  decoder(CLIENT_NOW),
);

export const insertClientToken = command((db, p: NewClientToken) =>
  db.insertInto('client_token').values({
    jti: p.jti,
    client_id: p.clientId,
    client_generation: p.clientGeneration,
    created_at: p.createdAt,
    ends_at: p.endsAt,
    dead_at: null,
    scopes: p.scopes,
    resources: p.resources,
  }),
);

const selectToken = (db: Kysely<Tables>, p: Key) =>
  db
    .selectFrom('client_token as t')
    .innerJoin('client as c', 'c.id', 't.client_id')
    .innerJoin('key_set as k', (join) => join.on('k.id', '=', 1))
    .where('t.jti', '=', p.jti)
    .where('t.client_id', '=', p.clientId)
    .select([
      't.client_generation',
      't.ends_at',
      't.dead_at',
      't.scopes',
      't.resources',
      'c.status',
      'c.generation',
      'k.version',
    ]);

/** A token of this client. */
export const readClientToken = one(selectToken, toRecord);

/** {@link readClientToken}, for a unit of work that is about to revoke the token. */
export const lockClientToken = one(
  (db, p: Key) => selectToken(db, p).$call((query) => forUpdate(query, 't')),
  toRecord,
);

/** Revokes a token, unless it was revoked before. */
export const revokeClientToken = command((db, p: { jti: string; now: number }) =>
  db.updateTable('client_token').set({ dead_at: p.now }).where('jti', '=', p.jti).where('dead_at', 'is', null),
);

/** Revokes the tokens that a client got for itself at an instant or later: nobody knows with which of its secrets. It gets others with those that are left. */
export const endClientTokens = command((db, p: { clientId: string; since: number; now: number }) =>
  db
    .updateTable('client_token')
    .set({ dead_at: p.now })
    .where('client_id', '=', p.clientId)
    .where('created_at', '>=', p.since)
    .where('dead_at', 'is', null),
);
