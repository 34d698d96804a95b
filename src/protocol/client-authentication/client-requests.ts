import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify';
import { isOwnOrigin } from '../../clients/rules/redirect-uri.ts';
import { digest, isSecretForm } from '../../platform/crypto/secrets.ts';
import { sentAuthorizations } from '../../platform/http/authorizations.ts';
import { acceptForms, acceptJson } from '../../platform/http/bodies.ts';
import { removeCorsHeaders, reportUnreadable } from '../../platform/http/cors.ts';
import {
  formParameters,
  jsonParameters,
  type ObjectSchema,
  type Parameters,
  queryOf,
  type RepeatableParameters,
  validationResult,
} from '../../platform/http/parameters.ts';
import { invalidRequest } from '../../platform/oauth-error.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { type AuthenticatedClient, type AuthenticationParts, authenticateClient } from './authenticate.ts';
import { type ClientCredentials, readCredentials } from './read-credentials.ts';

/** Prepares a scope for requests of clients: bodies of parameters, as JSON or as a form. */
export function acceptClients(app: FastifyInstance): void {
  acceptJson(app);
  acceptForms(app);
  app.setValidatorCompiler(compileParameters);
}

/** A request from a client that has authenticated. */
interface ClientRequest {
  readonly parameters: Parameters;
  readonly credentials: ClientCredentials;
  readonly authenticated: AuthenticatedClient;
}

/**
 * What all endpoints of clients check before anything else.
 * @throws {OAuthError} `invalid_client`
 */
export async function fromClient(
  parts: AuthenticationParts,
  request: FastifyRequest,
  reply: FastifyReply,
  endpoint: string,
  namesDisabled = true,
): Promise<ClientRequest> {
  // 1. The body, which was read by its schema: one object or form of strings, each at most once.
  const parameters = request.body as Parameters;
  // 2. The client, before anything about the grant or token.
  const credentials = readCredentials(
    request.headers.authorization,
    parameters,
    () => sentAuthorizations(request),
    (name) => queryOf(request).has(name),
  );
  const code = parameters.get('code') ?? parameters.get('device_code');
  // The word undefined, for example, would connect the refusals of all apps that send it.
  const flow = code === undefined || !isSecretForm(code) ? undefined : digest(code);
  request.subject = { clientId: credentials.clientId, flow };
  const isInBrowser = request.headers.origin !== undefined;
  const context = { origin: originOf(request), endpoint, isInBrowser, namesDisabled };
  const authenticated = await authenticateClient(parts, credentials, context);
  const { client, proof } = authenticated;
  request.subject = { clientId: client.id, flow, proof: proof.kind === 'public' ? undefined : 'client' };
  closeToOthers(request, reply, authenticated);
  return { parameters, credentials, authenticated };
}

/** An answer that nothing may cache: RFC 6749 §5.1. */
export const answer = (reply: FastifyReply, body: object): FastifyReply =>
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
  const cause =
    proof.kind === 'public'
      ? 'the app has no redirect URI at this origin'
      : 'the app is not public, and its secret must not be in a browser';
  // An origin of no app was reported before.
  if (request.unreadable === undefined) reportUnreadable(request, cause);
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
        'The body is empty.',
        'Send the parameters in it, as JSON or as a form, and not in the address. Replace a secret that was in the address: addresses are logged.',
      );
    return formParameters('');
  }
  if (!isForm(body)) return jsonParameters(body, names, lists);
  for (const name of names) {
    if (body.repeated.has(name) && !lists.includes(name))
      throw invalidRequest(`${name} was sent more than once.`, 'Send it once.');
    if (body.brokenEscapes.has(name)) {
      throw invalidRequest(
        `The body is not valid form encoding at ${name}: % must be followed by two hexadecimal digits.`,
        'Encode the values once.',
      );
    }
    if (body.malformed.has(name))
      throw invalidRequest(
        `${name} is not percent-encoded UTF-8.`,
        'Encode it once, for example with URLSearchParams.',
      );
  }
  return body;
}

const isForm = (body: unknown): body is RepeatableParameters =>
  typeof body === 'object' && body !== null && 'repeated' in body && body.repeated instanceof Set;
