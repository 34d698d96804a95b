import { ENDPOINT_RULES } from '../../claims/endpoint-set.ts';
import { readMemberClaims } from '../../claims/member-claims.ts';
import { hasApiScopes, memberScopesOf, SCOPES, storedScopes } from '../../claims/permissions.ts';
import { type LiveScopes, liveScope, liveScopes } from '../../claims/rules/api-scopes.ts';
import { isOwnResource } from '../../clients/resources.ts';
import { markedResource } from '../../clients/rules/resource-mark.ts';
import { type Client, findClient, listApiScopes } from '../../clients/store.ts';
import { readClientToken } from '../../credentials/client-token-store.ts';
import { readFamily, type TokenFamily } from '../../credentials/token-family-store.ts';
import { requireVersion, withCurrentKeys } from '../../keys/keys.ts';
import { type TokenKind, verifyAnyToken } from '../../keys/tokens.ts';
import { numericDate } from '../../platform/clock.ts';
import type { Work } from '../../platform/database/database.ts';
import { judge, judgeClientToken } from '../../verdict/rules.ts';
import type { AuthenticatedClient } from '../client-authentication/authenticate.ts';
import type { TokenServices } from './grant.ts';
import { tokenFault } from './misuse.ts';
import { type InactiveToken, inactiveByVerdict, inactiveToken } from './refusals/introspection.ts';
import { audienceClaim, readAnyClaims, type VerifiedClientToken, type VerifiedToken } from './rules/claims.ts';
import { rotation } from './rules/refresh.ts';

/** RFC 7662 §2.2. The response about an inactive token says nothing else. */
export type Introspection = { readonly active: false } | ({ readonly active: true } & ActiveToken);

interface ActiveToken {
  /** Absent where the token has none that concerns the client that asks. */
  readonly scope?: string;
  readonly client_id: string;
  readonly username?: string;
  /** Only for an access token: a refresh token gives no access. */
  readonly token_type?: 'Bearer';
  readonly exp: number;
  readonly iat: number;
  readonly sub: string;
  readonly aud: string | readonly string[];
  readonly iss: string;
  readonly jti: string;
  /** RFC 9470 §6.2: how and when the person authenticated, for an access token of a person. */
  readonly acr?: string;
  readonly amr?: readonly string[];
  readonly auth_time?: number;
}

/** What introspection found out: the response, and why the token is not active, for the operator only. */
export interface IntrospectedToken {
  readonly response: Introspection;
  readonly inactive?: InactiveToken;
}

const answerInactive = (inactive: InactiveToken): IntrospectedToken => ({ response: { active: false }, inactive });

/**
 * RFC 7662: whether a token would be accepted now, by the same verdict as on every route. A client may ask about its own tokens,
 * and a resource server about access tokens for it. Any other token gets the same response as an invalid one.
 */
export async function introspect(
  { keys, clock, database, issuer, recordThrottled }: TokenServices,
  { client, origin }: AuthenticatedClient,
  presented: string,
): Promise<IntrospectedToken> {
  return withCurrentKeys(keys, async () => {
    const now = clock();
    const signed = await verifyAnyToken(keys, presented);
    const token = signed && readAnyClaims(signed.claims, signed.kind, issuer, now);
    if (signed === undefined || token === undefined) {
      const fault = await tokenFault(keys, signed?.kind ?? 'access', presented, { signed, issuer, now });
      return answerInactive(inactiveToken('not a valid token', { fault }));
    }
    const { kind, keySet } = signed;
    const isOwn = token.clientId === client.id;
    if (!isOwn && !isFor(client, kind, token, issuer)) {
      const inactive =
        kind === 'refresh'
          ? inactiveToken('refresh token of another client')
          : inactiveToken('token for another audience', {
              audience: token.audience,
              resource: client.resource,
              clientId: client.id,
            });
      const about = { clientId: client.id, accountId: token.accountId, details: { reason: inactive.reason } };
      await recordThrottled({ at: now, type: 'token.foreign_client', outcome: 'failure', origin, ...about });
      return answerInactive(inactive);
    }
    const api = isOwn ? undefined : client;
    const found = await database.read(() =>
      token.accountId === null ? readOfClient(token, api, now) : readOfAccount(kind, token, api, now),
    );
    if (found === undefined) return answerInactive(inactiveToken('token not on record'));
    requireVersion(keySet, found.keyVersion);
    if ('inactive' in found) return answerInactive(found.inactive);
    const { scopes } = found;
    const live = isOwn ? found.live : withScope(found.live, scopeFor(client, scopes));
    return { response: activeResponse(token, { ...found, live }, { isOwn, kind, issuer }) };
  });
}

/** RFC 7662 §2.2: the response about an active token. Only its own client learns what it says of the person. */
export const activeResponse = (
  token: VerifiedToken | VerifiedClientToken,
  { live, username, member }: AboutActive,
  { isOwn, kind, issuer }: { readonly isOwn: boolean; readonly kind: TokenKind; readonly issuer: string },
): Introspection => ({
  ...(isOwn && member),
  active: true,
  client_id: token.wireClientId,
  ...live,
  ...(isOwn && username !== undefined && { username }),
  ...(kind === 'access' && { token_type: 'Bearer' }),
  exp: token.expiresAt,
  iat: token.issuedAt,
  aud: audienceClaim(token.audience) ?? '',
  iss: issuer,
  jti: token.jti,
});

/** RFC 8707 §3: whether an access token is for the resource that this client is registered as. */
function isFor({ resource }: Client, kind: TokenKind, { audience }: Pick<VerifiedToken, 'audience'>, issuer: string) {
  return resource !== null && !isOwnResource(resource, issuer) && kind === 'access' && audience.includes(resource);
}

/** The scopes that concern an API: its own, or those about the person for one that declares none. */
const scopeFor = ({ id, resourceScopes }: Client, { ofPerson, ofApis }: LiveScopes): string =>
  resourceScopes === null
    ? ofPerson.join(' ')
    : liveScope({ ofPerson: [], ofApis: ofApis.filter(({ apiId }) => apiId === id) });

const withScope = ({ scope: _, ...live }: AboutActive['live'], scope: string): AboutActive['live'] => ({
  ...live,
  ...(scope !== '' && { scope }),
});

/** What the response about an active token says beyond the token's claims. */
interface AboutActive {
  readonly live: Pick<ActiveToken, 'scope' | 'sub' | 'acr' | 'amr' | 'auth_time'>;
  readonly username?: string;
  /** The groups and roles of the person in the app, by the names that the app gives them. */
  readonly member?: Readonly<Record<string, unknown>>;
}

/** What the database says about a token. */
type TokenStatus = { readonly keyVersion: string } & (
  | (AboutActive & { readonly scopes: LiveScopes })
  | { readonly inactive: InactiveToken }
);

/** Whether a token is for the resource of an API by an earlier registration of that name. */
const isForEarlier = (api: Client | undefined, resources: readonly string[] | null): boolean =>
  api !== undefined && resources?.includes(markedResource(api)) !== true;

/** @param api the API that asks; undefined where the client asks about its own token */
function* readOfAccount(
  kind: TokenKind,
  token: VerifiedToken,
  api: Client | undefined,
  now: number,
): Work<TokenStatus | undefined> {
  const found = yield* readFamily(token);
  if (found === undefined) return undefined;
  const { keyVersion, withdrawn, family } = found;
  if (isForEarlier(api, family.resources))
    return { keyVersion, inactive: inactiveToken('for an earlier registration') };
  const scopes = yield* readLiveScopes(kind, token, family.scopes, withdrawn);
  const scope = liveScope(scopes);
  // Without any scope it gives no access: at the OIDC endpoints every one may have been withdrawn.
  const inactive =
    whyInactive(kind, token.jti, found, now) ?? (scope === '' ? inactiveToken('no scope left') : undefined);
  if (inactive !== undefined) return { keyVersion, inactive };
  const authentication = kind === 'access' ? family : undefined;
  return { keyVersion, scopes, ...(yield* aboutPerson({ ...token, scope }, found, authentication)) };
}

/** What the response says of the person of an active token, by what holds now. */
export function* aboutPerson(
  { accountId, clientId, scope }: Pick<VerifiedToken, 'accountId' | 'clientId' | 'scope'>,
  { endpointSet, profile }: Pick<TokenFamily, 'endpointSet' | 'profile'>,
  authentication: Pick<TokenFamily['family'], 'acr' | 'amr' | 'authTime'> | undefined,
): Work<AboutActive> {
  const live = { scope, sub: accountId, ...(authentication !== undefined && authenticationOf(authentication)) };
  const scopes = storedScopes(scope);
  // The name is shared where it always is, or where its scope is still granted.
  const nameScope = ENDPOINT_RULES[endpointSet].claimScopes.get('preferred_username') ?? null;
  const isNamed = nameScope === null || scopes.has(nameScope);
  const member = yield* readMember({ accountId, clientId }, scopes);
  return { live, member, ...(isNamed && { username: profile.username }) };
}

/**
 * What of a token is still granted.
 * @param granted its scopes on record, as they are stored, without the withdrawn ones
 */
export function* readLiveScopes(
  kind: TokenKind,
  { clientId, scope, audience }: Pick<VerifiedToken, 'clientId' | 'scope' | 'audience'>,
  granted: string,
  withdrawn: ReadonlySet<string>,
): Work<LiveScopes> {
  const registered = hasApiScopes(granted) ? yield* listApiScopes({ clientId }) : [];
  if (kind === 'access') return liveScopes({ sent: scope, audience }, { granted, withdrawn }, registered);
  const ids = storedScopes(granted);
  return { ofPerson: SCOPES.filter((name) => ids.has(name)), ofApis: registered.filter(({ id }) => ids.has(id)) };
}

/** Decisions §12: what the person is in the app now. */
function* readMember(
  { accountId, clientId }: Pick<VerifiedToken, 'accountId' | 'clientId'>,
  scopes: ReadonlySet<string>,
): Work<Readonly<Record<string, unknown>>> {
  const asked = memberScopesOf(scopes, []);
  const client = asked.size === 0 ? undefined : yield* findClient({ id: clientId });
  if (client === undefined) return {};
  const { groups, roles } = yield* readMemberClaims(client, accountId, asked);
  const { groups: groupsName = 'groups', roles: rolesName = 'roles' } = client.claimNames ?? {};
  return { ...(groups !== undefined && { [groupsName]: groups }), ...(roles !== undefined && { [rolesName]: roles }) };
}

const authenticationOf = ({ acr, amr, authTime }: Pick<TokenFamily['family'], 'acr' | 'amr' | 'authTime'>) => ({
  ...(acr !== null && { acr }),
  amr,
  auth_time: numericDate(authTime),
});

function whyInactive(kind: TokenKind, jti: string, found: TokenFamily, now: number): InactiveToken | undefined {
  const verdict = judge(found.state, found.inherited, now);
  if (verdict.kind !== 'live') {
    const ended = { deadReason: found.family.deadReason, deadAt: found.state.family?.deadAt ?? null };
    return inactiveByVerdict(verdict, ended);
  }
  if (kind === 'access') return undefined;
  const { currentToken, predecessorJti, rotatedAt } = found.family;
  const move = rotation({ currentJti: currentToken.jti, predecessorJti, rotatedAt }, jti, now);
  return move === 'reuse' ? inactiveToken('refresh token used before') : undefined;
}

function* readOfClient(
  token: VerifiedClientToken,
  api: Client | undefined,
  now: number,
): Work<TokenStatus | undefined> {
  const found = yield* readClientToken(token);
  if (found === undefined) return undefined;
  const { keyVersion, client, clientGeneration } = found;
  // Older ones have no resources on record.
  if (isForEarlier(api, found.resources ?? token.audience)) {
    return { keyVersion, inactive: inactiveToken('for an earlier registration') };
  }
  const verdict = judgeClientToken(client, found, clientGeneration, now);
  if (verdict.kind !== 'live') return { keyVersion, inactive: inactiveByVerdict(verdict) };
  const scopes = yield* readLiveScopes('access', token, found.scopes, new Set());
  return { keyVersion, scopes, live: withScope({ sub: token.clientId }, liveScope(scopes)) };
}
