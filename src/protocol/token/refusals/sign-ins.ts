import { ENDPOINT_RULES, type EndpointRules } from '../../../claims/endpoint-set.ts';
import { MESSAGES } from '../../../verdict/rules.ts';
import { type AboutCredential, AGAIN, recorded, row } from '../../refusals/row.ts';
import { DETAILS_OF_ENDED, detailOfInvalid, type EndedFamily, type RefusedVerdict } from '../refuse-verdict.ts';

type EndedBy = AboutCredential & { readonly rules: Pick<EndpointRules, 'invalidGrantInsteadOf403'> };

const V2 = ENDPOINT_RULES.v2;

const ended = (kind: keyof typeof MESSAGES, when: string) =>
  row<EndedBy>({
    when: `${when} At \`/oidc/token\`, \`invalid_grant\` with status 400.`,
    app: {
      error: ({ rules }) => (rules.invalidGrantInsteadOf403 ? 'invalid_grant' : 'access_denied'),
      description: MESSAGES[kind],
    },
    operator: { reason: kind, trace: DETAILS_OF_ENDED[kind], ...recorded(kind) },
    example: { rules: V2 },
  });

interface SignInEnded extends AboutCredential {
  readonly verdict: RefusedVerdict;
}

const ENDED_BY_OWNER = { kind: 'invalid', reason: 'the account was secured after the sign-in' } as const;

const reasonOf = ({ verdict }: SignInEnded): string => (verdict.kind === 'invalid' ? verdict.reason : verdict.kind);

/** By the verdict on the account, the consent and the sign-in that a credential came from. */
export const SIGN_INS = {
  'account banned': ended('banned', 'The account is banned.'),
  'account suspended': ended('suspended', 'The account is suspended.'),
  'access revoked': ended('revoked', 'The user, or an operator, revoked the access of the app.'),
  // Why it ended may be known to the operator, and not to the app: it says something about the account.
  'sign-in of the code ended': row<SignInEnded>({
    when: 'The sign-in that the code came from has ended.',
    app: {
      error: 'invalid_grant',
      description: `The code was refused: the sign-in that it came from has ended. ${AGAIN}`,
    },
    operator: {
      reason: reasonOf,
      trace: (facts) => detailOfInvalid(reasonOf(facts)),
      event: 'token.refused',
      details: ({ verdict }) => ({ reason: verdict.kind }),
    },
    example: { verdict: ENDED_BY_OWNER },
  }),
  'sign-in of the refresh token ended': row<SignInEnded & { readonly familyId: string; readonly ended?: EndedFamily }>({
    when: 'The sign-in that the refresh token came from has ended.',
    app: {
      error: 'invalid_grant',
      description: `The refresh token is no longer valid: the sign-in that it came from has ended. The person signed out, for example, or the app revoked one of its tokens, which ends all of them. ${AGAIN}`,
    },
    operator: {
      reason: reasonOf,
      trace: (facts) => detailOfInvalid(reasonOf(facts), facts.ended),
      event: 'token.refused',
      details: (facts) => ({ familyId: facts.familyId, reason: reasonOf(facts) }),
    },
    example: { verdict: ENDED_BY_OWNER, familyId: '1' },
  }),
};

const ENDED = { banned: 'account banned', suspended: 'account suspended', revoked: 'access revoked' } as const;

/** The row for a verdict; for one about the sign-in, that of the kind of credential. */
export const refusalByVerdict = <Name extends keyof typeof SIGN_INS>({ kind }: RefusedVerdict, signInEnded: Name) =>
  kind === 'invalid' ? signInEnded : ENDED[kind];
