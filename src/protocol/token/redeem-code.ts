import { record } from '../../audit/audit.ts';
import { readMemberClaims } from '../../claims/member-claims.ts';
import {
  hasApiScopes,
  memberScopes,
  namesOfResources,
  narrowedResources,
  storedScopes,
} from '../../claims/permissions.ts';
import { type ApiScope, sentScope, withoutEnded } from '../../claims/rules/api-scopes.ts';
import type { MemberClaims } from '../../claims/rules/member-claims.ts';
import { COMMAND_LINE_LIFETIME, isCommandLine } from '../../clients/rules/command-line.ts';
import { listApiScopes } from '../../clients/store.ts';
import { type CodeRecord, spendCode } from '../../credentials/code-store.ts';
import { type CurrentRefreshToken, insertFamily } from '../../credentials/token-family-store.ts';
import { SECOND } from '../../platform/clock.ts';
import type { Work } from '../../platform/database/database.ts';
import type { OAuthError } from '../../platform/oauth-error.ts';
import { describeIgnored } from '../../traces/rules/ignored.ts';
import { sentParameters } from '../../traces/rules/sent-parameters.ts';
import { judge } from '../../verdict/rules.ts';
import {
  type Exchangeable,
  mintUserTokens,
  missingInIdToken,
  networkInUse,
  newRefreshToken,
  type TokenRequest,
} from './grant.ts';
import { reportLeftOut } from './left-out.ts';
import { refusalByVerdict } from './refusals/sign-ins.ts';
import { refusal } from './refuse.ts';
import { adviceOnAlgorithm } from './rules/algorithm-advice.ts';
import { FAMILY_LIFETIME } from './rules/claims.ts';
import { adviceForTokenParameter } from './rules/ignored-parameters.ts';

/** A locked code, and the id of the family that it may be exchanged for. */
interface PresentedCode {
  readonly hash: string;
  readonly familyId: string;
  readonly code: CodeRecord;
  /** The parameters that were sent with it and change nothing. */
  readonly ignored?: readonly string[];
}

export interface RedeemableCode extends Exchangeable, PresentedCode {
  /** Its scopes of APIs that the client may still request. */
  readonly apiScopes: readonly ApiScope[];
}

/** A code that was exchanged for a token family. */
export interface RedeemedCode extends RedeemableCode {
  /** The resources that the access token is for. */
  readonly resources: readonly string[] | null;
  readonly refreshToken: CurrentRefreshToken;
  /** What the person is in the app now. */
  readonly member: MemberClaims;
}

/**
 * Whether a code may be exchanged, by what holds now: the account, the consent, the sign-in and the scopes.
 * @param replayed the refusal of a code that was exchanged before; that of the account comes before it
 */
export function* judgeCode(
  { authenticated: { client }, rules, now, refuse }: TokenRequest,
  { code, ...presented }: PresentedCode,
  requestedResources: readonly string[],
  replayed: OAuthError | undefined,
): Work<RedeemableCode | OAuthError> {
  const about = { accountId: code.accountId };
  const verdict = judge(code.state, code.inherited, now);
  if (verdict.kind !== 'live') {
    return yield* refuse(refusalByVerdict(verdict, 'sign-in of the code ended'), { ...about, verdict, rules });
  }
  if (replayed !== undefined) return replayed;
  const apiScopes = hasApiScopes(code.scopes) ? yield* listApiScopes({ clientId: client.id }) : [];
  const scopes = withoutEnded(code.scopes, apiScopes);
  // RFC 8707 §2.2. The code stays valid where a resource is refused.
  const granted = namesOfResources(code.resources);
  const meant = narrowedResources(granted, requestedResources) ?? granted;
  const sent = sentScope(scopes, apiScopes, meant);
  const cause = scopes === '' ? 'all scopes of the code withdrawn' : 'no scope at the resource';
  if (sent === '') return yield* refuse(cause, about);
  return { ...presented, code: { ...code, scopes }, apiScopes, granted, marked: code.resources, about };
}

/** Exchanges a code for a token family. */
export function* redeemCode(
  { authenticated: { client, origin }, keySet, now }: TokenRequest,
  redeemable: RedeemableCode,
  resources: readonly string[] | null,
): Work<RedeemedCode> {
  const { hash, familyId, code, apiScopes } = redeemable;
  const endsAt = now + (isCommandLine(client) ? COMMAND_LINE_LIFETIME : FAMILY_LIFETIME) * SECOND;
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
    lastNetwork: networkInUse(client, origin),
  });
  // The row is locked, so this succeeds. If it ever does not, the whole unit of work must be undone.
  if (!(yield* spendCode({ hash, familyId, now }))) throw new Error('a locked code was spent by another');
  const asked = memberScopes(code.scopes, code.claims);
  const member = asked.size === 0 ? {} : yield* readMemberClaims(client, code.accountId, asked);
  const details = { familyId, scope: sentScope(code.scopes, apiScopes, redeemable.granted) };
  yield* record({ at: now, type: 'token.issued', origin, clientId: client.id, accountId: code.accountId, details });
  return { ...redeemable, resources: namesOfResources(resources), member, refreshToken };
}

/** Signs the tokens of a code. */
export async function respondToCode(request: TokenRequest, { code, apiScopes, ...issued }: RedeemedCode) {
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
  const hasIdToken = request.rules.endpointSet === 'v2' || storedScopes(code.scopes).has('openid');
  parts.traces.completed.push({
    at: now,
    requestId: authenticated.origin.requestId,
    step: 'token',
    clientId: client.id,
    accountId,
    flow: hash,
    leadsTo: familyId,
    facts: {
      description: `Tokens were issued for the scopes ${scope}${hasIdToken ? '' : ', without an ID token: openid was not requested'}.`,
      sent: sentParameters(request.parameters),
      ignored: describeIgnored({ parameters: issued.ignored, parameterAdvice: adviceForTokenParameter }),
      ...(!hasIdToken && { remedy: 'If the app needs an ID token, have it send openid in scope.' }),
      ...(hasIdToken
        ? adviceOnAlgorithm(request, { id: client.id, isChosen: client.idTokenSignedResponseAlg !== null })
        : {}),
      ...explained,
    },
  });
  if (client.grantTypes.includes('refresh_token')) return response;
  // No refresh token for a client that may not use one.
  const { refresh_token: _, ...rest } = response;
  return rest;
}
