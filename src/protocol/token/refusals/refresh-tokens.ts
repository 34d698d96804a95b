import { ENDPOINT_RULES, type EndpointRules, type EndpointSet } from '../../../claims/endpoint-set.ts';
import { SCOPES } from '../../../claims/permissions.ts';
import { describeMalformedScope, describeUnknownScope, scopeAdviceLine } from '../../../claims/rules/scope-advice.ts';
import { type AboutCredential, AGAIN, recorded, row, sentence } from '../../refusals/row.ts';
import type { TokenFault } from '../misuse.ts';
import { detailOfInvalid } from '../refuse-verdict.ts';

const NOT_VALID = `The refresh token is no longer valid. ${AGAIN}`;
/** The holder of the token can read in it to which client it was issued. */
const OF_ANOTHER =
  'The refresh token was issued to another client. Send the client_id that it was issued to, and keep the tokens of two apps apart.';
const STORE_EACH = `Store each new refresh token, run one refresh at a time, and repeat a failed refresh within 30 seconds only. ${AGAIN}`;
const REUSED = `The refresh token was used before, so all tokens of its sign-in are revoked now. ${STORE_EACH}`;

interface OfOtherEndpoints extends AboutCredential {
  readonly issuedBy: EndpointSet;
  readonly rules: Pick<EndpointRules, 'tokenPath'>;
}

interface WiderScope extends AboutCredential {
  readonly requestedScope: string;
  readonly scopes: readonly string[];
}

function describeWiderScope({ scopes }: WiderScope): string {
  const unknown = scopes.find((name) => !SCOPES.includes(name));
  return unknown === undefined
    ? 'scope goes beyond what was granted: leave it out, or ask for less. For more, send the user through authorization.'
    : `${scopeAdviceLine(describeUnknownScope(unknown, SCOPES))}.`;
}

/** Of refresh tokens: the grant `refresh_token`. */
export const REFRESH_TOKENS = {
  'malformed scope': row<AboutCredential & { readonly requestedScope: string }>({
    when: '`scope` is malformed.',
    app: {
      error: 'invalid_scope',
      description: ({ requestedScope }) => `${scopeAdviceLine(describeMalformedScope(requestedScope))}.`,
    },
    operator: {},
    example: { requestedScope: 'openid,email' },
  }),
  'not a refresh token': row<AboutCredential & { readonly fault: TokenFault }>({
    when: 'The text is not a refresh token of this server, or has expired. The description says which.',
    app: {
      error: 'invalid_grant',
      description: ({ fault }) => `The refresh token is not accepted: it ${fault.description}`,
    },
    operator: {
      reason: ({ fault }) => fault.reason,
      trace: ({ fault }) => ({
        rule: 'RFC 6749 §6',
        expected: 'a refresh token of this client that is still valid',
        received: fault.reason,
        remedy: `It ${fault.description}`,
      }),
      event: ({ fault }) => fault.misuse?.type ?? 'token.refused',
      details: ({ fault }) => fault.misuse?.details ?? { reason: fault.reason },
    },
    example: {
      fault: {
        reason: 'expired',
        description: 'expired at 2026-01-08T09:00:00Z. Send the user through authorization again.',
        misuse: undefined,
      },
    },
  }),
  'refresh token of another client': row<AboutCredential & { readonly familyId: string; readonly issuedTo: string }>({
    when: 'The refresh token was issued to another client.',
    app: { error: 'invalid_grant', description: OF_ANOTHER },
    operator: {
      reason: 'of another client',
      trace: ({ issuedTo }) => ({
        rule: 'RFC 6749 §6',
        expected: 'a refresh token of the client that sends it',
        received: `one that was issued to the app ${issuedTo}`,
        remedy:
          'Have the app send the client_id that the token was issued to. Two apps must not share a store of tokens.',
      }),
      event: 'token.foreign_client',
      details: ({ familyId }) => ({ familyId }),
    },
  }),
  'refresh token not on record': row({
    when: 'The account or the sign-in of the refresh token does not exist any more.',
    app: { error: 'invalid_grant', description: NOT_VALID },
    operator: { reason: 'not on record', trace: detailOfInvalid('not on record'), ...recorded('not on record') },
  }),
  'refresh token of the other endpoints': row<OfOtherEndpoints>({
    when: 'The refresh token was issued by the other token endpoint. It stays valid there.',
    app: {
      error: 'invalid_grant',
      description: ({ issuedBy }) =>
        `The refresh token was issued at ${ENDPOINT_RULES[issuedBy].tokenPath}: send it there.`,
    },
    operator: {
      reason: 'of the other token endpoint',
      trace: ({ issuedBy, rules }) => ({
        rule: 'RFC 6749 §6',
        expected: `a refresh token from ${rules.tokenPath}`,
        received: `one from ${ENDPOINT_RULES[issuedBy].tokenPath}`,
        remedy: `Send it to ${ENDPOINT_RULES[issuedBy].tokenPath}.`,
      }),
      ...recorded('of the other token endpoint'),
    },
    example: { issuedBy: 'v2', rules: ENDPOINT_RULES.oidc },
  }),
  'refresh token used before': row<AboutCredential & { readonly familyId: string }>({
    when: 'The refresh token was exchanged before, and not in the last 30 seconds. All tokens of the sign-in are revoked.',
    app: { error: 'invalid_grant', description: REUSED },
    operator: {
      reason: 'refresh token reused',
      trace: {
        rule: 'RFC 9700 §4.14.2',
        expected: 'the newest refresh token of the sign-in',
        received: 'one that was exchanged for its successor before',
        remedy: STORE_EACH,
      },
      event: 'token.refresh_reused',
      details: ({ familyId }) => ({ familyId }),
      // It is judged only while the family is alive.
      isEnding: () => true,
    },
  }),
  'wider scope': row<WiderScope>({
    when: '`scope` has a scope that was not granted.',
    app: { error: 'invalid_scope', description: describeWiderScope },
    operator: {
      trace: (facts) => ({
        rule: 'RFC 6749 §6',
        expected: 'scopes among those that were granted',
        received: `scope=${JSON.stringify(facts.requestedScope)}`,
        remedy: facts.scopes.every((name) => SCOPES.includes(name))
          ? 'Leave scope out, or ask for less. For more, send the user through authorization with the wider scope.'
          : sentence(describeWiderScope(facts)),
      }),
      ...recorded('a wider scope than was granted'),
    },
    example: { requestedScope: 'openid phone', scopes: ['openid', 'phone'] },
  }),
  'no scope left': row({
    when: 'The user has withdrawn every scope, or the client is no longer registered for any.',
    app: {
      error: 'invalid_grant',
      description: `None of the scopes is still granted: the user has withdrawn them, or the client is no longer registered for them. ${AGAIN}`,
    },
    operator: {
      reason: 'no scope is left',
      trace: {
        rule: 'RFC 6749 §6',
        expected: 'a scope that is still granted and registered',
        received: 'a refresh token of which every scope was withdrawn',
        remedy: `${AGAIN} The scopes of the registration are shown by: tessera client show CLIENT_ID`,
      },
      ...recorded('no scope is left'),
    },
  }),
  'signing key of the refresh token dropped': row({
    when: 'The keys of the server were replaced in that moment.',
    app: { error: 'invalid_grant', description: NOT_VALID },
    operator: { reason: 'the signing key was dropped', trace: { remedy: AGAIN } },
  }),
};
