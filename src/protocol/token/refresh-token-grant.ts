import { record } from '../../audit/audit.ts';
import type { RequestedClaims } from '../../claims/claims.ts';
import { parseScope } from '../../claims/scopes.ts';
import type { AuthenticatedClient } from '../../clients/authentication/authenticate.ts';
import { killFamily, rotateFamily } from '../../credentials/family-store.ts';
import { type Leaf, type LockedFamily, lockFamily } from '../../credentials/standing-store.ts';
import type { KeySet } from '../../keys/keys.ts';
import { verifyToken } from '../../keys/tokens.ts';
import type { Work } from '../../platform/database/database.ts';
import { invalidGrant, invalidRequest, OAuthError, rateLimited } from '../../platform/oauth-error.ts';
import { refuseGrant } from '../../verdict/refusals.ts';
import { judge, type Verdict } from '../../verdict/rules.ts';
import { mint, newLeaf, type TokenResponse } from './mint.ts';
import { type Misuse, misuseOf } from './misuse.ts';
import { countRequest, type GrantHandler, type TokenParts } from './parts.ts';
import { askedResources, grantedResources, unknownResource } from './resources.ts';
import { readClaims, type VerifiedToken } from './rules/claims.ts';
import { type RefreshedScope, refreshedClaims, refreshedScope } from './rules/refreshed-scope.ts';
import { rotation } from './rules/rotation.ts';

type Outcome =
  | { readonly kind: 'limited'; readonly seconds: number }
  | { readonly kind: 'other keys'; readonly version: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'wider scope' }
  | { readonly kind: 'unknown resource' }
  | { readonly kind: 'verdict'; readonly verdict: Exclude<Verdict, { kind: 'live' }> }
  | {
      readonly kind: 'granted';
      readonly token: VerifiedToken;
      readonly keySet: KeySet;
      readonly found: LockedFamily;
      readonly scope: RefreshedScope;
      readonly claims: RequestedClaims | null;
      readonly resources: readonly string[] | null;
      readonly leaf: Leaf;
    };

const REFUSED =
  'The refresh token is invalid, has expired or was used before. Send the user through authorization again.';

/**
 * RFC 6749 §6 with rotation (RFC 9700 §4.14.2): exchanges a refresh token for its successor.
 * @throws {OAuthError} `invalid_request`, `invalid_scope`; then `invalid_grant`, `access_denied`, `rate_limit_exceeded`
 */
export const refreshTokenGrant: GrantHandler = (parameters) => {
  const presented = parameters.get('refresh_token');
  if (presented === undefined)
    throw invalidRequest('refresh_token is missing: send the one of the last token response.');
  const asked = parameters.get('scope');
  const scopes = asked === undefined ? undefined : parseScope(asked);
  if (asked !== undefined && scopes === undefined) {
    throw new OAuthError(400, 'invalid_scope', 'scope is malformed: separate the scopes by single spaces.');
  }
  const wanted = { scopes, resources: askedResources(parameters) };
  return (parts, authenticated) => exchange(parts, authenticated, presented, wanted);
};

async function exchange(
  parts: TokenParts,
  authenticated: AuthenticatedClient,
  presented: string,
  wanted: Wanted,
): Promise<TokenResponse> {
  for (;;) {
    await parts.keys.ready(authenticated.client.idTokenSignedResponseAlg);
    const now = parts.clock();
    const opened = await verifyToken(parts.keys, 'refresh', presented);
    const token = opened && readClaims(opened.claims, 'refresh', parts.issuer, now);
    const misuse =
      token === undefined
        ? await misuseOf(parts.keys, 'refresh', presented, { opened, issuer: parts.issuer, now })
        : undefined;
    const outcome = await parts.database.commit(() =>
      opened === undefined || token === undefined
        ? refuseUnknown(parts, authenticated, misuse, now)
        : refresh(parts, authenticated, { token, ...wanted, keySet: opened.keySet, now }),
    );
    switch (outcome.kind) {
      case 'limited':
        throw rateLimited(outcome.seconds);
      case 'other keys':
        await parts.keys.refresh(outcome.version);
        continue;
      case 'refused':
        throw invalidGrant(REFUSED, outcome.reason);
      case 'wider scope':
        throw new OAuthError(
          400,
          'invalid_scope',
          'scope goes beyond what was granted: leave it out, or ask for less.',
        );
      case 'unknown resource':
        throw unknownResource();
      case 'verdict':
        throw refuseGrant(outcome.verdict, REFUSED);
      case 'granted': {
        const { found, leaf, keySet, claims, resources } = outcome;
        const { accountId, clientId, familyId } = outcome.token;
        const { sid, authTime, amr, acr } = found.family;
        const { profile, updatedAt } = found;
        const person = { accountId, profile, updatedAt, sid, authTime, amr, acr };
        const subject = { ...person, issuer: parts.issuer, clientId, familyId };
        const { scope, differs } = outcome.scope;
        const signing = { alg: authenticated.client.idTokenSignedResponseAlg, proof: authenticated.proof };
        const order = { subject, scope, resources, leaf, nonce: null, narrowed: differs, claims, ...signing };
        const response = await mint(keySet, order, now);
        if (response === undefined) throw invalidGrant(REFUSED, 'the signing key was dropped');
        return response;
      }
    }
  }
}

function* refuseUnknown(
  parts: TokenParts,
  authenticated: AuthenticatedClient,
  misuse: Misuse | undefined,
  now: number,
): Work<Outcome> {
  const { client, origin } = authenticated;
  const seconds = yield* countRequest(parts, authenticated, now);
  if (seconds > 0) return { kind: 'limited', seconds };
  const reason = 'not a refresh token of this service, or expired';
  const { type = 'token.refused', accountId = null, details = { reason } } = misuse ?? {};
  yield* record({ at: now, type, outcome: 'failure', origin, clientId: client.id, accountId, details });
  return { kind: 'refused', reason };
}

/** Less than what was granted, where the client asks for less. */
interface Wanted {
  readonly scopes: readonly string[] | undefined;
  readonly resources: readonly string[];
}

interface Attempt extends Wanted {
  readonly token: VerifiedToken;
  readonly keySet: KeySet;
  readonly now: number;
}

function* refresh(parts: TokenParts, authenticated: AuthenticatedClient, attempt: Attempt): Work<Outcome> {
  const { client, origin } = authenticated;
  const { token, scopes, keySet, now } = attempt;
  const seconds = yield* countRequest(parts, authenticated, now);
  if (seconds > 0) return { kind: 'limited', seconds };

  const event = { at: now, origin, clientId: client.id, accountId: token.accountId };
  if (token.clientId !== client.id) {
    yield* record({
      ...event,
      type: 'token.foreign_client',
      outcome: 'failure',
      details: { familyId: token.familyId },
    });
    return { kind: 'refused', reason: 'of another client' };
  }
  const found = yield* lockFamily(token);
  if (found === undefined) {
    yield* record({ ...event, type: 'token.refused', outcome: 'failure', details: { reason: 'not on record' } });
    return { kind: 'refused', reason: 'not on record' };
  }
  if (found.keyVersion !== keySet.version) return { kind: 'other keys', version: found.keyVersion };
  const details = { familyId: token.familyId };

  const verdict = judge(found.standing, found.inherited, now);
  if (verdict.kind !== 'live') {
    yield* record({
      ...event,
      type: 'token.refused',
      outcome: 'failure',
      details: { ...details, reason: verdict.kind === 'invalid' ? verdict.reason : verdict.kind },
    });
    return { kind: 'verdict', verdict };
  }
  const { family } = found;
  const chain = { leafJti: family.leaf.jti, predecessorJti: family.predecessorJti, rotatedAt: family.rotatedAt };
  const move = rotation(chain, token.jti, now);
  if (move === 'reuse') {
    yield* killFamily(token.familyId, 'refresh token reused', now);
    yield* record({ ...event, type: 'token.refresh_reused', outcome: 'failure', details });
    return { kind: 'refused', reason: 'refresh token reused' };
  }
  const scope = refreshedScope(family, client.scopes, scopes);
  if (scope === undefined) {
    const reason = 'a wider scope than was granted';
    yield* record({ ...event, type: 'token.refused', outcome: 'failure', details: { ...details, reason } });
    return { kind: 'wider scope' };
  }
  const claims = refreshedClaims(found.claims, client.scopes, scopes);
  const resources = yield* grantedResources(parts, family.resources, attempt.resources);
  if (resources === undefined) {
    const reason = 'a resource that was not granted';
    yield* record({ ...event, type: 'token.refused', outcome: 'failure', details: { ...details, reason } });
    return { kind: 'unknown resource' };
  }
  if (move === 'repeat') {
    yield* record({ ...event, type: 'token.repeated', details });
    return { kind: 'granted', token, keySet, found, scope, claims, resources, leaf: family.leaf };
  }
  const leaf = newLeaf(keySet, now, family.endsAt);
  yield* rotateFamily(token.familyId, token.jti, leaf, now);
  yield* record({ ...event, type: 'token.refreshed', details });
  return { kind: 'granted', token, keySet, found, scope, claims, resources, leaf };
}
