import type { Kysely } from 'kysely';
import type { Work } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import { command, decoder, json, many, plain, storedField } from '../platform/database/statement.ts';

// Codes and token families by the sign-in that they were issued in: in one session there may have been several.

/** A sign-in, as sessions, codes and token families remember it. */
export interface PastSignIn {
  readonly sid: string;
  readonly authTime: number;
  readonly amr: readonly string[];
}

const toSignIn: (row: object) => PastSignIn = decoder({
  sid: storedField('sid', plain<string>()),
  authTime: storedField('auth_time', plain<number>()),
  amr: storedField('amr', json<readonly string[]>()),
});

const grantsOf = (db: Kysely<Tables>, accountId: string) =>
  db.selectFrom('consent_grant').select('id').where('account_id', '=', accountId);

/** The sign-ins of an account in which codes were issued that are not redeemed. */
export const signInsOfCodes = many(
  (db, p: { accountId: string }) =>
    db
      .selectFrom('authorization_code')
      .select(['sid', 'auth_time', 'amr'])
      .distinct()
      .where('grant_id', 'in', grantsOf(db, p.accountId))
      .where('redeemed_at', 'is', null),
  toSignIn,
);

/** The sign-ins of an account in which token families began that live. */
export const signInsOfFamilies = many(
  (db, p: { accountId: string }) =>
    db
      .selectFrom('token_family')
      .select(['sid', 'auth_time', 'amr'])
      .distinct()
      .where('grant_id', 'in', grantsOf(db, p.accountId))
      .where('dead_at', 'is', null),
  toSignIn,
);

interface StoredSignIn {
  readonly accountId: string;
  readonly sid: string;
  readonly authTime: number;
  /** As it is stored. */
  readonly amr: string;
}

const stored = (accountId: string, { sid, authTime, amr }: PastSignIn): StoredSignIn => ({
  ...{ accountId, sid, authTime, amr: JSON.stringify(amr) },
});

const dropCodes = command((db, p: StoredSignIn) =>
  db
    .deleteFrom('authorization_code')
    .where('grant_id', 'in', grantsOf(db, p.accountId))
    .where('sid', '=', p.sid)
    .where('auth_time', '=', p.authTime)
    .where('amr', '=', p.amr)
    .where('redeemed_at', 'is', null),
);

/** Deletes the codes of a sign-in that were not redeemed; waits for a redemption that is under way. */
export const dropCodesOfSignIn = (accountId: string, signIn: PastSignIn): Work<void> =>
  dropCodes(stored(accountId, signIn));

const revokeFamilies = command((db, p: StoredSignIn & { readonly now: number }) =>
  db
    .updateTable('token_family')
    .set({ dead_at: p.now, dead_reason: 'session ended' })
    .where('grant_id', 'in', grantsOf(db, p.accountId))
    .where('sid', '=', p.sid)
    .where('auth_time', '=', p.authTime)
    .where('amr', '=', p.amr)
    .where('dead_at', 'is', null),
);

/** Revokes every family of a sign-in. */
export const revokeFamiliesOfSignIn = (accountId: string, signIn: PastSignIn, now: number): Work<void> =>
  revokeFamilies({ ...stored(accountId, signIn), now });
