import { givenAddresses, givenPasswords } from '../../accounts/act-store.ts';
import type { PreviousAddress } from '../../accounts/previous-address-store.ts';
import { emailKey } from '../../accounts/rules/profile.ts';
import type { Account } from '../../accounts/store.ts';
import { removePasskeys } from '../../authenticators/earlier-factors.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import type { Session } from '../../sessions/store.ts';
import { removeIdentitiesBeside } from '../../upstreams/identity-store.ts';
import { leaveUnconnectedGroups } from '../access/sourced-groups.ts';
import { usernameAt } from '../accounts/usernames.ts';

/**
 * What an account has with a proved address. A password that the session does not prove goes where the address was not verified, or where
 * it was set since the address that the account goes back to was given up.
 */
export function* valuesWith(
  account: Account,
  session: Session,
  email: string,
  right: PreviousAddress | undefined,
  now: number,
): Work<Partial<Pick<Account, 'profile' | 'passwordHash'>>> {
  const { profile: before, passwordSetAt } = account;
  const isSame = emailKey(before.email) === emailKey(email);
  const username = right && (yield* usernameAt(account, right.factorsSince, now));
  const isProved = before.emailVerified || session.amr.includes('pwd');
  const isOfSince = right !== undefined && (passwordSetAt ?? 0) >= right.factorsSince;
  const profile = {
    ...before,
    ...(!isSame && { email }),
    ...(username !== undefined && { username }),
    emailVerified: true,
  };
  return { profile, ...((!isProved || isOfSince) && { passwordHash: null }) };
}

/**
 * Ends what an earlier holder of an account whose address was not verified may have added: a passkey, and identities at other providers.
 * An authenticator app is asked for at every sign-in.
 */
export function* endUnproved({ id, updatedAt }: Account, session: Session, origin: Origin, now: number): Work<void> {
  if (!session.amr.includes('pop')) yield* removePasskeys(id, updatedAt);
  yield* removeIdentitiesBeside({ accountId: id, sid: session.sid });
  yield* leaveUnconnectedGroups(id, origin, now);
}

/**
 * Whether an address is that of the person, and not of an operator who got into the account by what they gave to it: the session began with
 * a password that rests on nothing of an operator's, or with a factor from before.
 */
export function* isProvedByPerson(account: Account, { provedBy, provedFactorSince }: Session): Work<boolean> {
  const passwords = yield* givenPasswords(account);
  const given = [...passwords, ...(yield* givenAddresses(account.id))];
  if (given.length === 0) return false;
  if (provedBy === 'password') return passwords.length === 0;
  const first = Math.min(...given.map(({ givenAt }) => givenAt));
  return provedFactorSince !== null && provedFactorSince < first;
}
