import { record } from '../../../audit/audit.ts';
import { readMemberClaims } from '../../../claims/member-claims.ts';
import { hasApiScopes, memberScopes, narrowedResources } from '../../../claims/permissions.ts';
import { type ApiScope, sentScope, withoutEnded } from '../../../claims/rules/api-scopes.ts';
import type { MemberClaims } from '../../../claims/rules/member-claims.ts';
import { listApiScopes } from '../../../clients/store.ts';
import { type CodeRecord, lockCode, spendCode } from '../../../credentials/code-store.ts';
import { type CurrentRefreshToken, insertFamily, revokeFamily } from '../../../credentials/token-family-store.ts';
import { requireVersion } from '../../../keys/keys.ts';
import { SECOND } from '../../../platform/clock.ts';
import { digest } from '../../../platform/crypto/secrets.ts';
import type { Work } from '../../../platform/database/database.ts';
import { missingParameter, type Parameters } from '../../../platform/http/parameters.ts';
import type { OAuthError } from '../../../platform/oauth-error.ts';
import { judge } from '../../../verdict/rules.ts';
import {
  type Exchangeable,
  type Grant,
  mintUserTokens,
  missingInIdToken,
  newRefreshToken,
  type TokenRequest,
} from '../grant.ts';
import { reportLeftOut } from '../left-out.ts';
import { refusalByVerdict } from '../refusals/sign-ins.ts';
import { refusal } from '../refuse.ts';
import { FAMILY_LIFETIME } from '../rules/claims.ts';
import { redemption } from '../rules/redemption.ts';

interface PresentedCode {
  readonly text: string;
  readonly redirectUri: string;
  readonly codeVerifier: string | undefined;
  /** The id of the family that the code may be exchanged for. */
  readonly familyId: string;
}

interface RedeemableCode extends Exchangeable {
  readonly hash: string;
  readonly familyId: string;
  readonly code: CodeRecord;
  /** Its scopes of APIs that the client may still request. */
  readonly apiScopes: readonly ApiScope[];
}

/** A code that was exchanged for a token family. */
interface RedeemedCode extends RedeemableCode {
  /** The resources that the access token is for. */
  readonly resources: readonly string[] | null;
  readonly refreshToken: CurrentRefreshToken;
  /** What the person is in the app now. */
  readonly member: MemberClaims;
}

/** RFC 6749 §4.1.3: exchanges an authorization code for tokens. */
export const authorizationCodeGrant: Grant<PresentedCode, RedeemableCode, RedeemedCode> = {
  signsIdTokens: true,
  refusedResource: 'resource not granted',
  read: async ({ parts }, parameters) => ({ presented: presentedCode(parameters, await parts.ids.next()) }),
  check,
  issue,
  respond,
};

function presentedCode(parameters: Parameters, familyId: string): PresentedCode | OAuthError {
  const text = parameters.get('code');
  if (text === undefined) return missingParameter(parameters, 'code', 'send the code from the redirect.');
  const redirectUri = parameters.get('redirect_uri');
  if (redirectUri === undefined) {
    return missingParameter(parameters, 'redirect_uri', 'repeat the one of the authorization request.');
  }
  // code_verifier= is a wrong verifier, and not the absence of one.
  const codeVerifier = parameters.has('code_verifier') ? (parameters.get('code_verifier') ?? '') : undefined;
  return { text, redirectUri, codeVerifier, familyId };
}

function* check(
  { authenticated, rules, keySet, now, refuse }: TokenRequest,
  { text, redirectUri, codeVerifier, familyId }: PresentedCode,
  requestedResources: readonly string[],
): Work<RedeemableCode | OAuthError> {
  const { client, proof } = authenticated;
  const hash = digest(text);
  const code = yield* lockCode({ hash });
  if (code === undefined) return yield* refuse('unknown code', { text });
  requireVersion(keySet, code.keyVersion);

  const about = { accountId: code.accountId };
  const { endpointSet } = rules;
  const pkceRequired = proof.kind === 'public';
  const presented = { endpointSet, clientId: client.id, redirectUri, codeVerifier, pkceRequired };
  const use = redemption(code, presented, now);
  if (use.kind === 'refuse') return yield* refuse(use.refusal, { ...about, code, presented, text });

  let replayed: OAuthError | undefined;
  if (use.kind === 'replay') {
    if (code.familyId !== null) yield* revokeFamily({ familyId: code.familyId, reason: 'code replayed', now });
    replayed = yield* refuse('code used before', { ...about, redeemedFor: code.familyId });
    // In the order of the verdict, expiry comes before the state of the account.
    if (code.expiresAt <= now) return replayed;
  }
  const verdict = judge(code.state, code.inherited, now);
  if (verdict.kind !== 'live') {
    return yield* refuse(refusalByVerdict(verdict, 'sign-in of the code ended'), { ...about, verdict, rules });
  }
  if (replayed !== undefined) return replayed;
  const apiScopes = hasApiScopes(code.scopes) ? yield* listApiScopes({ clientId: client.id }) : [];
  const scopes = withoutEnded(code.scopes, apiScopes);
  // RFC 8707 §2.2. The code stays valid where a resource is refused.
  const meant = narrowedResources(code.resources, requestedResources) ?? code.resources;
  const sent = sentScope(scopes, apiScopes, meant);
  const cause = scopes === '' ? 'all scopes of the code withdrawn' : 'no scope at the resource';
  if (sent === '') return yield* refuse(cause, about);
  return { hash, familyId, code: { ...code, scopes }, apiScopes, granted: code.resources, about };
}

function* issue(
  { authenticated: { client, origin }, keySet, now }: TokenRequest,
  redeemable: RedeemableCode,
  resources: readonly string[] | null,
): Work<RedeemedCode> {
  const { hash, familyId, code, apiScopes } = redeemable;
  const endsAt = now + FAMILY_LIFETIME * SECOND;
  const refreshToken = newRefreshToken(keySet, now, endsAt);
  yield* insertFamily({
    id: familyId,
    endpointSet: code.endpointSet,
    grantId: code.grantId,
    accountId: code.accountId,
    clientId: client.id,
    inherited: code.inherited,
    scopes: code.scopes,
    claims: code.claims,
    resources: code.resources,
    sid: code.sid,
    authTime: code.authTime,
    amr: code.amr,
    acr: code.acr,
    currentToken: refreshToken,
    createdAt: now,
    endsAt,
    endsWithSession: code.endsWithSession,
    assignmentId: code.assignmentId,
    memberId: code.memberId,
  });
  // The row is locked, so this succeeds. If it ever does not, the whole unit of work must be undone.
  if (!(yield* spendCode({ hash, familyId, now }))) throw new Error('a locked code was spent by another');
  const asked = memberScopes(code.scopes, code.claims);
  const member = asked.size === 0 ? {} : yield* readMemberClaims(client, code.accountId, asked);
  const details = { familyId, scope: sentScope(code.scopes, apiScopes, code.resources) };
  yield* record({ at: now, type: 'token.issued', origin, clientId: client.id, accountId: code.accountId, details });
  return { ...redeemable, resources, member, refreshToken };
}

async function respond(request: TokenRequest, { code, apiScopes, ...issued }: RedeemedCode) {
  const { parts, authenticated, keySet, now } = request;
  const { hash, familyId, resources, refreshToken, member } = issued;
  const { accountId, profile, updatedAt, sid, authTime, amr, acr, nonce, narrowed, claims } = code;
  const scope = sentScope(code.scopes, apiScopes, resources);
  const user = { accountId, profile, updatedAt, sid, authTime, amr, acr, familyId, member };
  const granted = { scope, narrowed, claims, nonce, resources };
  const response = await mintUserTokens(request, keySet, { ...user, ...granted, refreshToken });
  if (response === undefined) return refusal('signing key of the code dropped', {});
  const { client } = authenticated;
  const leftOut = missingInIdToken({ client, rules: request.rules }, { scope, claims, member });
  const explained = await reportLeftOut(parts.database, client, leftOut, now);
  parts.traces.completed.push({
    at: now,
    requestId: authenticated.origin.requestId,
    step: 'token',
    clientId: client.id,
    accountId,
    flow: hash,
    leadsTo: familyId,
    facts: { description: `Tokens were issued for the scopes ${scope}.`, ...explained },
  });
  if (client.grantTypes.includes('refresh_token')) return response;
  // No refresh token for a client that may not use one.
  const { refresh_token: _, ...rest } = response;
  return rest;
}
