import type { Kysely } from 'kysely';
import type { Work } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import { first, type RowOf, run, statement } from '../platform/database/statement.ts';
import type { Standing } from '../verdict/rules.ts';

/** A client with the version of the key set, as of one moment. */
export interface ClientNow {
  readonly client: NonNullable<Standing['client']>;
  readonly keyVersion: string;
}

/** A client's own token with everything that the verdict needs, as of one moment. */
export interface ClientTokenRecord extends ClientNow {
  readonly clientGeneration: string;
  readonly endsAt: number;
  readonly deadAt: number | null;
}

export interface NewClientToken {
  readonly jti: string;
  readonly clientId: string;
  readonly clientGeneration: string;
  readonly createdAt: number;
  readonly endsAt: number;
}

type Key = Pick<NewClientToken, 'jti' | 'clientId'>;

const standing = statement((db, p: { clientId: string }) =>
  db
    .selectFrom('client as c')
    .innerJoin('key_set as k', (join) => join.on('k.id', '=', 1))
    .where('c.id', '=', p.clientId)
    .select(['c.status', 'c.generation', 'k.version']),
);

const insert = statement((db, p: NewClientToken) =>
  db.insertInto('client_token').values({
    jti: p.jti,
    client_id: p.clientId,
    client_generation: p.clientGeneration,
    created_at: p.createdAt,
    ends_at: p.endsAt,
    dead_at: null,
  }),
);

const selectToken = (db: Kysely<Tables>, p: Key) =>
  db
    .selectFrom('client_token as t')
    .innerJoin('client as c', 'c.id', 't.client_id')
    .innerJoin('key_set as k', (join) => join.on('k.id', '=', 1))
    .where('t.jti', '=', p.jti)
    .where('t.client_id', '=', p.clientId)
    .select(['t.client_generation', 't.ends_at', 't.dead_at', 'c.status', 'c.generation', 'k.version']);

const byJti = statement((db, p: Key) => selectToken(db, p));
const byJtiLocked = statement((db, p: Key) => selectToken(db, p).forUpdate('t'));

const kill = statement((db, p: { jti: string; now: number }) =>
  db.updateTable('client_token').set({ dead_at: p.now }).where('jti', '=', p.jti).where('dead_at', 'is', null),
);

/** How a client stands, and by which keys tokens are signed; undefined where it is not on record. */
export function* readClientNow(clientId: string): Work<ClientNow | undefined> {
  const row = yield* first(standing, { clientId });
  return row && toClientNow(row);
}

export function* insertClientToken(token: NewClientToken): Work<void> {
  yield* run(insert, token);
}

/** Reads a token that is this client's; undefined where it is not on record. */
export function* readClientToken({ jti, clientId }: Key): Work<ClientTokenRecord | undefined> {
  const row = yield* first(byJti, { jti, clientId });
  return row && toRecord(row);
}

/** Reads a token that the same unit of work is about to end. */
export function* lockClientToken({ jti, clientId }: Key): Work<ClientTokenRecord | undefined> {
  const row = yield* first(byJtiLocked, { jti, clientId });
  return row && toRecord(row);
}

export function* killClientToken(jti: string, now: number): Work<void> {
  yield* run(kill, { jti, now });
}

const toClientNow = (row: RowOf<typeof standing>): ClientNow => ({
  client: { status: row.status, generation: row.generation },
  keyVersion: row.version,
});

const toRecord = (row: RowOf<typeof byJti>): ClientTokenRecord => ({
  ...toClientNow(row),
  clientGeneration: row.client_generation,
  endsAt: row.ends_at,
  deadAt: row.dead_at,
});
