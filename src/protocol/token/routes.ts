import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ENDPOINT_RULES, type EndpointRules } from '../../claims/endpoint-set.ts';
import { narrowedResources, parseResources } from '../../claims/permissions.ts';
import { findUnregistered } from '../../clients/resources.ts';
import { DEVICE_GRANT, GRANT_TYPES, type GrantType } from '../../clients/rules/registration.ts';
import { withCurrentKeys } from '../../keys/keys.ts';
import type { Work } from '../../platform/database/database.ts';
import { missingParameter, type Parameters } from '../../platform/http/parameters.ts';
import { OAuthError } from '../../platform/oauth-error.ts';
import type { AuthenticatedClient } from '../client-authentication/authenticate.ts';
import { acceptClients, answer, fromClient } from '../client-authentication/client-requests.ts';
import { refuseClient } from '../client-authentication/refusals.ts';
import { nameEmptyWord } from './empty-words.ts';
import {
  countRequest,
  type Exchangeable,
  type Grant,
  grantedResources,
  idTokenAlg,
  type TokenServices,
} from './grant.ts';
import { authorizationCodeGrant } from './grants/authorization-code.ts';
import { clientCredentialsGrant } from './grants/client-credentials.ts';
import { deviceCodeGrant } from './grants/device-code.ts';
import { refreshTokenGrant } from './grants/refresh-token.ts';
import { introspect } from './introspection.ts';
import { ASSERTION_GRANT } from './refusals/requests.ts';
import { type Refuse, recordRefusal, refusal, refuseRequest } from './refuse.ts';
import { revokeToken } from './revocation.ts';
import { introspectTokenSchema, requestTokensSchemas, revokeTokenSchema } from './route-schemas.ts';
import { accessAudience } from './rules/claims.ts';

/** What an API is told of a token that is not active, and no more (RFC 7662 §2.2). */
const NOT_ACTIVE = 'The token is not active.';

/** RFC 9449 §5: a server that does not know the header issues a Bearer token, and a client that relied on it must notice. */
const IGNORED_DPOP = 'header DPoP, which is not supported: the token is a Bearer token, bound to no key';

export const REVOCATION_PATH = '/oidc/revoke';
export const INTROSPECTION_PATH = '/oidc/introspect';

/** HB-04: a browser app may request and revoke tokens. Introspection needs a secret, which it cannot have. */
const PAGES = { config: { readers: 'registered' } } as const;

/** The token, revocation and introspection endpoints. */
export function tokenRoutes(app: FastifyInstance, parts: TokenServices): void {
  app.register(async (token) => {
    acceptClients(token);

    // Contract §4.2, decisions §4.
    for (const rules of Object.values(ENDPOINT_RULES)) {
      const { tokenPath, endpointSet } = rules;
      token.post(tokenPath, { ...PAGES, schema: requestTokensSchemas[endpointSet] }, async (request, reply) => {
        if (namesAssertionAlone(request)) throw refusal('unknown grant type', { grantType: ASSERTION_GRANT });
        const { parameters, authenticated } = await fromClient(
          parts,
          request,
          reply,
          tokenPath,
          rules.reportsDisabledClient,
        );
        const current = await withCurrentMetadata(parts, authenticated);
        const response = await requestTokens(parts, current, parameters, rules).catch((error: unknown) => {
          throw error instanceof OAuthError ? nameEmptyWord(error, parameters) : error;
        });
        // A refresh is told of nothing that its authorization was told of.
        if (parameters.get('grant_type') !== 'refresh_token' && request.headers['dpop'] !== undefined) {
          parts.traces.completed.push({
            ...{ at: parts.clock(), requestId: request.id, step: 'token', clientId: current.client.id },
            facts: { description: 'Tokens were issued.', ignored: IGNORED_DPOP },
          });
        }
        return answer(reply, response);
      });
    }

    // RFC 7009 §2.2: clients ignore the content of the response, but the API always answers with JSON.
    token.post(REVOCATION_PATH, { ...PAGES, schema: revokeTokenSchema }, async (request, reply) => {
      const { parameters, authenticated } = await fromClient(parts, request, reply, REVOCATION_PATH);
      const nothing = await revokeToken(parts, authenticated, presentedToken(parameters));
      if (nothing !== undefined)
        request.refusal = { code: 'inactive', description: 'Nothing was revoked.', ...nothing };
      return answer(reply, {});
    });

    // RFC 7662.
    token.post(INTROSPECTION_PATH, { schema: introspectTokenSchema }, async (request, reply) => {
      const { parameters, credentials, authenticated } = await fromClient(parts, request, reply, INTROSPECTION_PATH);
      // §2.1: a public client could not prove that the tokens are its own.
      if (authenticated.proof.kind === 'public') {
        const { client } = authenticated;
        const about = { endpoint: INTROSPECTION_PATH, issuer: parts.issuer };
        throw refuseClient('a public client may not introspect', { ...about, credentials, client, isProved: false });
      }
      const { response, inactive } = await introspect(parts, authenticated, presentedToken(parameters));
      if (inactive !== undefined) request.refusal = { code: 'inactive', description: NOT_ACTIVE, ...inactive };
      return answer(reply, response);
    });
  });
}

/** Whether a request has the assertion of a grant that is not offered and no client, so that asking for client_id would mislead. */
function namesAssertionAlone({ body, headers }: FastifyRequest): boolean {
  const parameters = body as Parameters;
  if (parameters.get('grant_type') !== ASSERTION_GRANT) return false;
  return headers.authorization === undefined && !parameters.has('client_id') && !parameters.has('client_assertion');
}

/**
 * A client with a metadata document gets nothing new unless that says the same as before: decisions §15.
 * @throws {OAuthError} `temporarily_unavailable` where the document may be read later, else `invalid_client`
 */
async function withCurrentMetadata(
  { metadataClients }: TokenServices,
  authenticated: AuthenticatedClient,
): Promise<AuthenticatedClient> {
  const { client, origin } = authenticated;
  if (client.metadataUrl === null) return authenticated;
  const current = await metadataClients.requireCurrent(client, origin);
  if ('id' in current) {
    const isSame = current.id === client.id && current.generation === client.generation;
    if (isSame) return { ...authenticated, client: current };
  }
  const description =
    'id' in current ? 'The metadata document of the client has changed how it authenticates.' : current.description;
  throw 'id' in current || !current.isPassing
    ? new OAuthError(401, 'invalid_client', description)
    : new OAuthError(503, 'temporarily_unavailable', description, { 'retry-after': '60' });
}

type TokenHandler = (
  parts: TokenServices,
  authenticated: AuthenticatedClient,
  parameters: Parameters,
  rules: EndpointRules,
) => Promise<object>;

/**
 * The phases of a token request, whatever its grant: each fills in what only it knows.
 * @throws {OAuthError} `rate_limit_exceeded`; then `invalid_request` and what else the parameters say; then what the credential says;
 *   then `invalid_target`
 */
const exchange =
  <Presented, Checked extends Exchangeable, Issued>(grant: Grant<Presented, Checked, Issued>): TokenHandler =>
  (parts, authenticated, parameters, rules) =>
    withCurrentKeys(parts.keys, async () => {
      const alg = idTokenAlg(authenticated, rules.defaultIdTokenAlg);
      const keySet = grant.signsIdTokens ? await parts.keys.ready(alg) : parts.keys.keySet();
      const now = parts.clock();
      const refuse: Refuse = (name, facts) => refuseRequest(authenticated, now, name, facts);
      const request = { parts, authenticated, rules, alg, keySet, now, refuse, parameters };
      const { presented, flow } = await grant.read(request, parameters);

      const issued = await parts.database.commit(function* exchangeOnce(): Work<Issued | OAuthError> {
        const limited = yield* countRequest(parts, authenticated, now);
        if (limited !== undefined) return limited;
        if (presented instanceof OAuthError) return presented;
        // RFC 8707 §2.
        const requested = parseResources(parameters.all('resource'));
        if (requested === undefined) return yield* refuse('malformed resource', {});
        const checked = yield* grant.check(request, presented, requested);
        if (checked instanceof OAuthError) return checked;
        const resources = yield* grantedResources(parts, authenticated.client, checked, requested);
        if (resources === undefined) {
          const { granted, about } = checked;
          const name = refusedResource(grant.refusedResource, granted, requested);
          const unknown =
            name === 'unknown resource'
              ? yield* findUnregistered(requested, { issuer: parts.issuer, own: accessAudience(parts.issuer) })
              : undefined;
          return yield* refuse(name, { ...about, requested, granted, nearest: unknown?.nearest });
        }
        return yield* grant.issue(request, checked, resources);
      });

      if (issued instanceof OAuthError) {
        const refused = await recordRefusal(parts, issued);
        return flow === undefined ? refused : refused.withDetail({ flow });
      }
      return grant.respond(request, issued);
    });

/** A resource that was granted and is refused was registered then. */
const refusedResource = (
  name: 'resource not granted' | 'unknown resource',
  granted: readonly string[] | null,
  requested: readonly string[],
) =>
  name === 'resource not granted' && narrowedResources(granted, requested) !== undefined
    ? 'resource no longer registered'
    : name;

const GRANTS: Readonly<Record<GrantType, TokenHandler>> = {
  authorization_code: exchange(authorizationCodeGrant),
  refresh_token: exchange(refreshTokenGrant),
  client_credentials: exchange(clientCredentialsGrant),
  [DEVICE_GRANT]: exchange(deviceCodeGrant),
};

const isGrant = (name: string | undefined): name is GrantType => name !== undefined && Object.hasOwn(GRANTS, name);

const requestTokens: TokenHandler = async (parts, authenticated, parameters, rules) => {
  const grantType = parameters.get('grant_type');
  const { client } = authenticated;
  const { grantTypes, endpoints } = client;
  if (isGrant(grantType) && grantTypes.includes(grantType) && endpoints.includes(rules.endpointSet)) {
    return GRANTS[grantType](parts, authenticated, parameters, rules);
  }
  const now = parts.clock();
  const refused = await parts.database.commit(function* refuseGrantType(): Work<OAuthError> {
    // A request without a usable grant is counted like any other.
    const limited = yield* countRequest(parts, authenticated, now);
    if (limited !== undefined) return limited;
    if (grantType === undefined) {
      return missingParameter(parameters, 'grant_type', `send one of ${GRANT_TYPES.join(', ')}.`);
    }
    if (!isGrant(grantType)) return refusal('unknown grant type', { grantType });
    // RFC 6749 §5.2, TK-08.
    if (!grantTypes.includes(grantType)) {
      return yield* refuseRequest(authenticated, now, 'grant type not registered', { client, grantType });
    }
    return yield* refuseRequest(authenticated, now, 'endpoints not registered', { client });
  });
  throw await recordRefusal(parts, refused);
};

/**
 * The token that a request is about. `token_type_hint` is not read (RFC 7009 §2.1, RFC 7662 §2.1): the header of a token
 * names its kind.
 */
function presentedToken(parameters: Parameters): string {
  const token = parameters.get('token');
  if (token === undefined)
    throw missingParameter(parameters, 'token', 'send the access or refresh token.', ['access_token', 'refresh_token']);
  return token;
}
