import { record } from '../../../audit/audit.ts';
import { ENDPOINT_RULES, type EndpointRules } from '../../../claims/endpoint-set.ts';
import { parseScope, type RequestedClaims, SCOPES } from '../../../claims/permissions.ts';
import { describeMalformedScope, describeUnknownScope } from '../../../claims/rules/scope-advice.ts';
import type { AuthenticatedClient } from '../../../clients/authentication/authenticate.ts';
import {
  type CurrentRefreshToken,
  type LockedTokenFamily,
  lockFamily,
  revokeLockedFamily,
  rotateFamily,
} from '../../../credentials/token-family-store.ts';
import { type KeySet, requireVersion, withCurrentKeys } from '../../../keys/keys.ts';
import { type SignedToken, verifyToken } from '../../../keys/tokens.ts';
import type { Work } from '../../../platform/database/database.ts';
import { missingParameter, type Parameters } from '../../../platform/http/parameters.ts';
import { invalidGrant, OAuthError } from '../../../platform/oauth-error.ts';
import { judge } from '../../../verdict/rules.ts';
import {
  countRequest,
  type GrantHandler,
  grantedResources,
  idTokenAlg,
  mint,
  newRefreshToken,
  requestedResources,
  type TokenServices,
  unknownResource,
} from '../grant.ts';
import { type TokenFault, tokenFault } from '../misuse.ts';
import { refuseGrant } from '../refuse-verdict.ts';
import { readClaims, type VerifiedToken } from '../rules/claims.ts';
import { type RefreshedScope, refreshedClaims, refreshedScope, rotation } from '../rules/refresh.ts';

/** What a refresh issues tokens for. */
interface RefreshedFamily {
  readonly family: LockedTokenFamily;
  readonly token: VerifiedToken;
  readonly keySet: KeySet;
  readonly scope: RefreshedScope;
  readonly claims: RequestedClaims | null;
  readonly resources: readonly string[] | null;
  readonly refreshToken: CurrentRefreshToken;
}

const ANEW = 'Send the user through authorization again.';
const REFUSED = `The refresh token is no longer valid, or was issued to another client. ${ANEW}`;
const ENDED = `The refresh token is no longer valid: the sign-in that it came from has ended. ${ANEW}`;
const NOTHING_LEFT = `None of the scopes is still granted: the user has withdrawn them, or the client is no longer registered for them. ${ANEW}`;
const REUSED = `The refresh token was used before, so all tokens of its sign-in are revoked now. Store each new refresh token, refresh once at a time, and retry within 30 seconds only. ${ANEW}`;

/**
 * RFC 6749 §6 with rotation (RFC 9700 §4.14.2): exchanges a refresh token for its successor.
 * @throws {OAuthError} `rate_limit_exceeded`; then `invalid_request`, `invalid_scope`; then `invalid_grant`, `access_denied`
 */
export const refreshTokenGrant: GrantHandler = (parts, authenticated, parameters, rules) =>
  withCurrentKeys(parts.keys, async () => {
    const { client, proof } = authenticated;
    const alg = idTokenAlg(authenticated, rules.defaultIdTokenAlg);
    await parts.keys.ready(alg);
    const now = parts.clock();
    const presented = await verifyPresented(parts, parameters.get('refresh_token'), now);
    const refreshed = await parts.database.commit(() =>
      refresh(parts, authenticated, parameters, presented, { rules, now }),
    );
    if (refreshed instanceof OAuthError) {
      const { token: verified } = presented;
      return verified === undefined ? refreshed : refreshed.withDetail({ flow: verified.familyId });
    }

    const { family: found, token, keySet, refreshToken, claims, resources } = refreshed;
    const { accountId, clientId, familyId } = token;
    const { profile, updatedAt } = found;
    const { sid, authTime, amr, acr } = found.family;
    const user = { accountId, profile, updatedAt, sid, authTime, amr, acr };
    const subject = { ...user, issuer: parts.issuer, clientId, familyId };
    const { scope, differs: narrowed } = refreshed.scope;
    const withGrantedClaims = !rules.identityClaims && client.idTokenClaims === 'granted';
    const granted = { scope, resources, narrowed, claims, withGrantedClaims };
    const order = { rules, subject, ...granted, refreshToken, nonce: null, alg, proof };
    return (await mint(keySet, order, now)) ?? invalidGrant(REFUSED, 'the signing key was dropped');
  });

/** A refresh token whose signature and claims were verified, or why it is none. */
type PresentedToken =
  | { readonly token: VerifiedToken; readonly keySet: KeySet }
  | { readonly token?: undefined; readonly fault: TokenFault | undefined };

async function verifyPresented(
  { keys, issuer }: TokenServices,
  presented: string | undefined,
  now: number,
): Promise<PresentedToken> {
  if (presented === undefined) return { fault: undefined };
  const signed: SignedToken | undefined = await verifyToken(keys, 'refresh', presented);
  const token = signed && readClaims(signed.claims, 'refresh', issuer, now);
  if (signed !== undefined && token !== undefined) return { token, keySet: signed.keySet };
  return { fault: await tokenFault(keys, 'refresh', presented, { signed, issuer, now }) };
}

function* refresh(
  parts: TokenServices,
  authenticated: AuthenticatedClient,
  parameters: Parameters,
  presented: PresentedToken,
  { rules, now }: { readonly rules: EndpointRules; readonly now: number },
): Work<RefreshedFamily | OAuthError> {
  const { client, origin } = authenticated;
  const limited = yield* countRequest(parts, authenticated, now);
  if (limited !== undefined) return limited;

  if (parameters.get('refresh_token') === undefined) {
    return missingParameter(parameters, 'refresh_token', 'send the one of the last token response.');
  }
  const requestedScope = parameters.get('scope');
  const scopes = requestedScope === undefined ? undefined : parseScope(requestedScope);
  if (requestedScope !== undefined && scopes === undefined) {
    return new OAuthError(400, 'invalid_scope', `${describeMalformedScope(requestedScope)}.`);
  }
  const requested = requestedResources(parameters);
  if (requested instanceof OAuthError) return requested;

  if (presented.token === undefined) {
    const { reason = 'no token', description = '', misuse } = presented.fault ?? {};
    const { type = 'token.refused', accountId = null, details = { reason } } = misuse ?? {};
    yield* record({ at: now, type, outcome: 'failure', origin, clientId: client.id, accountId, details });
    const detail = {
      rule: 'RFC 6749 §6',
      expected: 'a refresh token of this client, in force',
      received: reason,
      remedy: `It ${description}`,
    };
    return invalidGrant(`The refresh token is not accepted: it ${description}`, reason).withDetail(detail);
  }
  const { token, keySet } = presented;
  const { familyId } = token;
  const details = { familyId };
  const event = { at: now, origin, clientId: client.id, accountId: token.accountId };
  if (token.clientId !== client.id) {
    yield* record({ ...event, type: 'token.foreign_client', outcome: 'failure', details });
    return invalidGrant(REFUSED, 'of another client');
  }
  const found = yield* lockFamily(token);
  if (found === undefined) {
    const reason = 'not on record';
    yield* record({ ...event, type: 'token.refused', outcome: 'failure', details: { reason } });
    return invalidGrant(REFUSED, reason);
  }
  requireVersion(keySet, found.keyVersion);

  if (found.endpointSet !== rules.endpointSet) {
    const { tokenPath } = ENDPOINT_RULES[found.endpointSet];
    const reason = 'of the other token endpoint';
    yield* record({ ...event, type: 'token.refused', outcome: 'failure', details: { ...details, reason } });
    return invalidGrant(`The refresh token was issued at ${tokenPath}: send it there.`, reason).withDetail({
      rule: 'RFC 6749 §6',
      expected: `a refresh token from ${rules.tokenPath}`,
      received: `one from ${tokenPath}`,
      remedy: `Send it to ${tokenPath}.`,
    });
  }
  const verdict = judge(found.state, found.inherited, now);
  if (verdict.kind !== 'live') {
    const reason = verdict.kind === 'invalid' ? verdict.reason : verdict.kind;
    yield* record({ ...event, type: 'token.refused', outcome: 'failure', details: { ...details, reason } });
    return refuseGrant(verdict, ENDED, rules.invalidGrantInsteadOf403);
  }
  const { currentToken, predecessorJti, rotatedAt, endsAt } = found.family;
  const move = rotation({ currentJti: currentToken.jti, predecessorJti, rotatedAt }, token.jti, now);
  if (move === 'reuse') {
    const reason = 'refresh token reused';
    yield* revokeLockedFamily({ familyId, reason, now });
    yield* record({ ...event, type: 'token.refresh_reused', outcome: 'failure', details });
    return invalidGrant(REUSED, reason).withDetail({
      rule: 'RFC 9700 §4.14.2',
      expected: 'the newest refresh token of the sign-in',
      received: 'one that was exchanged for its successor before',
      remedy: REUSED,
    });
  }
  const scope = refreshedScope(found.family, client.scopes, scopes, rules);
  if (scope === undefined) {
    const reason = 'a wider scope than was granted';
    yield* record({ ...event, type: 'token.refused', outcome: 'failure', details: { ...details, reason } });
    const unknown = scopes?.find((name) => !SCOPES.includes(name));
    const description =
      unknown === undefined
        ? 'scope goes beyond what was granted: leave it out, or ask for less. For more, send the user through authorization.'
        : `${describeUnknownScope(unknown)}.`;
    return new OAuthError(400, 'invalid_scope', description).withDetail({
      rule: 'RFC 6749 §6',
      expected: 'scopes among those that were granted',
      received: `scope=${JSON.stringify(requestedScope)}`,
      remedy: description,
    });
  }
  if (scope.scope === '') {
    const reason = 'no scope is left';
    yield* record({ ...event, type: 'token.refused', outcome: 'failure', details: { ...details, reason } });
    return invalidGrant(NOTHING_LEFT, reason);
  }
  const claims = refreshedClaims(found.claims, client.scopes, scopes, rules);
  const resources = yield* grantedResources(parts, found.family.resources, requested);
  if (resources === undefined) {
    const reason = 'a resource that was not granted';
    yield* record({ ...event, type: 'token.refused', outcome: 'failure', details: { ...details, reason } });
    return unknownResource();
  }
  const issued = { family: found, token, keySet, scope, claims, resources };
  if (move === 'repeat') {
    yield* record({ ...event, type: 'token.repeated', details });
    return { ...issued, refreshToken: currentToken };
  }
  const refreshToken = newRefreshToken(keySet, now, endsAt);
  yield* rotateFamily({ familyId, predecessorJti: token.jti, now, ...refreshToken });
  yield* record({ ...event, type: 'token.refreshed', details });
  return { ...issued, refreshToken };
}
