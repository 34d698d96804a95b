import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type AuthenticatedClient, authenticateClient } from '../clients/authentication.ts';
import { readCredentials } from '../clients/rules/credentials.ts';
import { isOwnOrigin } from '../clients/rules/redirect-uri.ts';
import { acceptForms, acceptJson } from '../http/bodies.ts';
import { originOf } from '../http/origin.ts';
import { jsonParameters, type Parameters, type RepeatableParameters } from '../http/parameters.ts';
import { invalidRequest, OAuthError, rateLimited } from '../oauth-error.ts';
import { authorizationCodeGrant } from './authorization-code-grant.ts';
import { countRequest, type Grant, type TokenParts } from './parts.ts';
import { refreshTokenGrant } from './refresh-token-grant.ts';

const NAMES = [
  'grant_type',
  'client_id',
  'client_secret',
  'code',
  'redirect_uri',
  'code_verifier',
  'refresh_token',
  'scope',
] as const;

const GRANTS = { authorization_code: authorizationCodeGrant, refresh_token: refreshTokenGrant } as const;

/** The grants that the endpoint knows. */
export const GRANT_TYPES: readonly string[] = Object.keys(GRANTS);

const isGrant = (name: string): name is keyof typeof GRANTS => Object.hasOwn(GRANTS, name);

/** The token endpoint: contract §4.2, decisions §4. JSON and forms are read by one validator. */
export function tokenRoutes(app: FastifyInstance, parts: TokenParts): void {
  app.register(async (token) => {
    acceptJson(token);
    acceptForms(token);
    token.post('/api/v2/oauth/token', async (request, reply) => {
      // 1. The body: one object or form of texts, none of them twice.
      const parameters = readBody(request.body);
      // 2. The client, before anything of the grant.
      const credentials = readCredentials(request.headers.authorization, parameters);
      const authenticated = await authenticateClient(parts, credentials, originOf(request));
      allowOwnPage(request, reply, authenticated);
      // 3. The grant; a request that it refuses at once is counted all the same.
      const exchange = await prepared(parameters, authenticated);
      const answer = await exchange(parts, authenticated);
      return reply
        .header('cache-control', 'no-store')
        .header('pragma', 'no-cache')
        .type('application/json')
        .send(JSON.stringify(answer));
    });
  });

  async function prepared(parameters: Parameters, authenticated: AuthenticatedClient) {
    try {
      return chooseGrant(parameters)(parameters);
    } catch (refusal) {
      const seconds = await parts.database.commit(() => countRequest(parts, authenticated, parts.clock()));
      throw seconds > 0 ? rateLimited(seconds) : refusal;
    }
  }
}

/**
 * HB-04: an app that runs in a browser may read the answers that it asked for, and no other page may. A form needs no
 * preflight; a client with a secret has no business in a browser.
 */
function allowOwnPage(request: FastifyRequest, reply: FastifyReply, { client, proof }: AuthenticatedClient): void {
  const { origin } = request.headers;
  if (proof.kind !== 'public' || origin === undefined || !isOwnOrigin(origin, client.redirectUris)) return;
  reply.header('access-control-allow-origin', origin).header('vary', 'Origin');
}

function chooseGrant(parameters: Parameters): Grant {
  const grantType = parameters.get('grant_type');
  if (grantType === undefined) throw invalidRequest('grant_type is missing.');
  if (!isGrant(grantType)) {
    const known = Object.keys(GRANTS).join(' or ');
    throw new OAuthError(400, 'unsupported_grant_type', `grant_type must be ${known}.`);
  }
  return GRANTS[grantType];
}

function readBody(body: unknown): Parameters {
  if (body === undefined) throw invalidRequest('The body is empty: send the parameters as JSON or as a form.');
  if (!isForm(body)) return jsonParameters(body, NAMES);
  for (const name of NAMES) {
    if (body.repeated.has(name)) throw invalidRequest(`${name} was sent more than once.`);
    if (body.malformed.has(name)) throw invalidRequest(`${name} is not percent-encoded UTF-8.`);
  }
  return body;
}

const isForm = (body: unknown): body is RepeatableParameters =>
  typeof body === 'object' && body !== null && 'repeated' in body && body.repeated instanceof Set;
