import type { Work } from '../platform/database/database.ts';
import { command } from '../platform/database/statement.ts';
import { removeIdentitiesSince } from '../upstreams/identity-store.ts';
import { removePasskeys, restorePasskeys, type SettledFactors, settleFactors } from './earlier-factors.ts';
import type { TakingBack } from './rules/taking-back.ts';

interface Since {
  readonly accountId: string;
  readonly since: number;
}

const removeSetting = command((db, p: Since) =>
  db.deleteFrom('recovery_setting').where('account_id', '=', p.accountId).where('code_required_at', '>=', p.since),
);

const removeTrusted = command((db, p: { accountId: string }) =>
  db.deleteFrom('trusted_browser').where('account_id', '=', p.accountId),
);
const removePending = command((db, p: { accountId: string }) =>
  db.deleteFrom('pending_sign_in').where('account_id', '=', p.accountId),
);

/** What was removed of a person's factors, and what is there again. */
export interface FactorsUndone extends SettledFactors {
  /** How many passkeys were removed. */
  readonly passkeys: number;
  /** How many are there again. */
  readonly passkeysRestored: number;
  /** How many identities at other providers were disconnected. */
  readonly identities: number;
}

/** No passkey was set up then. */
const NONE = -1;

/**
 * Removes the factors beside the password that were added at an instant or later, with trusted browsers and sign-ins that wait for a second
 * factor, except for the one that was shown. An app or recovery codes that were renewed since are settled: see `rules/taking-back.ts`.
 * The caller holds the account's lock.
 * @param at the time of the account
 */
export function* removeFactorsSince(accountId: string, back: TakingBack, at: number): Work<FactorsUndone> {
  const { since } = back.span;
  const kept = back.shown?.method === 'passkey' ? (back.shown.factorSince ?? NONE) : NONE;
  const passkeys = yield* removePasskeys(accountId, at, ({ createdAt }) => createdAt >= since && createdAt !== kept);
  const settled = yield* settleFactors(accountId, back, at);
  const identities = (yield* removeIdentitiesSince({ accountId, since })).length;
  yield* removeSetting({ accountId, since });
  yield* removeTrusted({ accountId });
  yield* removePending({ accountId });
  const passkeysRestored = yield* restorePasskeys(accountId, back.span);
  return { ...settled, passkeys, passkeysRestored, identities };
}
