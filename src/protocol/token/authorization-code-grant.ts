import { record } from '../../audit/audit.ts';
import { formatClaims } from '../../claims/claims.ts';
import type { AuthenticatedClient } from '../../clients/authentication/authenticate.ts';
import { formatResources } from '../../clients/rules/resources.ts';
import { type CodeRecord, lockCode, spendCode } from '../../credentials/code-store.ts';
import { insertFamily, killFamily } from '../../credentials/family-store.ts';
import type { Leaf } from '../../credentials/standing-store.ts';
import type { KeySet } from '../../keys/keys.ts';
import { SECOND } from '../../platform/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import { invalidGrant, invalidRequest, rateLimited } from '../../platform/oauth-error.ts';
import { refuseGrant } from '../../verdict/refusals.ts';
import { judge, type Verdict } from '../../verdict/rules.ts';
import { mint, newLeaf, type TokenResponse } from './mint.ts';
import { countRequest, type GrantHandler, type TokenParts } from './parts.ts';
import { askedResources, grantedResources, unknownResource } from './resources.ts';
import { FAMILY_LIFETIME } from './rules/claims.ts';
import { type CodePresentation, redemption } from './rules/redemption.ts';

type Outcome =
  | { readonly kind: 'limited'; readonly seconds: number }
  | { readonly kind: 'other keys'; readonly version: string }
  /** What the client is told, and what the log says where that is more. */
  | { readonly kind: 'refused'; readonly reason: string; readonly cause?: string }
  | { readonly kind: 'unknown resource' }
  | { readonly kind: 'verdict'; readonly verdict: Exclude<Verdict, { kind: 'live' }> }
  | {
      readonly kind: 'redeemed';
      readonly code: CodeRecord;
      readonly resources: readonly string[] | null;
      readonly leaf: Leaf;
    };

const UNKNOWN = 'the code is unknown or was used before';

/**
 * RFC 6749 §4.1.3: exchanges an authorization code for tokens.
 * @throws {OAuthError} `invalid_request`; then `invalid_grant`, `access_denied`, `rate_limit_exceeded`
 */
export const authorizationCodeGrant: GrantHandler = (parameters) => {
  const code = parameters.get('code');
  const redirectUri = parameters.get('redirect_uri');
  if (code === undefined) throw invalidRequest('code is missing: send the code from the redirect.');
  if (redirectUri === undefined) {
    throw invalidRequest('redirect_uri is missing: repeat the one of the authorization request.');
  }
  // An empty verifier is a wrong one, not an absent one.
  const codeVerifier = parameters.has('code_verifier') ? (parameters.get('code_verifier') ?? '') : undefined;
  const resources = askedResources(parameters);
  return (parts, authenticated) =>
    exchange(
      parts,
      authenticated,
      { hash: digest(code), resources },
      {
        clientId: authenticated.client.id,
        redirectUri,
        codeVerifier,
        pkceRequired: authenticated.proof.kind === 'public',
      },
    );
};

async function exchange(
  parts: TokenParts,
  authenticated: AuthenticatedClient,
  { hash, resources }: Pick<Attempt, 'hash' | 'resources'>,
  presentation: CodePresentation,
): Promise<Omit<TokenResponse, 'refresh_token'>> {
  const { client } = authenticated;
  const familyId = await parts.ids.next();
  for (;;) {
    const keySet = await parts.keys.ready(client.idTokenSignedResponseAlg);
    const now = parts.clock();
    const outcome = await parts.database.commit(() =>
      redeem(parts, authenticated, { hash, presentation, resources, familyId, keySet, now }),
    );
    switch (outcome.kind) {
      case 'limited':
        throw rateLimited(outcome.seconds);
      case 'other keys':
        await parts.keys.refresh(outcome.version);
        continue;
      case 'refused':
        throw invalidGrant(`The code was refused: ${outcome.reason}.`, outcome.cause ?? outcome.reason);
      case 'unknown resource':
        throw unknownResource();
      case 'verdict':
        throw refuseGrant(outcome.verdict, `The code was refused: ${UNKNOWN}.`);
      case 'redeemed': {
        const { code, leaf, resources } = outcome;
        const subject = {
          issuer: parts.issuer,
          accountId: code.accountId,
          clientId: client.id,
          familyId,
          profile: code.profile,
          updatedAt: code.updatedAt,
          sid: code.sid,
          authTime: code.authTime,
          amr: code.amr,
          acr: code.acr,
        };
        const { scopes: scope, nonce, narrowed, claims } = code;
        const signing = { alg: authenticated.client.idTokenSignedResponseAlg, proof: authenticated.proof };
        const order = { subject, scope, resources, leaf, nonce, narrowed, claims, ...signing };
        const response = await mint(keySet, order, now);
        if (response === undefined) {
          throw invalidGrant('The code was refused: the signing key was dropped.', 'the signing key was dropped');
        }
        if (client.grantTypes.includes('refresh_token')) return response;
        // Nobody gets a credential that they may not use.
        const { refresh_token: _, ...rest } = response;
        return rest;
      }
    }
  }
}

interface Attempt {
  readonly hash: string;
  readonly presentation: CodePresentation;
  /** Which of the granted ones the access token is asked for; none is all of them. */
  readonly resources: readonly string[];
  readonly familyId: string;
  readonly keySet: KeySet;
  readonly now: number;
}

function* redeem(parts: TokenParts, authenticated: AuthenticatedClient, attempt: Attempt): Work<Outcome> {
  const { hash, presentation, familyId, keySet, now } = attempt;
  const { client, origin } = authenticated;
  const seconds = yield* countRequest(parts, authenticated, now);
  if (seconds > 0) return { kind: 'limited', seconds };

  const code = yield* lockCode(hash);
  const event = { at: now, origin, clientId: client.id };
  if (code === undefined) {
    yield* record({ ...event, type: 'token.refused', outcome: 'failure', details: { reason: UNKNOWN } });
    return { kind: 'refused', reason: UNKNOWN };
  }
  if (code.keyVersion !== keySet.version) return { kind: 'other keys', version: code.keyVersion };
  const about = { ...event, accountId: code.accountId };

  const result = redemption(code, presentation, now);
  if (result.kind === 'refuse') {
    const type = result.foreignClient ? 'token.foreign_client' : 'token.refused';
    yield* record({ ...about, type, outcome: 'failure', details: { reason: result.reason } });
    return { kind: 'refused', reason: result.foreignClient ? UNKNOWN : result.reason, cause: result.reason };
  }
  if (result.kind === 'replay') {
    if (code.familyId !== null) yield* killFamily(code.familyId, 'code replayed', now);
    yield* record({ ...about, type: 'token.code_replayed', outcome: 'failure', details: { familyId: code.familyId } });
    // The order of the verdict: what has expired is refused as such, whatever the account has come to since.
    if (code.expiresAt <= now) return { kind: 'refused', reason: UNKNOWN, cause: 'code replayed' };
  }
  const verdict = judge(code.standing, code.inherited, now);
  if (verdict.kind !== 'live') {
    yield* record({ ...about, type: 'token.refused', outcome: 'failure', details: { reason: verdict.kind } });
    return { kind: 'verdict', verdict };
  }
  if (result.kind === 'replay') return { kind: 'refused', reason: UNKNOWN, cause: 'code replayed' };
  // RFC 8707 §2.2. The code is as good as before.
  const resources = yield* grantedResources(parts, code.resources, attempt.resources);
  if (resources === undefined) {
    const reason = 'a resource that was not granted';
    yield* record({ ...about, type: 'token.refused', outcome: 'failure', details: { reason } });
    return { kind: 'unknown resource' };
  }

  const endsAt = now + FAMILY_LIFETIME * SECOND;
  const leaf = newLeaf(keySet, now, endsAt);
  yield* insertFamily({
    id: familyId,
    grantId: code.grantId,
    accountId: code.accountId,
    clientId: client.id,
    ...code.inherited,
    scopes: code.scopes,
    claims: formatClaims(code.claims),
    resources: formatResources(code.resources),
    sid: code.sid,
    authTime: code.authTime,
    amr: JSON.stringify(code.amr),
    acr: code.acr,
    leaf,
    createdAt: now,
    endsAt,
  });
  // The code is locked, so this holds; were it ever not to, nothing of this unit may stay.
  if (!(yield* spendCode(hash, familyId, now))) throw new Error('a locked code was spent by another');
  yield* record({ ...about, type: 'token.issued', details: { familyId, scope: code.scopes } });
  return { kind: 'redeemed', code, leaf, resources };
}
