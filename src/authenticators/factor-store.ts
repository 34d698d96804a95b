import { type Kysely, sql } from 'kysely';
import type { SecondFactorSetting } from '../accounts/second-factor-setting.ts';
import type { Account } from '../accounts/store.ts';
import { isSecondFactorRequired } from '../organizations/requirement.ts';
import { constant } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import { positionsOf } from '../platform/database/positions.ts';
import type { Tables } from '../platform/database/schema.ts';
import { many } from '../platform/database/statement.ts';
import { rememberRecoveryCodes, rememberTotp } from './earlier-factors.ts';
import { countRecoveryCodes, removeRecoveryCodes } from './recovery-code-store.ts';
import { requiresRecoveryCode } from './recovery-setting-store.ts';
import type { Factor } from './rules/factors.ts';
import { removeTotpSeed } from './totp-store.ts';

/** A factor beside the password. */
export interface NamedFactor {
  readonly kind: 'totp' | 'passkey';
  /** The ID of a passkey, and the name that the person gave it; null for an authenticator app, of which there is one. */
  readonly id: string | null;
  readonly name: string | null;
  readonly createdAt: number;
}

interface FactorRow {
  readonly kind: NamedFactor['kind'];
  readonly id: string | null;
  readonly name: string | null;
  readonly since: number | null;
}

const passkeysOf = (db: Kysely<Tables>, p: { accountId: string }) =>
  db
    .selectFrom('passkey')
    .select([constant('passkey').as('kind'), 'id', 'name', 'created_at as since'])
    .where('account_id', '=', p.accountId)
    .$castTo<FactorRow>();

const totpOf = (db: Kysely<Tables>, p: { accountId: string }) =>
  db
    .selectFrom('totp_secret')
    .select([constant('totp').as('kind'), sql`null`.as('id'), sql`null`.as('name'), 'confirmed_at as since'])
    .where('account_id', '=', p.accountId)
    .where('confirmed_at', 'is not', null)
    .$castTo<FactorRow>();

/** The authenticator app of a person, and their passkeys. */
export const namedFactorsOf = (db: Kysely<Tables>, p: { accountId: string }) =>
  passkeysOf(db, p).unionAll(totpOf(db, p));

/** The same, the oldest first. */
export const listNamedFactors = many(
  (db, p: { accountId: string }) => namedFactorsOf(db, p).orderBy('kind', 'desc').orderBy('since').orderBy('id'),
  ({ kind, id, name, since }): NamedFactor => ({ kind, id, name, createdAt: since ?? 0 }),
);

/** What a person has set up to prove who they are. */
export function* listFactors({ id: accountId, passwordHash }: Pick<Account, 'id' | 'passwordHash'>): Work<Factor[]> {
  const password: Factor[] = passwordHash === null ? [] : [{ kind: 'password', createdAt: 0 }];
  const named = yield* listNamedFactors({ accountId });
  return [...password, ...named.map(({ kind, createdAt }) => ({ kind, createdAt }))];
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

/**
 * Whether recovery codes stand in for nothing where a person has these factors: no app or passkey is set up, and a recovery by mail does not
 * ask for them.
 */
function* areCodesUseless(
  setting: SecondFactorSetting,
  { id }: Pick<Account, 'id'>,
  factors: readonly Factor[],
): Work<boolean> {
  if (factors.some(({ kind }) => kind !== 'password') || (yield* requiresRecoveryCode(id))) return false;
  return !(yield* isSecondFactorRequired(setting, { id }));
}

/** Whether a person loses the recovery codes that they have when these factors alone are left. */
export function* endsRecoveryCodes(
  setting: SecondFactorSetting,
  account: Pick<Account, 'id'>,
  left: readonly Factor[],
): Work<boolean> {
  const codes = yield* countRecoveryCodes({ accountId: account.id });
  return (codes?.left ?? 0) > 0 && (yield* areCodesUseless(setting, account, left));
}

/** Removes recovery codes that stand in for nothing. */
export function* removeUselessCodes(
  setting: SecondFactorSetting,
  { id: accountId, updatedAt }: Pick<Account, 'id' | 'updatedAt'>,
): Work<void> {
  const factors = yield* listFactors({ id: accountId, passwordHash: null });
  if (!(yield* areCodesUseless(setting, { id: accountId }, factors))) return;
  yield* rememberRecoveryCodes(accountId, updatedAt);
  yield* removeRecoveryCodes({ accountId });
}
