import { record } from '../../../audit/audit.ts';
import type { EndpointRules } from '../../../claims/endpoint-set.ts';
import type { AuthenticatedClient } from '../../../clients/authentication/authenticate.ts';
import { type CodeRecord, lockCode, spendCode } from '../../../credentials/code-store.ts';
import { type CurrentRefreshToken, insertFamily, revokeFamily } from '../../../credentials/token-family-store.ts';
import { type KeySet, requireVersion, withCurrentKeys } from '../../../keys/keys.ts';
import { SECOND } from '../../../platform/clock.ts';
import { digest } from '../../../platform/crypto/secrets.ts';
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
import { refuseGrant } from '../refuse-verdict.ts';
import { FAMILY_LIFETIME } from '../rules/claims.ts';
import { describeUnknownCode } from '../rules/presented-form.ts';
import { redemption } from '../rules/redemption.ts';

/** A code that was exchanged for a token family. */
interface RedeemedCode {
  readonly code: CodeRecord;
  /** The resources that the access token is for. */
  readonly resources: readonly string[] | null;
  readonly refreshToken: CurrentRefreshToken;
}

/**
 * RFC 6749 §4.1.3: exchanges an authorization code for tokens.
 * @throws {OAuthError} `rate_limit_exceeded`; then `invalid_request`; then `invalid_grant`, `access_denied`, `invalid_target`
 */
export const authorizationCodeGrant: GrantHandler = async (parts, authenticated, parameters, rules) => {
  const { client, proof } = authenticated;
  const alg = idTokenAlg(authenticated, rules.defaultIdTokenAlg);
  const familyId = await parts.ids.next();
  return withCurrentKeys(parts.keys, async () => {
    const keySet = await parts.keys.ready(alg);
    const now = parts.clock();
    const redeemed = await parts.database.commit(() =>
      redeem(parts, authenticated, parameters, { rules, familyId, keySet, now }),
    );
    if (redeemed instanceof OAuthError) return redeemed;

    const { code, resources, refreshToken } = redeemed;
    const { accountId, profile, updatedAt, sid, authTime, amr, acr } = code;
    const user = { accountId, profile, updatedAt, sid, authTime, amr, acr };
    const subject = { ...user, issuer: parts.issuer, clientId: client.id, familyId };
    const { scopes: scope, nonce, narrowed, claims } = code;
    const withGrantedClaims = !rules.identityClaims && client.idTokenClaims === 'granted';
    const order = {
      rules,
      subject,
      scope,
      resources,
      refreshToken,
      nonce,
      narrowed,
      claims,
      alg,
      withGrantedClaims,
      proof,
    };
    const response = await mint(keySet, order, now);
    if (response === undefined) return refused('the signing key was dropped', ANEW);
    traceTokens(parts, authenticated, redeemed.code, { familyId, code: parameters.get('code') ?? '', now });
    if (client.grantTypes.includes('refresh_token')) return response;
    // No refresh token for a client that may not use one.
    const { refresh_token: _, ...rest } = response;
    return rest;
  });
};

function traceTokens(
  { traces }: TokenServices,
  { client, origin }: AuthenticatedClient,
  { accountId, scopes }: CodeRecord,
  { familyId, code, now }: { readonly familyId: string; readonly code: string; readonly now: number },
): void {
  traces.completed.push({
    at: now,
    requestId: origin.requestId,
    step: 'token',
    clientId: client.id,
    accountId,
    flow: digest(code),
    leadsTo: familyId,
    facts: { description: `Tokens were issued for the scopes ${scopes}.` },
  });
}

const UNKNOWN = 'the code is unknown or was used before';
const REPLAYED = 'the code was exchanged before, and the tokens from it are revoked now';
const DOUBLE_CALLBACK =
  'Look for a double callback: a reloaded or prefetched callback page, React StrictMode, a retry, or two handlers.';
const ANEW = 'Send the user through authorization again.';
const SIGN_IN_ENDED = 'the sign-in that it came from has ended';

const ALL_WITHDRAWN = 'the user has withdrawn every scope that it was issued for';

/**
 * @param remedy what to do
 * @param cause for the log, where it says more than the client may know
 */
const refused = (reason: string, remedy: string, cause = reason): OAuthError =>
  invalidGrant(`The code was refused: ${reason}. ${remedy}`, cause).withDetail({
    ...UNUSED_CODE,
    received: cause,
    remedy,
  });

const UNUSED_CODE = {
  rule: 'RFC 6749 §4.1.2',
  expected: 'a code that this service issued to this client, and that was not exchanged before',
};

/** What {@link redeem} gets beside the request. */
interface RedeemContext {
  readonly rules: EndpointRules;
  readonly familyId: string;
  readonly keySet: KeySet;
  readonly now: number;
}

function* redeem(
  parts: TokenServices,
  authenticated: AuthenticatedClient,
  parameters: Parameters,
  { rules, familyId, keySet, now }: RedeemContext,
): Work<RedeemedCode | OAuthError> {
  const { client, proof, origin } = authenticated;
  const limited = yield* countRequest(parts, authenticated, now);
  if (limited !== undefined) return limited;

  const presented = parameters.get('code');
  const redirectUri = parameters.get('redirect_uri');
  if (presented === undefined) return missingParameter(parameters, 'code', 'send the code from the redirect.');
  if (redirectUri === undefined) {
    return missingParameter(parameters, 'redirect_uri', 'repeat the one of the authorization request.');
  }
  // An empty verifier is a wrong one, not an absent one.
  const codeVerifier = parameters.has('code_verifier') ? (parameters.get('code_verifier') ?? '') : undefined;
  const requested = requestedResources(parameters);
  if (requested instanceof OAuthError) return requested;

  const hash = digest(presented);
  const code = yield* lockCode({ hash });
  const event = { at: now, origin, clientId: client.id };
  if (code === undefined) {
    yield* record({ ...event, type: 'token.refused', outcome: 'failure', details: { reason: UNKNOWN } });
    return refused(UNKNOWN, describeUnknownCode(presented));
  }
  requireVersion(keySet, code.keyVersion);
  const about = { ...event, accountId: code.accountId };

  const { endpointSet } = rules;
  const presentation = {
    endpointSet,
    clientId: client.id,
    redirectUri,
    codeVerifier,
    pkceRequired: proof.kind === 'public',
  };
  const result = redemption(code, presentation, now);
  if (result.kind === 'refuse') {
    const type = result.foreignClient ? 'token.foreign_client' : 'token.refused';
    yield* record({ ...about, type, outcome: 'failure', details: { reason: result.reason } });
    const { reason, detail = {}, foreignClient } = result;
    if (foreignClient) return refused(UNKNOWN, describeUnknownCode(presented), reason);
    return refused(reason, detail.remedy ?? ANEW).withDetail(detail);
  }
  if (result.kind === 'replay') {
    if (code.familyId !== null) yield* revokeFamily({ familyId: code.familyId, reason: 'code replayed', now });
    yield* record({ ...about, type: 'token.code_replayed', outcome: 'failure', details: { familyId: code.familyId } });
    // In the order of the verdict, expiry comes before the state of the account.
    if (code.expiresAt <= now) return refused(REPLAYED, DOUBLE_CALLBACK, 'code replayed');
  }
  const verdict = judge(code.state, code.inherited, now);
  if (verdict.kind !== 'live') {
    yield* record({ ...about, type: 'token.refused', outcome: 'failure', details: { reason: verdict.kind } });
    return refuseGrant(verdict, `The code was refused: ${SIGN_IN_ENDED}. ${ANEW}`, rules.invalidGrantInsteadOf403);
  }
  if (result.kind === 'replay') return refused(REPLAYED, DOUBLE_CALLBACK, 'code replayed');
  if (code.scopes === '') {
    yield* record({ ...about, type: 'token.refused', outcome: 'failure', details: { reason: ALL_WITHDRAWN } });
    return refused(ALL_WITHDRAWN, ANEW);
  }
  // RFC 8707 §2.2. The code stays valid.
  const resources = yield* grantedResources(parts, code.resources, requested);
  if (resources === undefined) {
    const reason = 'a resource that was not granted';
    yield* record({ ...about, type: 'token.refused', outcome: 'failure', details: { reason } });
    return unknownResource();
  }

  const endsAt = now + FAMILY_LIFETIME * SECOND;
  const refreshToken = newRefreshToken(keySet, now, endsAt);
  yield* insertFamily({
    id: familyId,
    endpointSet: code.endpointSet,
    grantId: code.grantId,
    accountId: code.accountId,
    clientId: client.id,
    ...code.inherited,
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
  });
  // The row is locked, so this succeeds. If it ever does not, the whole unit of work must be undone.
  if (!(yield* spendCode({ hash, familyId, now }))) throw new Error('a locked code was spent by another');
  yield* record({ ...about, type: 'token.issued', details: { familyId, scope: code.scopes } });
  return { code, resources, refreshToken };
}
