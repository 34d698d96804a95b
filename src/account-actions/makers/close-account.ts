import { recordDoubtedAddress } from '../../accounts/act-store.ts';
import { changeProfile } from '../../accounts/rules/profile.ts';
import type { Account } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { removeFactorsSince } from '../../authenticators/factor-removal-store.ts';
import { untilNow } from '../../authenticators/rules/taking-back.ts';
import { endChallengesButReports } from '../../mail/challenges.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { removeIdentitiesSince } from '../../upstreams/identity-store.ts';
import { leaveUnconnectedGroups } from '../access/sourced-groups.ts';
import { saveChange } from '../accounts/accounts.ts';
import { revokeAccessSince } from '../connections/connections.ts';
import { accountTime } from '../notices/account-time.ts';

/** Why an account is closed. */
interface Closing {
  /** Since when somebody may have got in by what another operator gave. */
  readonly since: number;
  /** Who gave the address; undefined where it is that of before. */
  readonly doubtedOf: string | undefined;
  /** What the event says, beside the fields. */
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * Closes an account to an operator who could get in, inside a unit of work that holds its lock: every session ends, and the password, and what
 * was added since, with the access of apps. An address of theirs recovers nothing until it is proved, or another operator gives it. Reports
 * that nobody answered go on, and so do the rights to undo changes of the address.
 */
export function* closeAccount(
  account: Account,
  { since, doubtedOf, details }: Closing,
  origin: Origin,
  now: number,
): Work<Account> {
  const { id: accountId } = account;
  const at = yield* accountTime(account, now);
  const ended = {
    ...{ passwordHash: null, generation: randomIdentifier() },
    ...(doubtedOf !== undefined && { profile: changeProfile(account.profile, { emailVerified: false }, now) }),
  };
  const closed = yield* saveChange(account, ended, at, now);
  if (doubtedOf !== undefined) yield* recordDoubtedAddress(account, doubtedOf, at);
  yield* removeFactorsSince(accountId, { span: untilNow(since) }, at);
  yield* removeIdentitiesSince({ accountId, since });
  yield* leaveUnconnectedGroups(accountId, origin, now);
  yield* revokeAccessSince({ accountId, since }, origin, now);
  yield* endChallengesButReports(account, closed.generation);
  const fields = ['password', ...(doubtedOf === undefined ? [] : ['emailVerified'])];
  yield* record({ at: now, type: 'account.updated', origin, accountId, details: { fields, ...details } });
  return closed;
}
