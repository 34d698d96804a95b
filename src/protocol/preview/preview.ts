import type { AppAccess } from '../../access/rules/app-access.ts';
import { readAppAccess } from '../../account-actions/access/app-access.ts';
import { userNotFound } from '../../account-actions/accounts/accounts.ts';
import { type Account, findAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { authenticationContext } from '../../authenticators/rules/authentication-context.ts';
import { type EndpointRules, type EndpointSet, endpointRulesOf } from '../../claims/endpoint-set.ts';
import { memberScopesOf, storedScopes } from '../../claims/permissions.ts';
import { sentScope } from '../../claims/rules/api-scopes.ts';
import { describeLeftOut, type LeftOut, leftOutOfUserInfo } from '../../claims/rules/member-claims.ts';
import { pictureUrl, standardClaims, userInfo } from '../../claims/rules/userinfo.ts';
import { clientNotFound } from '../../clients/clients.ts';
import { presentsSecret } from '../../clients/rules/registration.ts';
import { type Client, findClient, listApiScopes } from '../../clients/store.ts';
import { grantedScopes } from '../../consent/rules/consent.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { checkScopes } from '../authorize/rules/check-scopes.ts';
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

/**
 * What ID token, UserInfo and introspection would say of a person in an app, if the app asked for these scopes and the person allowed
 * them all. The functions that issue and answer compute it; nothing is issued.
 * @param scope as in an authorization request; undefined for its default
 * @throws {OAuthError} `not_found`
 */
export function previewTokens(
  { database, clock, issuer }: { readonly database: Database; readonly clock: Clock; readonly issuer: string },
  {
    clientId,
    accountId,
    scope,
  }: { readonly clientId: string; readonly accountId: string; readonly scope?: string | undefined },
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
      endpoints.push(yield* previewAt(endpointRulesOf(endpointSet, client), client, account, { scope, issuer, now }));
    }
    const details = { scope: scope ?? null };
    yield* record({ at: now, type: 'access.previewed', origin, clientId, accountId, details });
    return { access, endpoints };
  });
}

interface PreviewRequest {
  readonly scope: string | undefined;
  readonly issuer: string;
  readonly now: number;
}

function* previewAt(
  rules: EndpointRules,
  client: Client,
  account: Account,
  { scope: requested, issuer, now }: PreviewRequest,
): Work<EndpointPreview> {
  const { endpointSet } = rules;
  const registered = rules.apiScopes ? yield* listApiScopes({ clientId: client.id }) : [];
  const apis = { registered, own: accessAudience(issuer) };
  const asked = checkScopes(requested, client, rules, [], apis);
  if ('kind' in asked) {
    const { error, description } = asked;
    const nothing = { idToken: null, userinfo: null, introspection: null, leftOut: [] };
    return { endpointSet, error: { error, description }, scope: '', ignoredScopes: [], ...nothing };
  }
  const resources = asked.resources.length === 0 ? null : asked.resources;
  const scope = sentScope(grantedScopes(asked.scopes, new Set(asked.scopes), rules), registered, resources);
  const scopes = storedScopes(scope);
  const { id: accountId, profile, createdAt, updatedAt } = account;
  const { claimNames } = client;
  const of = { accountId, clientId: client.id };
  const { organization = null, member = {} } = yield* readMore(of, scopes, memberScopesOf(scopes, []));

  const subject: Subject = {
    ...of,
    ...authenticationContext(['password']),
    ...{ issuer, profile, updatedAt, member, claimNames },
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
      ...{ accessToken: '', nonce: null, claims: null, random: '' },
    },
    now,
  );
  const token = readAnyClaims(
    accessClaims(subject, { rules, scope, claims: null, resources }, 'preview', now),
    'access',
    issuer,
    now,
  );
  if (token === undefined || token.accountId === null) throw new Error('the claims of an access token are not read');
  const active = yield* aboutPerson(token, { endpointSet, profile }, subject);
  const person = { id: accountId, profile, organization, createdAt, updatedAt, ...member };
  const leftOut = [
    ...missingInIdToken({ client, rules }, { scope, claims: null, member }),
    ...leftOutOfUserInfo(member),
  ];
  const hasOpenId = scopes.has('openid');
  const standard = hasOpenId ? standardClaims(person, scopes, rules.claimScopes, issuer, [], claimNames) : null;
  return {
    endpointSet,
    error: null,
    scope,
    ignoredScopes: asked.leftOut,
    idToken: hasOpenId ? withoutOwn(idToken) : null,
    userinfo: endpointSet === 'v2' ? userInfo(person, scopes, issuer) : standard,
    introspection: withoutOwn(activeResponse(token, active, { isOwn: true, kind: 'access', issuer })),
    leftOut: leftOut.map((left) => ({ ...left, message: describeLeftOut(left, client.groupsClaim) })),
  };
}

/** It has the form of an id. No family has it. */
const NO_FAMILY = '1';
