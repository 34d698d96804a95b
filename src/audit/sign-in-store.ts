import type { Kysely } from 'kysely';
import { constant, negated } from '../platform/database/columns.ts';
import type { Tables } from '../platform/database/schema.ts';
import { columnsOf, decoder, json, many, plain, storedField, type Values } from '../platform/database/statement.ts';
import { NOT_INDEXED } from './activity-store.ts';

const SIGN_IN = {
  at: storedField('at', plain<number>()),
  address: storedField('address', plain<string | null>()),
  requestId: storedField('request_id', plain<string | null>()),
  details: storedField('details', json<Readonly<Record<string, unknown>>>()),
} as const;

/** A sign-in to an account, or one that was refused. */
export type RecordedSignIn = Values<typeof SIGN_IN>;

const newestOf = (db: Kysely<Tables>, p: { accountId: string }, type: SignInType) =>
  db
    .selectFrom('audit_event')
    .select('id')
    .where('account_id', '=', p.accountId)
    .where('type', 'not in', NOT_INDEXED.map(constant))
    .where('type', '=', type)
    .orderBy(negated('id'))
    .limit(1);

type SignInType = 'sign_in.succeeded' | 'sign_in.failed';

export const toSignIn: (row: object) => RecordedSignIn = decoder(SIGN_IN);

/** The newest sign-in to an account that succeeded, and the newest one that failed. */
export const newestSignInsOf = (db: Kysely<Tables>, p: { accountId: string }) =>
  db
    .selectFrom('audit_event')
    .select(['type', ...columnsOf(SIGN_IN)])
    .where('id', 'in', [newestOf(db, p, 'sign_in.succeeded'), newestOf(db, p, 'sign_in.failed')]);

export const newestSignIns = many(newestSignInsOf, (row) => ({ type: row.type, signIn: toSignIn(row) }));
