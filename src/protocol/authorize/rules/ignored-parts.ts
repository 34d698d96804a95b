import type { EndpointRules } from '../../../claims/endpoint-set.ts';
import { IDENTITY_SCOPES, isRegisteredScope } from '../../../claims/permissions.ts';
import { adviceForScope } from '../../../claims/rules/scope-advice.ts';
import { allowScopeCommand } from '../../../clients/denied-scopes.ts';
import { DAY, SECOND } from '../../../platform/clock.ts';
import type { RepeatableParameters } from '../../../platform/http/parameters.ts';
import { nearestName } from '../../../platform/nearest-text.ts';
import { SESSION_LIFETIME } from '../../../sessions/sessions.ts';
import { describeIgnored, shownName } from '../../../traces/rules/ignored.ts';
import { type ApiScopeContext, type CheckedScopes, NO_API_SCOPES } from './check-scopes.ts';
import type { RedirectingClient } from './check-target.ts';
import { ignoredMembers, parseClaims } from './claims-parameter.ts';
import { adviceForParameter, ignoredParameters } from './parameters.ts';
import type { AuthorizationRequest } from './request.ts';

type RegisteredClient = Pick<RedirectingClient, 'id' | 'scopes' | 'grantTypes' | 'metadataUrl'>;

/**
 * What of a valid request changes nothing, for its trace: what it asks for in vain, and what to do instead. Undefined where all of it
 * counts.
 */
export function describeWithoutEffect(
  parameters: Pick<RepeatableParameters, 'get' | 'names'>,
  { scopes, leftOut }: Pick<CheckedScopes, 'scopes' | 'leftOut'>,
  client: RegisteredClient,
  rules: EndpointRules,
  apis: ApiScopeContext = NO_API_SCOPES,
): string | undefined {
  const claims = parameters.get('claims') ?? '{}';
  return describeIgnored({
    scopes: leftOut,
    parameters: ignoredParameters(parameters),
    others: [
      ...withoutRefreshToken(scopes, client),
      ...tooLongAge(parameters.get('max_age')),
      ...ignoredMembers(claims).map((name) => named('member', name, 'of claims (put it into userinfo or id_token)')),
      ...unknownClaims(claims, rules),
    ],
    scopeAdvice: (scope) => adviceForLeftOut(scope, client, rules, apis),
    parameterAdvice: adviceForParameter,
  });
}

/** A name that is of no standard's form may be anything. */
function named(kind: string, name: string, advice: string): string {
  const shown = shownName(name);
  return shown === undefined ? `a ${kind} ${advice}` : `${kind} ${shown} ${advice}`;
}

/** Of a scope that is not registered, how to add it. */
function adviceForLeftOut(
  scope: string,
  client: RegisteredClient,
  rules: EndpointRules,
  { registered, denied }: ApiScopeContext,
): string {
  const { id, scopes, metadataUrl } = client;
  if (scope === 'offline_access' && isRegisteredScope(scope, scopes)) return adviceOnRefreshTokens(client);
  if (registered.some(({ name }) => name === scope)) return 'of another API than those of resource, or of several';
  const ofApi = denied?.find(({ name }) => name === scope);
  const advice = adviceForScope(scope, rules.scopes, ofApi && allowScopeCommand(id, ofApi, registered));
  if (!rules.scopes.includes(scope) || metadataUrl !== null) return advice;
  const all = [...(scopes ?? IDENTITY_SCOPES), scope];
  return `${advice}; add it: tessera client update ${id} ${all.map((name) => `--scope ${name}`).join(' ')}`;
}

/** A scope that asks for a refresh token, which the client would not get. */
const withoutRefreshToken = (scopes: readonly string[], client: RegisteredClient): readonly string[] =>
  !scopes.includes('offline_access') || client.grantTypes.includes('refresh_token')
    ? []
    : [`scope offline_access (${adviceOnRefreshTokens(client)})`];

function adviceOnRefreshTokens({ id, grantTypes, metadataUrl }: RegisteredClient): string {
  const options = [...grantTypes, 'refresh_token'].map((grant) => `--grant-type ${grant}`).join(' ');
  const remedy =
    metadataUrl === null ? `: tessera client update ${id} ${options}` : ' to grant_types in the metadata document';
  return `no refresh token is issued, because this app is not registered for it; add it${remedy}`;
}

/** The life of a session, in seconds: a larger `max_age` changes nothing. */
const LONGEST_AGE = SESSION_LIFETIME / SECOND;

function tooLongAge(maxAge: string | undefined): readonly string[] {
  const seconds = Number(maxAge);
  if (maxAge === undefined || seconds <= LONGEST_AGE) return [];
  const days = Math.floor((seconds * SECOND) / DAY);
  const meant = seconds % SECOND === 0 ? `: send ${seconds / SECOND} if it is in milliseconds` : '';
  return [`max_age=${seconds} (in seconds that is ${days} days, longer than any session${meant})`];
}

/** Requested claims that are not offered. */
function unknownClaims(claims: string, { claimScopes }: EndpointRules): readonly string[] {
  const asked = parseClaims(claims);
  if ('problem' in asked) return [];
  const offered = [...claimScopes.keys()];
  const unknown = [...new Set([...asked.userinfo, ...asked.idToken])].filter(
    (name) => !offered.includes(name) && !ALWAYS.has(name),
  );
  return unknown.map((name) => {
    const nearest = PARTS_OF_NAME.has(name) ? 'name' : nearestName(name, offered);
    return named(
      'claim',
      name,
      nearest === undefined ? `(not offered; those are ${offered.join(', ')})` : `(not offered; ${nearest} is)`,
    );
  });
}

/** Claims that each ID token or UserInfo response has anyway. */
const ALWAYS: ReadonlySet<string> = new Set(['sub', 'auth_time', 'amr', 'sid', 'nonce', 'iss', 'aud', 'iat', 'exp']);
const PARTS_OF_NAME: ReadonlySet<string> = new Set(['given_name', 'family_name', 'middle_name', 'nickname']);

/** What a valid request should have as well: RFC 9700 §2.1.1, §4.7.1. A device has asked for no redirect. */
export const recommendedParts = ({
  state,
  codeChallenge,
  device,
}: Pick<AuthorizationRequest, 'state' | 'codeChallenge' | 'device'>): string | undefined =>
  state === null && codeChallenge === null && device === undefined
    ? 'Switch PKCE on in the library, or send state and compare it: without both, another site can sign a person in to the app with a code of its own.'
    : undefined;
