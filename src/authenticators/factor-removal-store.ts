import type { Work } from '../platform/database/database.ts';
import { command } from '../platform/database/statement.ts';
import { removeIdentitiesSince } from '../upstreams/identity-store.ts';
import { type SettledFactors, type SettledPasskeys, settleFactors, settlePasskeys } from './earlier-factors.ts';
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
export interface FactorsUndone extends SettledFactors, SettledPasskeys {
  /** How many identities at other providers were disconnected. */
  readonly identities: number;
}

/**
 * Removes the factors beside the password that were added at an instant or later, with trusted browsers and sign-ins that wait for a second
 * factor, except for the one that was shown. What was renewed since is settled: see `rules/taking-back.ts`.
 * The caller holds the account's lock.
 * @param at the time of the account
 */
export function* removeFactorsSince(accountId: string, back: TakingBack, at: number): Work<FactorsUndone> {
  const { since } = back.span;
  const settled = yield* settleFactors(accountId, back, at);
  const identities = (yield* removeIdentitiesSince({ accountId, since })).length;
  yield* removeSetting({ accountId, since });
  yield* removeTrusted({ accountId });
  yield* removePending({ accountId });
  return { ...settled, ...(yield* settlePasskeys(accountId, back, at)), identities };
}
