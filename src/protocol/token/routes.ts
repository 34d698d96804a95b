import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { record } from '../../audit/audit.ts';
import {
  type AuthenticatedClient,
  authenticateClient,
  readCredentials,
  TOKEN_PATH,
} from '../../clients/authentication/authenticate.ts';
import { GRANT_TYPES, type GrantType } from '../../clients/rules/grant-types.ts';
import { isOwnOrigin } from '../../clients/rules/redirect-uri.ts';
import type { Work } from '../../platform/database/database.ts';
import { acceptForms, acceptJson } from '../../platform/http/bodies.ts';
import { closeToPages } from '../../platform/http/cors.ts';
import { originOf } from '../../platform/http/origin.ts';
import type { Parameters } from '../../platform/http/parameters.ts';
import { invalidRequest, OAuthError, rateLimited } from '../../platform/oauth-error.ts';
import { authorizationCodeGrant } from './authorization-code-grant.ts';
import { compileReader } from './body.ts';
import { clientCredentialsGrant } from './client-credentials-grant.ts';
import { introspect } from './introspection.ts';
import { countRequest, type GrantHandler, type TokenParts } from './parts.ts';
import { refreshTokenGrant } from './refresh-token-grant.ts';
import { revokeToken } from './revocation.ts';
import { introspectTokenSchema, requestTokensSchema, revokeTokenSchema as revokeOperation } from './route-schemas.ts';

export const REVOCATION_PATH = '/oidc/revoke';
export const INTROSPECTION_PATH = '/oidc/introspect';

const GRANTS: Readonly<Record<GrantType, GrantHandler>> = {
  authorization_code: authorizationCodeGrant,
  refresh_token: refreshTokenGrant,
  client_credentials: clientCredentialsGrant,
};

const isGrant = (name: string): name is GrantType => Object.hasOwn(GRANTS, name);

/** HB-04: an app in a browser gets tokens and ends them. Asking about one needs a secret, which it has none of. */
const PAGES = { config: { readers: 'registered' } } as const;

/** Where clients get tokens, end them and ask about them. JSON and forms are read by one validator. */
export function tokenRoutes(app: FastifyInstance, parts: TokenParts): void {
  app.register(async (token) => {
    acceptJson(token);
    acceptForms(token);
    token.setValidatorCompiler(compileReader);

    // Contract §4.2, decisions §4.
    token.post(TOKEN_PATH, { ...PAGES, schema: requestTokensSchema }, async (request, reply) => {
      const { parameters, authenticated } = await fromClient(request, reply);
      // 3. The grant; a request that it refuses at once is counted all the same.
      const exchange = await prepared(parameters, authenticated);
      return answer(reply, await exchange(parts, authenticated));
    });

    // RFC 7009 §2.2: what the answer holds is ignored; the API always answers with JSON.
    token.post(REVOCATION_PATH, { ...PAGES, schema: revokeOperation }, async (request, reply) => {
      const { parameters, authenticated } = await fromClient(request, reply);
      await revokeToken(parts, authenticated, presentedToken(parameters));
      return answer(reply, {});
    });

    // RFC 7662.
    token.post(INTROSPECTION_PATH, { schema: introspectTokenSchema }, async (request, reply) => {
      const { parameters, authenticated } = await fromClient(request, reply);
      return answer(reply, await introspect(parts, authenticated, presentedToken(parameters)));
    });
  });

  /** What all of them begin with. */
  async function fromClient(request: FastifyRequest, reply: FastifyReply) {
    // 1. The body: one object or form of texts, none of them twice. It was read by its schema.
    const parameters = request.body as Parameters;
    // 2. The client, before anything of the grant or token.
    const credentials = readCredentials(request.headers.authorization, parameters);
    const authenticated = await authenticateClient(parts, credentials, originOf(request));
    closeToOthers(request, reply, authenticated);
    return { parameters, authenticated };
  }

  function* countRefused(authenticated: AuthenticatedClient, refusal: unknown, now: number): Work<number> {
    const seconds = yield* countRequest(parts, authenticated, now);
    if (seconds === 0 && refusal instanceof OAuthError && refusal.code === 'unauthorized_client') {
      const { client, origin } = authenticated;
      const details = { reason: 'a grant that the client may not use' };
      yield* record({ at: now, type: 'token.refused', outcome: 'failure', origin, clientId: client.id, details });
    }
    return seconds;
  }

  async function prepared(parameters: Parameters, authenticated: AuthenticatedClient) {
    try {
      return chooseGrant(parameters, authenticated)(parameters);
    } catch (refusal) {
      const seconds = await parts.database.commit(() => countRefused(authenticated, refusal, parts.clock()));
      throw seconds > 0 ? rateLimited(seconds) : refusal;
    }
  }
}

const answer = (reply: FastifyReply, body: object): FastifyReply =>
  reply
    .header('cache-control', 'no-store')
    .header('pragma', 'no-cache')
    .type('application/json')
    .send(JSON.stringify(body));

/**
 * HB-04: an app that runs in a browser may read the answers that it asked for, and the page of another app may not. A client
 * with a secret has no business in a browser.
 */
function closeToOthers(request: FastifyRequest, reply: FastifyReply, { client, proof }: AuthenticatedClient): void {
  const { origin } = request.headers;
  if (origin === undefined) return;
  if (proof.kind !== 'public' || !isOwnOrigin(origin, client.redirectUris)) closeToPages(reply);
}

function chooseGrant(parameters: Parameters, { client }: AuthenticatedClient): GrantHandler {
  const grantType = parameters.get('grant_type');
  if (grantType === undefined) throw invalidRequest(`grant_type is missing: send one of ${GRANT_TYPES.join(', ')}.`);
  if (!isGrant(grantType)) {
    throw new OAuthError(400, 'unsupported_grant_type', `grant_type must be one of ${GRANT_TYPES.join(', ')}.`);
  }
  // RFC 6749 §5.2, TK-08.
  if (!client.grantTypes.includes(grantType)) {
    throw new OAuthError(400, 'unauthorized_client', `The client is not registered for the grant ${grantType}.`);
  }
  return GRANTS[grantType];
}

/**
 * The token that a request is about. `token_type_hint` may say anything (RFC 7009 §2.1, RFC 7662 §2.1): the kind of a token
 * of ours stands in its header.
 */
function presentedToken(parameters: Parameters): string {
  const token = parameters.get('token');
  if (token === undefined) throw invalidRequest('token is missing: send the access or refresh token.');
  return token;
}
