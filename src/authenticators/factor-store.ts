import type { Account } from '../accounts/store.ts';
import type { Work } from '../platform/database/database.ts';
import { many } from '../platform/database/statement.ts';
import type { Factor } from './rules/factors.ts';

const findPasskeys = many(
  (db, p: { accountId: string }) => db.selectFrom('passkey').select('created_at').where('account_id', '=', p.accountId),
  (row): Factor => ({ kind: 'passkey', createdAt: row.created_at }),
);

const findTotp = many(
  (db, p: { accountId: string }) =>
    db
      .selectFrom('totp_secret')
      .select('confirmed_at')
      .where('account_id', '=', p.accountId)
      .where('confirmed_at', 'is not', null),
  (row): Factor => ({ kind: 'totp', createdAt: row.confirmed_at ?? 0 }),
);

/** What a person has set up to prove who they are. */
export function* listFactors({ id: accountId, passwordHash }: Pick<Account, 'id' | 'passwordHash'>): Work<Factor[]> {
  const password: Factor[] = passwordHash === null ? [] : [{ kind: 'password', createdAt: 0 }];
  return [...password, ...(yield* findTotp({ accountId })), ...(yield* findPasskeys({ accountId }))];
}
