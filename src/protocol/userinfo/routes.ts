import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AuditEvent } from '../../audit/audit.ts';
import type { RecordThrottled } from '../../audit/throttle.ts';
import { ENDPOINT_RULES, type EndpointSet } from '../../claims/endpoint-set.ts';
import { readMemberClaims } from '../../claims/member-claims.ts';
import { memberScopesOf, remainingNames, storedScopes } from '../../claims/permissions.ts';
import { leftOutOfUserInfo, type MemberClaims } from '../../claims/rules/member-claims.ts';
import { type MemberClaimNames, type Person, standardClaims, userInfo } from '../../claims/rules/userinfo.ts';
import { type Client, findClient } from '../../clients/store.ts';
import { readTokenHolder, type TokenHolder } from '../../credentials/token-family-store.ts';
import type { AsymmetricAlg } from '../../keys/algorithms.ts';
import { type Keys, requireVersion, withCurrentKeys } from '../../keys/keys.ts';
import { type SignedToken, verifyToken } from '../../keys/tokens.ts';
import { take } from '../../limits/limits.ts';
import type { Limits } from '../../limits/settings.ts';
import { findMembership, type Membership } from '../../organizations/store.ts';
import { type Clock, numericDate, SECOND } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { sentAuthorizations } from '../../platform/http/authorizations.ts';
import { acceptForms, formOf } from '../../platform/http/bodies.ts';
import type { RequestSubject } from '../../platform/http/errors.ts';
import { queryOf, readByHandler } from '../../platform/http/parameters.ts';
import { invalidToken, OAuthError, rateLimited } from '../../platform/oauth-error.ts';
import { originOf } from '../../platform/validation/origin.ts';
import type { TraceRecorder } from '../../traces/recorder.ts';
import type { StepFacts } from '../../traces/step.ts';
import { judge } from '../../verdict/rules.ts';
import { bearerToken } from '../token/bearer.ts';
import { reportLeftOut } from '../token/left-out.ts';
import { tokenFault } from '../token/misuse.ts';
import { refuseToken } from '../token/refuse-verdict.ts';
import { readAnyClaims, readClaims, type VerifiedToken } from '../token/rules/claims.ts';
import { refuseUserInfo } from './refusals.ts';
import { postStandardClaimsSchema, readStandardClaimsSchema, readUserInfoSchema } from './route-schemas.ts';

/** HB-04: browser apps may read it. */
const PAGES = { config: { readers: 'registered' } } as const;

interface UserInfoParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly keys: Keys;
  readonly issuer: string;
  readonly limits: Limits;
  readonly recordThrottled: RecordThrottled;
  readonly traces: Pick<TraceRecorder, 'completed' | 'isFirstAnswer'>;
}

/** UserInfo in two forms: the contract's (§4.3), and standard claims for ordinary OpenID Connect clients. */
export function userInfoRoutes(app: FastifyInstance, parts: UserInfoParts): void {
  app.get(ENDPOINT_RULES.v2.userinfoPath, { ...PAGES, schema: readUserInfoSchema }, async (request, reply) => {
    const token = tokenOfHeader(request);
    const { person, scopes } = await readUser(parts, token, request, ['v2']);
    return reply
      .header('cache-control', 'no-store')
      .type('application/json')
      .send(JSON.stringify(userInfo(person, scopes, parts.issuer)));
  });

  app.register(async (standard) => {
    acceptForms(standard);
    // The handler reads the body, because a repeated token has its own error message.
    standard.setValidatorCompiler(readByHandler);
    const { userinfoPath } = ENDPOINT_RULES.oidc;
    standard.get(userinfoPath, { ...PAGES, schema: readStandardClaimsSchema }, answer);
    standard.post(userinfoPath, { ...PAGES, schema: postStandardClaimsSchema }, answer);
  });

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const token = oneToken(request);
    const user = await readUser(parts, token, request, ['v2', 'oidc']).catch(asInvalidToken);
    const { person, endpointSet, scopes } = user;
    if (!scopes.has('openid')) throw refuseUserInfo('scope openid missing');
    const { claimScopes } = ENDPOINT_RULES[endpointSet];
    const claims = standardClaims(person, scopes, claimScopes, parts.issuer, user.claims, user.claimNames);
    const { userinfoAlg, id } = user.client;
    reply.header('cache-control', 'no-store');
    if (userinfoAlg === null) return reply.type('application/json').send(JSON.stringify(claims));
    return reply.type('application/jwt').send(await signedAnswer(parts, userinfoAlg, id, claims));
  }
}

/** What UserInfo answers from. */
interface ReadUser {
  /** The set of endpoints that the token was issued on. */
  readonly endpointSet: EndpointSet;
  readonly person: Person & MemberClaims;
  /** What the app calls the claims of groups and roles. */
  readonly claimNames: MemberClaimNames;
  readonly scopes: ReadonlySet<string>;
  /** Single granted claims, for the standard form. */
  readonly claims: readonly string[];
  readonly client: { readonly id: string; readonly userinfoAlg: AsymmetricAlg | null };
}

const INVALID = { kind: 'invalid', reason: 'not on record' } as const;

/**
 * The user of an access token, with those of its scopes and single claims that are still granted, by the present state of the
 * database.
 * @param accepted the sets of endpoints whose tokens the endpoint accepts
 * @throws {OAuthError} 401 `invalid_token`, 403 `access_denied` or 429 `rate_limit_exceeded`
 */
const readUser = (
  parts: UserInfoParts,
  presented: string,
  request: FastifyRequest,
  accepted: readonly EndpointSet[],
): Promise<ReadUser> =>
  withCurrentKeys(parts.keys, async () => {
    const { database, clock, keys, issuer, limits, recordThrottled } = parts;
    const now = clock();
    const refused = (event: Pick<AuditEvent, 'type'> & Partial<AuditEvent>) =>
      recordThrottled({ at: now, outcome: 'failure', origin: originOf(request), ...event });
    const signed = await verifyToken(keys, 'access', presented);
    const token = signed && readClaims(signed.claims, 'access', issuer, now);
    if (signed === undefined || token === undefined) {
      const fault = await tokenFault(keys, 'access', presented, { signed, issuer, now });
      request.subject = subjectOf(signed, issuer);
      if (fault.misuse !== undefined) await refused(fault.misuse);
      throw refuseUserInfo('not an access token', { fault });
    }
    const { accountId, clientId, familyId } = token;
    request.subject = { clientId, accountId, proof: 'token', flow: familyId };
    if (limits.userinfo !== null) {
      const about = { name: 'userinfo', origin: originOf(request), clientId } as const;
      const seconds = await database.commit(() => take(`userinfo ${clientId}`, limits.userinfo, now, about));
      if (seconds > 0) return rateLimited(seconds);
    }
    const scopes = storedScopes(token.scope);
    const found = await database.read(() => readHolder(token, scopes));
    // Deleting an account or client deletes its families.
    if (found === undefined) {
      await refused({ type: 'token.refused', details: { reason: 'not on record' } });
      return refuseToken(INVALID);
    }
    requireVersion(signed.keySet, found.keyVersion);
    const { endpointSet } = found;
    if (!accepted.includes(endpointSet)) {
      const reason = 'a token of the other endpoints';
      await refused({ type: 'token.wrong_kind', accountId, clientId, details: { reason, familyId } });
      return refuseUserInfo('token of the other endpoints', { issuedBy: endpointSet });
    }
    const verdict = judge(found.state, found.inherited, now);
    if (verdict.kind !== 'live') {
      const reason = verdict.kind === 'invalid' ? verdict.reason : verdict.kind;
      await refused({ type: 'token.refused', accountId, clientId, details: { reason, familyId } });
      return refuseToken(verdict);
    }
    const { profile, createdAt, updatedAt, userinfoAlg, withdrawn, organization = null, member, client } = found;
    // Of a request that is refused for its scopes there is no first answer.
    const isAnswered = endpointSet === 'v2' || scopes.has('openid');
    if (request.method !== 'HEAD' && isAnswered) {
      const mayBeShort = member !== undefined && client !== undefined;
      const explained = mayBeShort ? await reportLeftOut(database, client, leftOutOfUserInfo(member), now) : {};
      if (parts.traces.isFirstAnswer(familyId)) traceFirst(parts, request, token, explained, now);
    }
    return {
      endpointSet,
      person: { id: accountId, profile, organization, createdAt, updatedAt, ...member },
      claimNames: client?.claimNames ?? null,
      scopes: withdrawn.size === 0 ? scopes : scopes.difference(withdrawn),
      client: { id: clientId, userinfoAlg },
      claims: remainingNames(token.claims, withdrawn),
    };
  });

/** Whom a token with our signature is about that is not accepted, such as an expired one. */
function subjectOf(signed: SignedToken | undefined, issuer: string): RequestSubject | undefined {
  const { iat, exp } = signed?.claims ?? {};
  // Read at a time before it was issued, it would look as if this clock were behind.
  if (signed === undefined || typeof iat !== 'number' || typeof exp !== 'number' || iat >= exp) return undefined;
  const token = readAnyClaims(signed.claims, signed.kind, issuer, (exp - 1) * SECOND);
  if (token === undefined) return undefined;
  const { clientId, accountId } = token;
  return accountId === null
    ? { clientId, proof: 'token' }
    : { clientId, accountId, proof: 'token', flow: token.familyId };
}

/** Records the first answer of a family for its trace. */
function traceFirst(
  { traces }: UserInfoParts,
  request: FastifyRequest,
  { clientId, accountId, familyId, scope }: VerifiedToken,
  explained: Pick<StepFacts, 'reason' | 'remedy'>,
  at: number,
): void {
  const { method, routeOptions } = request;
  const description = `The first answer of these tokens, for ${scope}.`;
  const facts = { method, path: routeOptions.url, description, ...explained };
  traces.completed.push({ at, requestId: request.id, step: 'userinfo', clientId, accountId, flow: familyId, facts });
}

/** What UserInfo reads beside the holder of a token. */
interface MoreOfPerson {
  readonly organization?: Membership | undefined;
  readonly member?: MemberClaims;
  /** The client, where groups or roles are granted. */
  readonly client?: Client;
}

function* readHolder(
  token: VerifiedToken,
  scopes: ReadonlySet<string>,
): Work<(TokenHolder & MoreOfPerson) | undefined> {
  const holder = yield* readTokenHolder(token);
  if (holder === undefined) return undefined;
  const asked = memberScopesOf(scopes, token.claims).difference(holder.withdrawn);
  if (!scopes.has('organization.read') && asked.size === 0) return holder;
  return { ...holder, ...(yield* readMore(token, scopes, asked)) };
}

/**
 * The organization, groups and roles of a person. They are read only for the few tokens that have their scopes.
 * @param asked those of `MEMBER_SCOPES` whose claims are granted
 */
export function* readMore(
  { accountId, clientId }: { readonly accountId: string; readonly clientId: string },
  scopes: ReadonlySet<string>,
  asked: ReadonlySet<string>,
): Work<MoreOfPerson> {
  const organization = scopes.has('organization.read') ? yield* findMembership({ accountId }) : undefined;
  const client = asked.size === 0 ? undefined : yield* findClient({ id: clientId });
  if (client === undefined) return { organization };
  return { organization, member: yield* readMemberClaims(client, accountId, asked), client };
}

/**
 * OpenID Connect Core 1.0 §5.3.2: the claims as a JWT, for the client of the token only. An ID token must have `exp` (§2); this
 * has none, so that it cannot be mistaken for one.
 */
async function signedAnswer(
  { keys, issuer, clock }: Pick<UserInfoParts, 'keys' | 'issuer' | 'clock'>,
  alg: AsymmetricAlg,
  clientId: string,
  claims: Readonly<Record<string, unknown>>,
): Promise<string> {
  const keySet = await keys.ready(alg);
  const now = clock();
  const key = keySet.signer(alg, now);
  if (key === undefined) throw new Error(`no key signs with ${alg}`);
  return key.sign({ ...claims, iss: issuer, aud: clientId, iat: numericDate(now) }, 'JWT');
}

/** RFC 6750 §3.1: standard clients look for one error code, of revoked and otherwise invalid tokens alike. */
function asInvalidToken(error: unknown): never {
  if (!(error instanceof OAuthError) || error.status !== 403) throw error;
  throw invalidToken(error.message, error.reason).withDetail(error.detail ?? {});
}

/** RFC 6750 §2: the token from the header or, in a POST, from the form; never from the query, never both. */
function oneToken(request: FastifyRequest): string {
  const { authorization } = request.headers;
  const [query, form] = [queryOf(request), formOf(request)];
  const inForm = form.get('access_token');
  if (query.has('access_token')) throw refuseUserInfo('token in the address');
  if (form.repeated.has('access_token')) throw refuseUserInfo('token sent twice');
  if (inForm === undefined) return bearerToken(authorization, () => sentAuthorizations(request));
  if (authorization !== undefined) throw refuseUserInfo('token sent twice');
  if (!/^\S+$/.test(inForm)) throw refuseUserInfo('white space in the form');
  return inForm;
}

/** The token of the header; one in the address is refused beside it (RFC 6750 §2), and no token at all without it. */
function tokenOfHeader(request: FastifyRequest): string {
  const { authorization } = request.headers;
  const isMisplaced = queryOf(request).has('access_token');
  if (isMisplaced && authorization === undefined) throw refuseUserInfo('token only in the address');
  const token = bearerToken(authorization, () => sentAuthorizations(request));
  if (isMisplaced) throw refuseUserInfo('token sent twice');
  return token;
}
