import type { StepFacts } from '../step.ts';

/** The reason of a verdict on a credential whose token family was ended. */
export const FAMILY_ENDED = 'the sign-in of this token has ended';

const AGAIN = 'Send the user through authorization again.';

/** What ended a family, by the reason on its record: what came, and what to do. */
const ENDINGS = {
  'token revoked': {
    received: 'a token of a sign-in that the app itself revoked: it called the revocation endpoint (RFC 7009)',
    remedy: `Delete the stored tokens when the app revokes one: it revokes all tokens of the sign-in. ${AGAIN}`,
  },
  'code replayed': {
    received: 'a token of a sign-in that was ended because its code was sent twice',
    remedy: `Exchange each code once: look for a callback that runs twice. ${AGAIN}`,
  },
  'refresh token reused': {
    received: 'a token of a sign-in that was ended because an old refresh token was sent again',
    remedy: `Store each new refresh token before the access token is used, and run one refresh at a time. ${AGAIN}`,
  },
  'session ended': {
    received: 'a token of a session that was ended: the user signed out, or was signed out',
    remedy: AGAIN,
  },
  'resource withdrawn': {
    received: 'a token for an API whose access was withdrawn',
    remedy: AGAIN,
  },
  'access lost': {
    received: 'a token of a user who lost access to the app',
    remedy: 'Give access again, then send the user through authorization: tessera client assign CLIENT_ID --user USER',
  },
  'no second factor': {
    received: 'a token of a sign-in without the second factor that is required now',
    remedy: AGAIN,
  },
} satisfies Readonly<Record<string, Required<Pick<StepFacts, 'received' | 'remedy'>>>>;

export type FamilyEnding = keyof typeof ENDINGS;

const isEnding = (reason: string): reason is FamilyEnding => Object.hasOwn(ENDINGS, reason);

/**
 * What a trace says of a credential whose token family was ended.
 * @param reason what ended it, as it is on record
 * @param ended.at when, in ISO 8601
 * @param ended.requestId the request that did, if it is known
 * @returns undefined where the reason says nothing
 */
export function explainEnding(
  reason: string | null,
  { at, requestId = null }: { readonly at: string; readonly requestId?: string | null },
): { readonly received: string; readonly remedy: string } | undefined {
  if (reason === null || !isEnding(reason)) return undefined;
  const { received, remedy } = ENDINGS[reason];
  const request = requestId === null ? '' : `, with the request ${requestId}`;
  return { received: `${received}, at ${at}${request}`, remedy };
}
