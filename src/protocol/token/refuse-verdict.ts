import { invalidToken, OAuthError, type RefusalDetail } from '../../platform/oauth-error.ts';
import { MESSAGES, type Verdict } from '../../verdict/rules.ts';

export type RefusedVerdict = Exclude<Verdict, { kind: 'live' }>;

/** What a trace says of an account or a consent that ended a credential. */
export const DETAILS_OF_ENDED: Readonly<Record<keyof typeof MESSAGES, RefusalDetail>> = {
  banned: {
    expected: 'an account that is not banned',
    received: 'a credential of a banned account',
    remedy: 'Nothing for the app to do. The operator lifts a ban with: tessera user unban USER',
  },
  suspended: {
    expected: 'an account that is not suspended',
    received: 'a credential of a suspended account',
    remedy: 'Nothing for the app to do. The operator lifts a suspension with: tessera user reinstate USER',
  },
  revoked: {
    expected: 'a consent that stands',
    received: 'a credential from a consent that the user, or an operator, revoked',
    remedy: 'Delete the tokens. The user can give access again: send them through authorization.',
  },
};

/** Where the sign-in that a credential came from has ended. */
export const detailOfInvalid = (reason: string): RefusalDetail => ({
  expected: 'an account, a client and a sign-in that are as they were when it was issued',
  received: reason,
  remedy: 'Send the user through authorization again. The audit trail says what ended it: tessera events --user USER',
});

const forbidden = (kind: keyof typeof MESSAGES): OAuthError =>
  new OAuthError(403, 'access_denied', MESSAGES[kind], {}, kind, DETAILS_OF_ENDED[kind]);

/** Why a credential ended may be known to the operator, and not to the app: it says something about the account. */
const ENDED =
  'The access token is no longer valid: the sign-in that it came from has ended. Send the user through authorization again.';

/** The error of a resource that refuses an access token: UserInfo. */
export function refuseToken(verdict: RefusedVerdict): OAuthError {
  if (verdict.kind !== 'invalid') return forbidden(verdict.kind);
  return invalidToken(ENDED, verdict.reason).withDetail(detailOfInvalid(verdict.reason));
}
