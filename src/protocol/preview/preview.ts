import type { AppAccess } from '../../access/rules/app-access.ts';
import { readAppAccess } from '../../account-actions/access/app-access.ts';
import { userNotFound } from '../../account-actions/accounts/accounts.ts';
import { type Account, findAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { authenticationContext } from '../../authenticators/rules/authentication-context.ts';
import { type EndpointRules, type EndpointSet, endpointRulesOf } from '../../claims/endpoint-set.ts';
import { readMemberClaims } from '../../claims/member-claims.ts';
import { memberScopes, memberScopesOf, parseResources, storedScopes } from '../../claims/permissions.ts';
import { sentScope } from '../../claims/rules/api-scopes.ts';
import { describeLeftOut, type LeftOut, leftOutOfUserInfo } from '../../claims/rules/member-claims.ts';
import { pictureUrl, standardClaims, userInfo } from '../../claims/rules/userinfo.ts';
import { clientNotFound } from '../../clients/clients.ts';
import { findUnregistered } from '../../clients/resources.ts';
import { presentsSecret } from '../../clients/rules/registration.ts';
import { type Client, findClient, listApiScopes } from '../../clients/store.ts';
import { grantedScopes } from '../../consent/rules/consent.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { type AskedClaims, checkClaims } from '../authorize/rules/check-request.ts';
import { type ApiScopeContext, type CheckedScopes, checkScopes } from '../authorize/rules/check-scopes.ts';
import { refuseByRedirect } from '../authorize/rules/refusals.ts';
import type { RedirectedError } from '../authorize/rules/request.ts';
import { givesGrantedClaims, idTokenAlg, missingInIdToken } from '../token/grant.ts';
import { aboutPerson, activeResponse } from '../token/introspection.ts';
import { accessAudience, accessClaims, idClaims, readAnyClaims, type Subject } from '../token/rules/claims.ts';
import { readMore } from '../userinfo/routes.ts';

type Claims = Readonly<Record<string, unknown>>;

/** What the tokens of a person would say in an app, from one set of endpoints. */
export interface EndpointPreview {
  readonly endpointSet: EndpointSet;
  /** Why a request for these scopes would be refused; null where it would not. */
  readonly error: { readonly error: string; readonly description: string } | null;
  /** The scopes that the tokens would have. */
  readonly scope: string;
  /** The requested scopes that the endpoints would ignore. */
  readonly ignoredScopes: readonly string[];
  /** Null without the scope `openid`, as is UserInfo at the OIDC endpoints. */
  readonly idToken: Claims | null;
  readonly userinfo: object | null;
  readonly introspection: object | null;
  readonly leftOut: readonly (LeftOut & { readonly message: string })[];
}

export interface Preview {
  readonly access: AppAccess;
  readonly endpoints: readonly EndpointPreview[];
}

/** The claims that each sign-in or token has of its own. */
export const PER_TOKEN: readonly string[] = [
  ...['iat', 'exp', 'jti', 'at_hash'],
  ...['sid', 'family', 'auth_time', 'amr', 'acr', 'nonce'],
];

const withoutOwn = (claims: object): Claims =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => !PER_TOKEN.includes(name)));

/** What the app would ask for: parameters of an authorization request, each undefined or empty where it is not sent. */
interface AskedParameters {
  readonly scope?: string | undefined;
  readonly resource?: readonly string[] | undefined;
  readonly claims?: string | undefined;
}

/**
 * What ID token, UserInfo and introspection would say of a person in an app, if the app asked for this and the person allowed all of
 * it. The functions that issue and answer compute it; nothing is issued.
 * @throws {OAuthError} `not_found`
 */
export function previewTokens(
  { database, clock, issuer }: { readonly database: Database; readonly clock: Clock; readonly issuer: string },
  { clientId, accountId, ...asked }: AskedParameters & { readonly clientId: string; readonly accountId: string },
  origin: Origin,
): Promise<Preview> {
  const now = clock();
  return database.commit(function* preview(): Work<Preview> {
    const client = yield* findClient({ id: clientId });
    if (client === undefined) throw clientNotFound(clientId);
    const account = yield* findAccount({ id: accountId });
    if (account === undefined) throw userNotFound(accountId);
    const access = yield* readAppAccess(client, accountId, now);
    const endpoints: EndpointPreview[] = [];
    for (const endpointSet of client.endpoints) {
      const rules = endpointRulesOf(endpointSet, client);
      endpoints.push(yield* previewAt(rules, client, account, { ...asked, issuer, now }));
    }
    const details = { scope: asked.scope ?? null };
    yield* record({ at: now, type: 'access.previewed', origin, clientId, accountId, details });
    return { access, endpoints };
  });
}

interface PreviewRequest extends AskedParameters {
  readonly issuer: string;
  readonly now: number;
}

function* previewAt(
  rules: EndpointRules,
  client: Client,
  account: Account,
  request: PreviewRequest,
): Work<EndpointPreview> {
  const { endpointSet } = rules;
  const { issuer, now } = request;
  const registered = rules.apiScopes ? yield* listApiScopes({ clientId: client.id }) : [];
  const own = accessAudience(issuer);
  const asked = yield* checkAsked(rules, client, account, request, { registered, own });
  if ('kind' in asked) {
    const { error, description } = asked;
    const nothing = { idToken: null, userinfo: null, introspection: null, leftOut: [] };
    return { endpointSet, error: { error, description }, scope: '', ignoredScopes: [], ...nothing };
  }
  const { claims } = asked;
  const ofUserInfo = claims?.userinfo ?? [];
  const resources = asked.resources.length === 0 ? null : asked.resources;
  const scope = sentScope(grantedScopes(asked.scopes, new Set(asked.scopes), rules), registered, resources);
  const scopes = storedScopes(scope);
  const { id: accountId, profile, createdAt, updatedAt } = account;
  const { claimNames, metadataUrl } = client;
  const of = { accountId, clientId: client.id };
  const { organization = null, member = {} } = yield* readMore(of, scopes, memberScopes(scope, claims));
  const shared =
    claims === null ? member : yield* readMemberClaims(client, accountId, memberScopesOf(scopes, ofUserInfo));

  const subject: Subject = {
    ...of,
    ...authenticationContext(['password']),
    ...{ issuer, profile, updatedAt, member, claimNames, metadataUrl },
    ...{ familyId: NO_FAMILY, sid: '', authTime: now },
    picture: pictureUrl(issuer, accountId, profile.picture),
  };
  const alg = idTokenAlg(
    { client, proof: { kind: presentsSecret(client) ? 'secret' : 'public' } },
    rules.defaultIdTokenAlg,
  );
  const idToken = idClaims(
    subject,
    {
      ...{ rules, scopes, alg, withGrantedClaims: givesGrantedClaims(rules, client) },
      ...{ accessToken: '', nonce: null, claims, random: '' },
    },
    now,
  );
  const token = readAnyClaims(
    accessClaims(subject, { rules, scope, claims, resources }, 'preview', now),
    'access',
    issuer,
    now,
  );
  if (token === undefined || token.accountId === null) throw new Error('the claims of an access token are not read');
  const active = yield* aboutPerson(token, { endpointSet, profile }, subject);
  const person = { id: accountId, profile, organization, createdAt, updatedAt, ...shared };
  const leftOut = [...missingInIdToken({ client, rules }, { scope, claims, member }), ...leftOutOfUserInfo(shared)];
  const hasOpenId = scopes.has('openid');
  const isForUserInfo = resources === null || resources.includes(own);
  const standard = hasOpenId ? standardClaims(person, scopes, rules.claimScopes, issuer, ofUserInfo, claimNames) : null;
  return {
    endpointSet,
    error: null,
    scope,
    ignoredScopes: asked.leftOut,
    idToken: hasOpenId ? withoutOwn(idToken) : null,
    userinfo: isForUserInfo ? (endpointSet === 'v2' ? userInfo(person, scopes, issuer) : standard) : null,
    introspection: withoutOwn(activeResponse(token, active, { isOwn: true, kind: 'access', issuer })),
    leftOut: leftOut.map((left) => ({ ...left, message: describeLeftOut(left, client.groupsClaim) })),
  };
}

/** What the request comes to, by the rules of the authorization endpoint; or its refusal there. */
function* checkAsked(
  rules: EndpointRules,
  client: Client,
  account: Account,
  { scope, resource = [], claims: text, issuer }: PreviewRequest,
  apis: ApiScopeContext,
): Work<(CheckedScopes & Pick<AskedClaims, 'claims'>) | RedirectedError> {
  const named = parseResources(resource);
  const asked = checkScopes(scope, client, rules, named ?? [], apis);
  if ('kind' in asked) return asked;
  if (named === undefined) return refuseByRedirect('resource malformed');
  const single = checkClaims(text, undefined, client, rules);
  if ('kind' in single) return single;
  const unknown = yield* findUnregistered(asked.resources, { issuer, own: apis.own });
  if (unknown !== undefined) return refuseByRedirect('resource unknown', unknown);
  if (single.subjects?.includes(account.id) === false) return refuseByRedirect('another user');
  return { ...asked, claims: single.claims };
}

/** It has the form of an id. No family has it. */
const NO_FAMILY = '1';
