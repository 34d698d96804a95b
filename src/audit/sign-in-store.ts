import { constant, negated } from '../platform/database/columns.ts';
import { columnsOf, decoder, json, one, plain, storedField, type Values } from '../platform/database/statement.ts';
import { NOT_INDEXED } from './activity-store.ts';

const SIGN_IN = {
  at: storedField('at', plain<number>()),
  address: storedField('address', plain<string | null>()),
  requestId: storedField('request_id', plain<string | null>()),
  details: storedField('details', json<Readonly<Record<string, unknown>>>()),
} as const;

/** A sign-in to an account, or one that was refused. */
export type RecordedSignIn = Values<typeof SIGN_IN>;

/** The newest sign-in to an account that succeeded, or that failed. */
export const newestSignIn = one(
  (db, p: { accountId: string; type: 'sign_in.succeeded' | 'sign_in.failed' }) =>
    db
      .selectFrom('audit_event')
      .select(columnsOf(SIGN_IN))
      .where('account_id', '=', p.accountId)
      .where('type', 'not in', NOT_INDEXED.map(constant))
      .where('type', '=', p.type)
      .orderBy(negated('id'))
      .limit(1),
  decoder(SIGN_IN),
);
