import { changeAccount } from '../accounts/accounts.ts';
import type { Account } from '../accounts/store.ts';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import { addressSharers, type Origin } from '../platform/http/origin.ts';
import { conflict } from '../platform/oauth-error.ts';
import { type NewSession, newSession } from './sessions.ts';
import { confirmPassword, type SignInParts } from './sign-in.ts';
import { insertSession, removeSession, type Session } from './store.ts';
import { whileSignedIn } from './while-signed-in.ts';

/** What a person sent to change the password, and the session in which they did. */
export interface PasswordChange {
  readonly account: Account;
  readonly session: Session;
  readonly browserHash: string;
  /** Both exactly as typed. */
  readonly current: string;
  readonly password: string;
  readonly origin: Origin;
}

export type PasswordChangeOutcome =
  | { readonly kind: 'changed'; readonly account: Account; readonly created: NewSession }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'limited'; readonly seconds: number };

/**
 * Changes the password of a person who knows the current one: every session, code and token from before ends, and this browser
 * goes on in a new session, all in one commit. What was checked before the hashes is checked again in that commit: the session,
 * the account's generation, and that the current password is still the one that was confirmed.
 * @throws {SessionEnded} where the session ended meanwhile
 * @throws {OAuthError} `conflict` where the stored password was replaced meanwhile
 */
export async function changePassword(parts: SignInParts, change: PasswordChange): Promise<PasswordChangeOutcome> {
  const { account, session, browserHash, current, password, origin } = change;
  const check = await confirmPassword(parts, account, { password: current, browserHash, origin });
  if (check === 'wrong') return { kind: 'wrong' };
  if (check !== 'right') return { kind: 'limited', seconds: check.seconds };

  const hash = await parts.passwords.hash(password, [...addressSharers(origin), `account ${account.id}`]);
  const begun = newSession(account, parts.clock(), session);
  const changed = await changeAccount(
    { ...parts, database: whileSignedIn(parts, session) },
    account.id,
    { type: 'account.password_changed', origin, details: { fields: ['password'] } },
    (locked) => {
      if (locked.passwordHash !== account.passwordHash) {
        throw conflict('The password was replaced meanwhile. Nothing was changed. Open the page again.');
      }
      return { ...locked, passwordHash: hash, generation: randomIdentifier() };
    },
    function* goOn({ generation }) {
      yield* removeSession(session.hash);
      yield* insertSession({ ...begun.session, generation });
    },
  );
  const created = { secret: begun.secret, session: { ...begun.session, generation: changed.generation } };
  return { kind: 'changed', account: changed, created };
}
