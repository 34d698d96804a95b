import type { Account } from '../accounts/store.ts';
import { isSecondFactorRequired } from '../organizations/requirement.ts';
import type { SecondFactorSetting } from '../platform/config/second-factor.ts';
import type { Work } from '../platform/database/database.ts';
import { positionsOf } from '../platform/database/positions.ts';
import { many } from '../platform/database/statement.ts';
import { rememberRecoveryCodes, rememberTotp } from './earlier-factors.ts';
import { removeRecoveryCodes } from './recovery-code-store.ts';
import { requiresRecoveryCode } from './recovery-setting-store.ts';
import type { Factor } from './rules/factors.ts';
import { removeTotpSeed } from './totp-store.ts';

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

const accounts = positionsOf(50, '0');
type Accounts = Readonly<Record<string, string>>;

const withPasskeyAmong = many(
  (db, p: Accounts) => db.selectFrom('passkey').select('account_id').where('account_id', 'in', accounts.list(p)),
  (row) => row.account_id,
);
const withTotpAmong = many(
  (db, p: Accounts) =>
    db
      .selectFrom('totp_secret')
      .select('account_id')
      .where('account_id', 'in', accounts.list(p))
      .where('confirmed_at', 'is not', null),
  (row) => row.account_id,
);

/** Those of some accounts that have a factor beside a password. */
export function* withFactorAmong(accountIds: readonly string[]): Work<readonly string[]> {
  const found: string[] = [];
  for (const chunk of accounts.chunks(accountIds)) {
    found.push(...(yield* withPasskeyAmong(chunk)), ...(yield* withTotpAmong(chunk)));
  }
  return found;
}

/**
 * Removes an authenticator app, and the recovery codes that are of no more use.
 * @returns whether there was one
 */
export function* removeTotp(setting: SecondFactorSetting, account: Account): Work<boolean> {
  const { id: accountId, updatedAt } = account;
  yield* rememberTotp(accountId, updatedAt);
  const removed = yield* removeTotpSeed({ accountId });
  yield* removeUselessCodes(setting, account);
  return removed;
}

/** Removes recovery codes that stand in for nothing: no app or passkey is set up, and a recovery by mail does not ask for them. */
export function* removeUselessCodes(
  setting: SecondFactorSetting,
  { id: accountId, updatedAt }: Pick<Account, 'id' | 'updatedAt'>,
): Work<void> {
  const factors = yield* listFactors({ id: accountId, passwordHash: null });
  if (factors.length > 0 || (yield* requiresRecoveryCode(accountId))) return;
  if (yield* isSecondFactorRequired(setting, { id: accountId })) return;
  yield* rememberRecoveryCodes(accountId, updatedAt);
  yield* removeRecoveryCodes({ accountId });
}
