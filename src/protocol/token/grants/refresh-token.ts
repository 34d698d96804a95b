import { record } from '../../../audit/audit.ts';
import { readMemberClaims } from '../../../claims/member-claims.ts';
import {
  hasApiScopes,
  memberScopes,
  namesOfResources,
  narrowedResources,
  parseScope,
  type RequestedClaims,
} from '../../../claims/permissions.ts';
import { sentScope } from '../../../claims/rules/api-scopes.ts';
import type { MemberClaims } from '../../../claims/rules/member-claims.ts';
import { listApiScopes } from '../../../clients/store.ts';
import {
  type CurrentRefreshToken,
  type LockedTokenFamily,
  lockFamily,
  revokeLockedFamily,
  rotateFamily,
} from '../../../credentials/token-family-store.ts';
import { type KeySet, requireVersion } from '../../../keys/keys.ts';
import { verifyToken } from '../../../keys/tokens.ts';
import type { Work } from '../../../platform/database/database.ts';
import { missingParameter, type Parameters } from '../../../platform/http/parameters.ts';
import type { OAuthError } from '../../../platform/oauth-error.ts';
import { judge } from '../../../verdict/rules.ts';
import {
  type Exchangeable,
  type Grant,
  mintUserTokens,
  missingInIdToken,
  networkInUse,
  newRefreshToken,
  type ReadGrant,
  type TokenRequest,
} from '../grant.ts';
import { reportLeftOut } from '../left-out.ts';
import { type TokenFault, tokenFault } from '../misuse.ts';
import { refusalByVerdict } from '../refusals/sign-ins.ts';
import { refusal } from '../refuse.ts';
import { readClaims, type VerifiedToken } from '../rules/claims.ts';
import { type RefreshedScope, type Rotation, refreshedClaims, refreshedScope, rotation } from '../rules/refresh.ts';

/** A refresh token whose signature and claims were verified. */
interface VerifiedRefreshToken {
  readonly token: VerifiedToken;
  readonly keySet: KeySet;
}

interface PresentedRefreshToken {
  readonly verified: VerifiedRefreshToken | { readonly fault: TokenFault };
  readonly requestedScope: string | undefined;
  /** The scopes of `scope`; undefined where it was not sent. */
  readonly scopes: readonly string[] | undefined;
}

interface RefreshableFamily extends Exchangeable, VerifiedRefreshToken {
  readonly family: LockedTokenFamily;
  readonly move: Exclude<Rotation, 'reuse'>;
  readonly scope: RefreshedScope;
  readonly claims: RequestedClaims | null;
}

/** What a refresh issues tokens for. */
interface RefreshedFamily extends RefreshableFamily {
  readonly resources: readonly string[] | null;
  readonly refreshToken: CurrentRefreshToken;
  /** What the person is in the app now. */
  readonly member: MemberClaims;
}

/** RFC 6749 §6 with rotation (RFC 9700 §4.14.2): exchanges a refresh token for its successor. */
export const refreshTokenGrant: Grant<PresentedRefreshToken, RefreshableFamily, RefreshedFamily> = {
  signsIdTokens: true,
  refusedResource: 'resource not granted',
  read,
  check,
  issue,
  respond,
};

async function read(request: TokenRequest, parameters: Parameters): Promise<ReadGrant<PresentedRefreshToken>> {
  const text = parameters.get('refresh_token');
  if (text === undefined) {
    const refused = missingParameter(parameters, 'refresh_token', 'send the one of the last token response.', [
      'token',
    ]);
    return { presented: refused };
  }
  const verified = await verify(request, text);
  const flow = 'token' in verified ? verified.token.familyId : undefined;
  const requestedScope = parameters.get('scope');
  const scopes = requestedScope === undefined ? undefined : parseScope(requestedScope);
  if (requestedScope !== undefined && scopes === undefined) {
    return { presented: refusal('malformed scope', { requestedScope }), flow };
  }
  return { presented: { verified, requestedScope, scopes }, flow };
}

async function verify(
  { parts: { keys, issuer }, now }: TokenRequest,
  text: string,
): Promise<PresentedRefreshToken['verified']> {
  const signed = await verifyToken(keys, 'refresh', text);
  const token = signed && readClaims(signed.claims, 'refresh', issuer, now);
  if (signed !== undefined && token !== undefined) return { token, keySet: signed.keySet };
  return { fault: await tokenFault(keys, 'refresh', text, { signed, issuer, now }) };
}

function* check(
  { authenticated: { client }, rules, now, refuse }: TokenRequest,
  { verified, requestedScope = '', scopes }: PresentedRefreshToken,
  requestedResources: readonly string[],
): Work<RefreshableFamily | OAuthError> {
  if ('fault' in verified) {
    const { fault } = verified;
    return yield* refuse('not a refresh token', { accountId: fault.misuse?.accountId ?? null, fault });
  }
  const { token, keySet } = verified;
  const { accountId, familyId } = token;
  const about = { accountId, familyId };
  if (token.clientId !== client.id)
    return yield* refuse('refresh token of another client', { ...about, issuedTo: token.clientId });
  const family = yield* lockFamily(token);
  if (family === undefined) return yield* refuse('refresh token not on record', { accountId });
  requireVersion(keySet, family.keyVersion);

  if (family.endpointSet !== rules.endpointSet) {
    return yield* refuse('refresh token of the other endpoints', { ...about, issuedBy: family.endpointSet, rules });
  }
  const verdict = judge(family.state, family.inherited, now);
  if (verdict.kind !== 'live') {
    const ended = { deadReason: family.family.deadReason, deadAt: family.state.family?.deadAt ?? null };
    const facts = { ...about, verdict, rules, ended };
    return yield* refuse(refusalByVerdict(verdict, 'sign-in of the refresh token ended'), facts);
  }
  const { currentToken, predecessorJti, rotatedAt } = family.family;
  const move = rotation({ currentJti: currentToken.jti, predecessorJti, rotatedAt }, token.jti, now);
  if (move === 'reuse') {
    yield* revokeLockedFamily({ familyId, reason: 'refresh token reused', now });
    return yield* refuse('refresh token used before', about);
  }
  const apiScopes = hasApiScopes(family.family.scopes) ? yield* listApiScopes({ clientId: client.id }) : [];
  const { resources: marked } = family.family;
  const granted = namesOfResources(marked);
  const meant = narrowedResources(granted, requestedResources) ?? granted;
  const registered = { scopes: client.scopes, ofApis: apiScopes };
  const scope = refreshedScope(family.family, registered, scopes, meant, rules);
  if (scope === undefined) {
    return yield* refuse('wider scope', { ...about, requestedScope, scopes: scopes ?? [] });
  }
  if (scope.scope === '') {
    const hasMore = sentScope(family.family.scopes, apiScopes, granted) !== '';
    return yield* refuse(
      hasMore && requestedResources.length > 0 ? 'no scope at the resource' : 'no scope left',
      about,
    );
  }
  const claims = refreshedClaims(family.claims, client.scopes, scopes, rules);
  return { family, token, keySet, move, scope, claims, granted, marked, about };
}

function* issue(
  { authenticated: { client, origin }, now }: TokenRequest,
  refreshable: RefreshableFamily,
  marked: readonly string[] | null,
): Work<RefreshedFamily> {
  const resources = namesOfResources(marked);
  const { token, keySet, family, move, scope, claims } = refreshable;
  const { accountId, familyId } = token;
  const asked = memberScopes(scope.scope, claims);
  const member = asked.size === 0 ? {} : yield* readMemberClaims(client, accountId, asked);
  const event = { at: now, origin, clientId: client.id, accountId, details: { familyId } };
  if (move === 'repeat') {
    yield* record({ ...event, type: 'token.repeated' });
    return { ...refreshable, resources, member, refreshToken: family.family.currentToken };
  }
  const refreshToken = newRefreshToken(keySet, now, family.family.endsAt);
  const lastNetwork = networkInUse(client, origin);
  yield* rotateFamily({ familyId, predecessorJti: token.jti, now, lastNetwork, ...refreshToken });
  yield* record({ ...event, type: 'token.refreshed' });
  return { ...refreshable, resources, member, refreshToken };
}

async function respond(request: TokenRequest, refreshed: RefreshedFamily) {
  const { token, keySet, family, claims, resources, refreshToken, member } = refreshed;
  const { accountId, familyId } = token;
  const { sid, authTime, amr, acr } = family.family;
  const user = {
    accountId,
    profile: family.profile,
    updatedAt: family.updatedAt,
    sid,
    authTime,
    amr,
    acr,
    familyId,
    member,
  };
  const { scope, differs: narrowed } = refreshed.scope;
  const granted = { scope, narrowed, claims, nonce: null, resources };
  const response = await mintUserTokens(request, keySet, { ...user, ...granted, refreshToken });
  if (response === undefined) return refusal('signing key of the refresh token dropped', {});
  const { parts, authenticated, now } = request;
  const { client, origin } = authenticated;
  const leftOut = missingInIdToken({ client, rules: request.rules }, { scope, claims, member });
  if (leftOut.length > 0) {
    const explained = await reportLeftOut(parts.database, client, leftOut, now);
    parts.traces.completed.push({
      at: now,
      requestId: origin.requestId,
      step: 'token',
      clientId: client.id,
      accountId,
      flow: familyId,
      facts: { description: `Tokens were refreshed for the scopes ${scope}.`, ...explained },
    });
  }
  return response;
}
