import type { RefusalDetail } from '../../../platform/oauth-error.ts';
import type { Column, RefusalRow } from '../../refusals/row.ts';
import { columnOf } from '../../refusals/row.ts';
import type { TokenFault } from '../misuse.ts';
import { DETAILS_OF_ENDED, detailOfInvalid, type EndedFamily, type RefusedVerdict } from '../refuse-verdict.ts';

/** Why a token is not active. The response says nothing else (RFC 7662 §2.2), so there is a column for the operator only. */
type InactiveRow<Facts> = Pick<RefusalRow<Facts, never>, 'when' | 'example'> & {
  readonly operator: { readonly reason: Column<Facts, string>; readonly trace: Column<Facts, RefusalDetail> };
};

const row = <Facts = unknown>(inactive: InactiveRow<Facts>): InactiveRow<Facts> => inactive;

interface OtherAudience {
  readonly audience: readonly string[];
  /** The resource that the API is registered as. */
  readonly resource: string | null;
  readonly clientId: string;
}

const FORM = { rule: 'RFC 7662 §2.2', expected: 'an access token of this service' };

const barred = (kind: keyof typeof DETAILS_OF_ENDED, when: string) =>
  row({ when, operator: { reason: kind, trace: DETAILS_OF_ENDED[kind] } });

export const INACTIVE_TOKENS = {
  'not a valid token': row<{ readonly fault: Pick<TokenFault, 'reason' | 'description'> }>({
    when: 'The text is no token of this service, such as an ID token, or has expired.',
    operator: {
      reason: ({ fault }) => fault.reason,
      trace: ({ fault }) => ({ ...FORM, received: fault.reason, remedy: `It ${fault.description}` }),
    },
    example: { fault: { reason: 'expired', description: 'expired at 2026-01-08T09:00:00Z.' } },
  }),
  'token for another audience': row<OtherAudience>({
    when: 'The access token is for another resource, or the client is registered for none.',
    operator: {
      reason: 'for another audience',
      trace: ({ audience, resource, clientId }) => ({
        rule: 'RFC 8707 §3',
        expected: resource === null ? 'an API that is registered with a resource' : `an access token for ${resource}`,
        received: `an access token for ${audience.join(', ')}`,
        remedy:
          resource === null
            ? `Register the resource of this API: tessera client update ${clientId} --resource URI. Then have the app send resource=URI in its authorization request.`
            : `Have the app send resource=${resource} in its authorization request.`,
      }),
    },
    example: { audience: ['https://id.example.com/oidc/userinfo'], resource: null, clientId: 'CLIENT_ID' },
  }),
  'for an earlier registration': row({
    when: 'The access token is for the resource, from when another client was registered with it.',
    operator: {
      reason: 'for an earlier registration of the resource',
      trace: {
        rule: 'RFC 8707 §3',
        expected: 'an access token that was issued since this API is registered with its resource',
        received: 'one from an earlier registration of that resource',
        remedy: 'Send the user through authorization again.',
      },
    },
  }),
  'refresh token of another client': row({
    when: 'The refresh token was issued to another client.',
    operator: {
      reason: 'a refresh token of another client',
      trace: {
        ...FORM,
        received: 'a refresh token of another client',
        remedy: 'Have the app send its access token to the API, and keep the refresh token to itself.',
      },
    },
  }),
  'token not on record': row({
    when: 'The account, the app or the sign-in of the token does not exist any more.',
    operator: { reason: 'not on record', trace: detailOfInvalid('not on record') },
  }),
  'account banned': barred('banned', 'The account is banned.'),
  'account suspended': barred('suspended', 'The account is suspended.'),
  'access revoked': barred('revoked', 'The user, or an operator, revoked the access of the app.'),
  'sign-in ended': row<{ readonly reason: string; readonly ended?: EndedFamily }>({
    when: 'The sign-in that the token came from has ended, or its app is disabled.',
    operator: { reason: ({ reason }) => reason, trace: ({ reason, ended }) => detailOfInvalid(reason, ended) },
    example: { reason: 'the sign-in of this token has ended' },
  }),
  'no scope left': row({
    when: 'The user has withdrawn every scope of the token, or the client is no longer registered for any.',
    operator: {
      reason: 'no scope is left',
      trace: {
        rule: 'RFC 7662 §2.2',
        expected: 'a token with a scope that is still granted',
        received: 'a token of which every scope was withdrawn',
        remedy: 'Send the user through authorization again.',
      },
    },
  }),
  'refresh token used before': row({
    when: 'The refresh token was exchanged before.',
    operator: {
      reason: 'refresh token used before',
      trace: {
        rule: 'RFC 9700 §4.14.2',
        expected: 'the newest refresh token of the sign-in',
        received: 'one that was exchanged for its successor before',
        remedy:
          'Store each new refresh token. Presented again at the token endpoint, this one revokes all tokens of the sign-in.',
      },
    },
  }),
};

type InactiveName = keyof typeof INACTIVE_TOKENS;
type FactsOfInactive<Name extends InactiveName> =
  (typeof INACTIVE_TOKENS)[Name] extends InactiveRow<infer Facts> ? Facts : never;

/** Why a token is not active, for the log and the trace. */
export interface InactiveToken {
  readonly reason: string;
  readonly detail: RefusalDetail;
}

export function inactiveToken<Name extends InactiveName>(
  name: Name,
  ...[facts]: unknown extends FactsOfInactive<Name> ? [] : [facts: FactsOfInactive<Name>]
): InactiveToken {
  const { operator } = INACTIVE_TOKENS[name] as InactiveRow<unknown>;
  return { reason: columnOf(operator.reason, facts), detail: columnOf(operator.trace, facts) };
}

const BARRED = { banned: 'account banned', suspended: 'account suspended', revoked: 'access revoked' } as const;

/**
 * The row for a verdict.
 * @param ended what ended the token family of a person
 */
export const inactiveByVerdict = (verdict: RefusedVerdict, ended?: EndedFamily): InactiveToken =>
  verdict.kind === 'invalid'
    ? inactiveToken('sign-in ended', { reason: verdict.reason, ...(ended && { ended }) })
    : inactiveToken(BARRED[verdict.kind]);
