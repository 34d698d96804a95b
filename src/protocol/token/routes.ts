import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify';
import { ENDPOINT_RULES, type EndpointRules } from '../../claims/endpoint-set.ts';
import { parseResources } from '../../claims/permissions.ts';
import { isOwnOrigin } from '../../clients/rules/redirect-uri.ts';
import { GRANT_TYPES, type GrantType } from '../../clients/rules/registration.ts';
import { withCurrentKeys } from '../../keys/keys.ts';
import { digest, isSecretForm } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import { acceptForms, acceptJson } from '../../platform/http/bodies.ts';
import { removeCorsHeaders, reportUnreadable } from '../../platform/http/cors.ts';
import {
  formParameters,
  jsonParameters,
  missingParameter,
  type ObjectSchema,
  type Parameters,
  type RepeatableParameters,
  validationResult,
} from '../../platform/http/parameters.ts';
import { invalidRequest, OAuthError } from '../../platform/oauth-error.ts';
import { originOf } from '../../platform/validation/origin.ts';
import {
  type AuthenticatedClient,
  authenticateClient,
  invalidClient,
  readCredentials,
} from '../client-authentication/authenticate.ts';
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
import { refreshTokenGrant } from './grants/refresh-token.ts';
import { introspect } from './introspection.ts';
import { type Refuse, refusal, refuseRequest } from './refuse.ts';
import { revokeToken } from './revocation.ts';
import { introspectTokenSchema, requestTokensSchemas, revokeTokenSchema } from './route-schemas.ts';

export const REVOCATION_PATH = '/oidc/revoke';
export const INTROSPECTION_PATH = '/oidc/introspect';

/** HB-04: a browser app may request and revoke tokens. Introspection needs a secret, which it cannot have. */
const PAGES = { config: { readers: 'registered' } } as const;

/** The token, revocation and introspection endpoints. */
export function tokenRoutes(app: FastifyInstance, parts: TokenServices): void {
  app.register(async (token) => {
    acceptJson(token);
    acceptForms(token);
    token.setValidatorCompiler(compileParameters);

    // Contract §4.2, decisions §4.
    for (const rules of Object.values(ENDPOINT_RULES)) {
      const { tokenPath, endpointSet } = rules;
      token.post(tokenPath, { ...PAGES, schema: requestTokensSchemas[endpointSet] }, async (request, reply) => {
        const { parameters, authenticated } = await fromClient(request, reply, tokenPath, rules.reportsDisabledClient);
        return answer(reply, await requestTokens(parts, authenticated, parameters, rules));
      });
    }

    // RFC 7009 §2.2: clients ignore the content of the response, but the API always answers with JSON.
    token.post(REVOCATION_PATH, { ...PAGES, schema: revokeTokenSchema }, async (request, reply) => {
      const { parameters, authenticated } = await fromClient(request, reply, REVOCATION_PATH);
      await revokeToken(parts, authenticated, presentedToken(parameters));
      return answer(reply, {});
    });

    // RFC 7662.
    token.post(INTROSPECTION_PATH, { schema: introspectTokenSchema }, async (request, reply) => {
      const { parameters, authenticated } = await fromClient(request, reply, INTROSPECTION_PATH);
      // §2.1: a public client could not prove that the tokens are its own.
      if (authenticated.proof.kind === 'public') {
        const usedBasic = request.headers.authorization !== undefined;
        throw invalidClient(
          'a public client may not introspect tokens. Register the API that receives them as a confidential client, and send its client_id and client_secret.',
          undefined,
          usedBasic,
        );
      }
      return answer(reply, await introspect(parts, authenticated, presentedToken(parameters)));
    });
  });

  /** The checks that all three have in common. */
  async function fromClient(request: FastifyRequest, reply: FastifyReply, endpoint: string, namesDisabled = true) {
    // 1. The body, which was read by its schema: one object or form of strings, each at most once.
    const parameters = request.body as Parameters;
    // 2. The client, before anything about the grant or token.
    const credentials = readCredentials(request.headers.authorization, parameters);
    const code = parameters.get('code');
    // The word undefined, for example, would connect the refusals of all apps that send it.
    const flow = code === undefined || !isSecretForm(code) ? undefined : digest(code);
    request.subject = { clientId: credentials.clientId, flow };
    const context = { origin: originOf(request), endpoint, namesDisabled };
    const authenticated = await authenticateClient(parts, credentials, context);
    const { client, proof } = authenticated;
    request.subject = { clientId: client.id, flow, proof: proof.kind === 'public' ? undefined : 'client' };
    closeToOthers(request, reply, authenticated);
    return { parameters, authenticated };
  }
}

const answer = (reply: FastifyReply, body: object): FastifyReply =>
  reply
    .header('cache-control', 'no-store')
    .header('pragma', 'no-cache')
    .type('application/json')
    .send(JSON.stringify(body));

/**
 * HB-04: a page may read the response only if it belongs to the client, and the client is public. A client with a secret does
 * not run in a browser.
 */
function closeToOthers(request: FastifyRequest, reply: FastifyReply, { client, proof }: AuthenticatedClient): void {
  const { origin } = request.headers;
  if (origin === undefined) return;
  if (proof.kind === 'public' && isOwnOrigin(origin, client.redirectUris)) return;
  removeCorsHeaders(reply);
  const cause = proof.kind === 'public' ? 'The client has no redirect URI at this origin' : 'The client is not public';
  // An origin of no app was reported before.
  if (request.unreadable === undefined) reportUnreadable(request, cause);
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
      const request = { parts, authenticated, rules, alg, keySet, now, refuse };
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
        const resources = yield* grantedResources(parts, checked.granted, requested);
        if (resources === undefined) return yield* refuse(grant.refusedResource, checked.about);
        return yield* grant.issue(request, checked, resources);
      });

      if (issued instanceof OAuthError) return flow === undefined ? issued : issued.withDetail({ flow });
      return grant.respond(request, issued);
    });

const GRANTS: Readonly<Record<GrantType, TokenHandler>> = {
  authorization_code: exchange(authorizationCodeGrant),
  refresh_token: exchange(refreshTokenGrant),
  client_credentials: exchange(clientCredentialsGrant),
};

const isGrant = (name: string | undefined): name is GrantType => name !== undefined && Object.hasOwn(GRANTS, name);

const requestTokens: TokenHandler = async (parts, authenticated, parameters, rules) => {
  const grantType = parameters.get('grant_type');
  const { grantTypes, endpoints } = authenticated.client;
  if (isGrant(grantType) && grantTypes.includes(grantType) && endpoints.includes(rules.endpointSet)) {
    return GRANTS[grantType](parts, authenticated, parameters, rules);
  }
  const now = parts.clock();
  throw await parts.database.commit(function* refuseGrantType(): Work<OAuthError> {
    // A request without a usable grant is counted like any other.
    const limited = yield* countRequest(parts, authenticated, now);
    if (limited !== undefined) return limited;
    if (grantType === undefined) {
      return missingParameter(parameters, 'grant_type', `send one of ${GRANT_TYPES.join(', ')}.`);
    }
    if (!isGrant(grantType)) return refusal('unknown grant type', { grantType });
    // RFC 6749 §5.2, TK-08.
    if (!grantTypes.includes(grantType)) {
      return yield* refuseRequest(authenticated, now, 'grant type not registered', { grantType });
    }
    return yield* refuseRequest(authenticated, now, 'endpoints not registered', { endpoints });
  });
};

/**
 * The token that a request is about. `token_type_hint` is not read (RFC 7009 §2.1, RFC 7662 §2.1): the header of a token
 * names its kind.
 */
function presentedToken(parameters: Parameters): string {
  const token = parameters.get('token');
  if (token === undefined) throw missingParameter(parameters, 'token', 'send the access or refresh token.');
  return token;
}

/**
 * Reads a body of parameters, JSON or a form, by the schema of its route: one object or form of strings, each at most once except
 * those that the schema declares as a list (RFC 8707 §2). Unknown parameters are ignored (RFC 6749 §3.2). Missing ones are
 * refused later, because the client is authenticated first.
 */
const compileParameters: FastifySchemaCompiler<unknown> = ({ schema }) => {
  const { properties, required = [] } = schema as ObjectSchema;
  const names = Object.keys(properties);
  const lists = names.filter((name) => properties[name]?.type !== 'string');
  return (body) => validationResult(() => readParameters(body, names, lists, required.length > 0));
};

/** @throws {OAuthError} `invalid_request` */
function readParameters(
  body: unknown,
  names: readonly string[],
  lists: readonly string[],
  isRequired: boolean,
): Parameters {
  // Fastify gives null where there is no body. The JSON text `null` is refused in the same way.
  if (body === null) {
    if (isRequired)
      throw invalidRequest(
        'The body is empty: send the parameters in it, as JSON or as a form, and not in the address.',
      );
    return formParameters('');
  }
  if (!isForm(body)) return jsonParameters(body, names, lists);
  for (const name of names) {
    if (body.repeated.has(name) && !lists.includes(name)) throw invalidRequest(`${name} was sent more than once.`);
    if (body.malformed.has(name)) throw invalidRequest(`${name} is not percent-encoded UTF-8.`);
  }
  return body;
}

const isForm = (body: unknown): body is RepeatableParameters =>
  typeof body === 'object' && body !== null && 'repeated' in body && body.repeated instanceof Set;
