import { iso } from '../../platform/clock.ts';
import { invalidToken, OAuthError, type RefusalDetail } from '../../platform/oauth-error.ts';
import { explainEnding, FAMILY_ENDED } from '../../traces/rules/ended-family.ts';
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

const SIGN_IN_AGAIN = 'Send the user through authorization again.';

/** What came and what to do where a credential ended with its account, app or session, by the reason of the verdict. */
const ENDED_WITH: Readonly<Record<string, { readonly received: string; readonly remedy: string }>> = {
  'the account no longer exists': {
    received: 'a credential of an account that was deleted',
    remedy: 'Delete the tokens: the account was deleted.',
  },
  'the client no longer exists': {
    received: 'a credential of an app that was deleted',
    remedy: 'Delete the tokens: the app was deleted, and has to be registered again.',
  },
  'the client is disabled': {
    received: 'a credential of an app that is disabled',
    remedy: `Enable the app: tessera client enable CLIENT_ID. ${SIGN_IN_AGAIN}`,
  },
  'the client was disabled after the sign-in': {
    received: 'a credential from before the app was disabled',
    remedy: `${SIGN_IN_AGAIN} Enabling an app does not revive the tokens from before.`,
  },
  'the account was secured after the sign-in': {
    received: 'a credential from before the account was secured',
    remedy: `${SIGN_IN_AGAIN} The password was changed, or every session was ended.`,
  },
  'the person lost access to the app after the sign-in': {
    received: 'a credential of a user who has lost access to the app',
    remedy: 'Give access again, then send the user through authorization: tessera client assign CLIENT_ID --user USER',
  },
  'the authorization has reached its end': {
    received: 'a credential of an authorization that is older than 90 days',
    remedy: `${SIGN_IN_AGAIN} An authorization lasts 90 days.`,
  },
  'not on record': {
    received: 'a credential that is not on record: its account or app was deleted, or it ended some time ago',
    remedy: SIGN_IN_AGAIN,
  },
  'the sign-in of this token has ended': {
    received:
      'a credential of a sign-in that was ended: the user signed out, the app revoked a token, or a code or refresh token was used twice',
    remedy: `${SIGN_IN_AGAIN} The audit trail says which it was, and when: tessera events --user USER`,
  },
};

/** What is on record of a token family that was ended. */
export interface EndedFamily {
  readonly deadReason: string | null;
  readonly deadAt: number | null;
}

/**
 * Where the sign-in that a credential came from has ended.
 * @param family what ended it, where it was read
 */
export const detailOfInvalid = (reason: string, family?: EndedFamily): RefusalDetail => ({
  expected: 'an account, app and session that are still active',
  ...(endingOf(reason, family) ?? ENDED_WITH[reason] ?? { received: reason, remedy: SIGN_IN_AGAIN }),
});

const endingOf = (reason: string, family: EndedFamily | undefined) =>
  reason === FAMILY_ENDED && family !== undefined && family.deadAt !== null
    ? explainEnding(family.deadReason, { at: iso(family.deadAt) })
    : undefined;

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
