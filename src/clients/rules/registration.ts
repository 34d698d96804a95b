import type { Client } from '../store.ts';
import { grantTypesProblem } from './grant-types.ts';
import { serverUriProblem } from './redirect-uri.ts';

/** Whether a client proves itself with a secret; the others have none. */
export const presentsSecret = ({ type, tokenEndpointAuthMethod }: Pick<Client, 'type' | 'tokenEndpointAuthMethod'>) =>
  type === 'confidential' && tokenEndpointAuthMethod !== 'private_key_jwt';

/**
 * What in a registration does not go together, as a sentence that names a field and the remedy; undefined where all does.
 *
 * A client that presents no secret leaves none which an ID token under HS256 could be signed with (OpenID Connect Core 1.0
 * §10.1), and a public one proves itself by PKCE alone (RFC 9700 §2.1.1).
 */
export function registrationProblem(client: Client): string | undefined {
  const { type, tokenEndpointAuthMethod: method, idTokenSignedResponseAlg, requirePkce, jwks, jwksUri } = client;
  const grants = grantTypesProblem(client);
  if (grants !== undefined) return grants;
  const problem = resourceProblem(client);
  if (problem !== undefined) return problem;
  if (type === 'public' && method !== null && method !== 'none') {
    return `tokenEndpointAuthMethod must be none for a public client, or left out: ${method} needs something that it can keep.`;
  }
  if (type === 'confidential' && method === 'none') {
    return 'tokenEndpointAuthMethod none is for public clients: register with type public, or choose another one.';
  }
  if (!presentsSecret(client) && idTokenSignedResponseAlg === 'HS256') {
    const whom = type === 'public' ? 'a public client' : 'a client with private_key_jwt';
    return `idTokenSignedResponseAlg must be RS256, ES256 or EdDSA for ${whom}: HS256 needs a client secret.`;
  }
  if (type === 'public' && !requirePkce) return 'requirePkce must be true for a public client, or left out.';
  // OpenID Connect Registration 1.0 §2: the two must not be used together.
  if (jwks !== null && jwksUri !== null) return 'jwks and jwksUri exclude each other: set one of them to null.';
  if (method === 'private_key_jwt' && jwks === null && jwksUri === null) {
    return 'tokenEndpointAuthMethod private_key_jwt needs the public keys of the client: give jwks or jwksUri.';
  }
  // Whether the server goes to that address is asked when it does: the rules of outgoing requests have the last word.
  const address = jwksUri === null ? undefined : serverUriProblem(jwksUri);
  return address && `jwksUri must ${address}.`;
}

/** RFC 8707 §2: a resource is an absolute URI without a fragment. It asks about tokens, so it must prove who it is. */
function resourceProblem({ type, resource }: Client): string | undefined {
  if (resource === null) return undefined;
  if (type === 'public') return 'resource must be null for a public client, which cannot prove who it is.';
  const problem = serverUriProblem(resource);
  return problem && `resource must ${problem}.`;
}
