import type { AuditEvent, EventType } from '../../../audit/audit.ts';
import { ENDPOINT_RULES } from '../../../claims/endpoint-set.ts';
import type { RefusalDetail } from '../../../platform/oauth-error.ts';
import { type AboutCredential, AGAIN, type Column, columnOf, type RefusalRow } from '../../refusals/row.ts';
import { adviceOnUri, adviceOnVerifier, SEND_ANOTHER_VERIFIER } from '../rules/code-advice.ts';
import { describeUnknownCode } from '../rules/presented-form.ts';
import type { CodePresentation, IssuedCode } from '../rules/redemption.ts';

const UNKNOWN_CODE = 'the code is unknown or was used before';
const REPLAYED = 'the code was exchanged before, and the tokens from it are revoked now';
const DOUBLE_CALLBACK =
  'Look for a double callback: a reloaded or prefetched callback page, React StrictMode, a retry, or two handlers.';

const UNUSED_CODE = {
  rule: 'RFC 6749 §4.1.2',
  expected: 'a code that this service issued to this client, and that was not exchanged before',
};

interface RefusedCode extends AboutCredential {
  readonly code: IssuedCode;
  readonly presented: CodePresentation;
}

const EXAMPLE_CODE: RefusedCode = {
  code: {
    endpointSet: 'v2',
    clientId: '1',
    redirectUri: 'https://app.example.com/callback',
    codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    issuedAt: 0,
    expiresAt: 60_000,
    redeemed: false,
  },
  presented: {
    endpointSet: 'oidc',
    clientId: '1',
    redirectUri: 'https://app.example.com/callback/',
    codeVerifier: 'x'.repeat(43),
  },
};

/** What a code that was exchanged before gave. */
export interface ReplayedCode {
  /** The family that it was exchanged for. */
  readonly redeemedFor: string | null;
  /** Whether that was alive until now. */
  readonly hasEnded: boolean;
}

interface CodeTexts<Facts> {
  readonly when: string;
  readonly reason: Column<Facts, string>;
  readonly remedy: Column<Facts, string>;
  /** For the log, the trace and the audit event, where it says more than the client may know. */
  readonly cause?: string;
  readonly trace?: (facts: Facts) => RefusalDetail;
  /** What the operator can do, where that is something else than what the client is told. */
  readonly operatorRemedy?: Column<Facts, string>;
  readonly event?: EventType;
  readonly details?: (facts: Facts) => NonNullable<AuditEvent['details']>;
  readonly isEnding?: (facts: Facts) => boolean;
  readonly example?: Facts;
}

function codeRow<Facts extends AboutCredential>(texts: CodeTexts<Facts>): RefusalRow<Facts> {
  const { when, example, isEnding, event = 'token.refused' } = texts;
  const reasonOf = (facts: Facts) => columnOf(texts.reason, facts);
  const remedyOf = (facts: Facts) => columnOf(texts.remedy, facts);
  const causeOf = (facts: Facts) => texts.cause ?? reasonOf(facts);
  return {
    when,
    app: {
      error: 'invalid_grant',
      description: (facts) => `The code was refused: ${reasonOf(facts)}. ${remedyOf(facts)}`,
    },
    operator: {
      reason: causeOf,
      trace: (facts) => ({
        ...UNUSED_CODE,
        received: causeOf(facts),
        ...texts.trace?.(facts),
        remedy: columnOf(texts.operatorRemedy ?? texts.remedy, facts),
      }),
      event,
      details: texts.details ?? ((facts) => ({ reason: causeOf(facts) })),
      ...(isEnding && { isEnding }),
    },
    ...(example && { example }),
  };
}

/** Of authorization codes: the grant `authorization_code`. */
export const CODES = {
  'unknown code': codeRow<AboutCredential & { readonly text: string }>({
    when: 'The code is unknown.',
    reason: UNKNOWN_CODE,
    remedy: ({ text }) => describeUnknownCode(text),
    example: { text: 'x'.repeat(43) },
  }),
  'code of another client': codeRow<
    AboutCredential & { readonly text: string; readonly code: { readonly clientId: string } }
  >({
    when: 'The code was issued to another client. The response does not say so.',
    reason: UNKNOWN_CODE,
    remedy: ({ text }) => describeUnknownCode(text),
    cause: 'the code was issued to another client',
    operatorRemedy: ({ code }) =>
      `Have the app send the client_id of the authorization request: the code was issued to ${code.clientId}.`,
    event: 'token.foreign_client',
    example: { text: 'x'.repeat(43), code: { clientId: '1' } },
  }),
  'code of the other endpoints': codeRow<RefusedCode>({
    when: 'The code was issued by the other authorization endpoint. It stays valid there.',
    reason: ({ code }) => `it was issued at ${ENDPOINT_RULES[code.endpointSet].authorizationPath}`,
    remedy: ({ code }) => `Exchange it at ${ENDPOINT_RULES[code.endpointSet].tokenPath}.`,
    trace: ({ code, presented }) => ({
      rule: 'RFC 6749 §4.1.3',
      expected: `a code that was issued at ${ENDPOINT_RULES[presented.endpointSet].authorizationPath}`,
      received: `one that was issued at ${ENDPOINT_RULES[code.endpointSet].authorizationPath}`,
    }),
    example: EXAMPLE_CODE,
  }),
  'redirect_uri differs': codeRow<RefusedCode>({
    when: '`redirect_uri` is not that of the authorization request.',
    reason: 'redirect_uri differs from the one in the authorization request',
    remedy: ({ code, presented }) => adviceOnUri(code.redirectUri, presented.redirectUri),
    trace: ({ code, presented }) => ({
      rule: 'RFC 6749 §4.1.3',
      expected: code.redirectUri,
      received: presented.redirectUri,
    }),
    example: EXAMPLE_CODE,
  }),
  'public client without PKCE': codeRow<RefusedCode>({
    when: 'A public client sent no `code_challenge` in the authorization request.',
    reason: 'a public client must use PKCE',
    remedy: 'Send code_challenge in the authorization request.',
    trace: () => ({ rule: 'RFC 7636 §4.3', expected: 'code_challenge in the authorization request' }),
    example: EXAMPLE_CODE,
  }),
  'unexpected verifier': codeRow<RefusedCode>({
    when: '`code_verifier` was sent, and there was no `code_challenge`.',
    reason: 'code_verifier was sent, but the request had no code_challenge',
    remedy: 'Send code_challenge and code_challenge_method=S256 in the authorization request, or no code_verifier.',
    trace: () => ({
      rule: 'RFC 7636 §4.3',
      expected: 'no code_verifier, or code_challenge in the authorization request',
    }),
    example: EXAMPLE_CODE,
  }),
  'verifier missing': codeRow<RefusedCode>({
    when: '`code_verifier` is missing.',
    reason: 'code_verifier is missing',
    remedy: 'Send the verifier that you used to create code_challenge.',
    trace: () => ({
      rule: 'RFC 7636 §4.5',
      expected: 'code_verifier, because the authorization request had code_challenge',
    }),
    example: EXAMPLE_CODE,
  }),
  'malformed verifier': codeRow<RefusedCode>({
    when: '`code_verifier` does not have the form of RFC 7636 §4.1.',
    reason: 'code_verifier must be 43 to 128 unreserved characters',
    remedy: SEND_ANOTHER_VERIFIER,
    trace: () => ({ rule: 'RFC 7636 §4.1', expected: 'a code_verifier of 43 to 128 unreserved characters' }),
    example: EXAMPLE_CODE,
  }),
  'wrong verifier': codeRow<RefusedCode>({
    when: '`code_verifier` does not match `code_challenge`.',
    reason: 'code_verifier does not match code_challenge',
    remedy: ({ code, presented }) => adviceOnVerifier(presented.codeVerifier ?? '', code.codeChallenge),
    trace: () => ({ rule: 'RFC 7636 §4.6', expected: 'the verifier that was used to create code_challenge' }),
    example: EXAMPLE_CODE,
  }),
  'expired code': codeRow<RefusedCode>({
    when: 'The code is older than 60 seconds.',
    reason: 'the code has expired',
    remedy: 'It is valid for 60 seconds: exchange it as soon as the callback is called.',
    trace: () => ({ expected: 'a code that is at most 60 seconds old', received: 'one that is older' }),
    example: EXAMPLE_CODE,
  }),
  'code used before': codeRow<AboutCredential & ReplayedCode>({
    when: 'The code was exchanged before. All tokens from it are revoked.',
    reason: REPLAYED,
    remedy: DOUBLE_CALLBACK,
    trace: () => ({ expected: 'a code that was not exchanged before' }),
    cause: 'code replayed',
    event: 'token.code_replayed',
    details: ({ redeemedFor }) => ({ familyId: redeemedFor }),
    isEnding: ({ hasEnded }) => hasEnded,
    example: { redeemedFor: null, hasEnded: false },
  }),
  'all scopes of the code withdrawn': codeRow({
    when: 'The user has withdrawn every scope since, or the client is no longer registered for any.',
    reason: 'the user has withdrawn every scope that it was issued for',
    remedy: AGAIN,
    example: {},
  }),
  'signing key of the code dropped': codeRow({
    when: 'The keys of the server were replaced in that moment.',
    reason: 'the signing key was dropped',
    remedy: AGAIN,
    example: {},
  }),
};
