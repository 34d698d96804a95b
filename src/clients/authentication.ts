import { type Clock, HOUR } from '../clock.ts';
import type { Limits } from '../config/limits.ts';
import type { Database } from '../database/database.ts';
import { type Origin, record } from '../events/audit.ts';
import { addressBucket, exceeded, take } from '../limits/limits.ts';
import { OAuthError, rateLimited } from '../oauth-error.ts';
import { digest, equalSecrets } from '../secrets.ts';
import { findClient } from './clients.ts';
import type { ClientCredentials } from './rules/credentials.ts';
import { type Client, markSecretUsed } from './store.ts';

/** The ways that {@link authenticateClient} takes: OpenID Connect Core 1.0 §9. */
export const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const;

/** How a client showed who it is. */
export type ClientProof =
  /** The secret as it was presented: it signs the ID token under HS256 (OpenID Connect Core 1.0 §10.1). */
  | { readonly kind: 'secret'; readonly secret: string }
  /** RFC 6749 §2.1: a public client has nothing to prove itself with; PKCE binds the code to whoever asked for it. */
  | { readonly kind: 'public' };

/** A client that has shown who it is, as far as its kind can. Only {@link authenticateClient} makes one. */
export type AuthenticatedClient = {
  readonly client: Client;
  readonly proof: ClientProof;
  readonly origin: Origin;
  readonly [proved]: true;
};
declare const proved: unique symbol;

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
  readonly limits: Limits;
}

/** RFC 6749 §5.2: 401, with a challenge where the client used the Authorization header. */
export function invalidClient(usedBasic: boolean): OAuthError {
  return new OAuthError(
    401,
    'invalid_client',
    'Client authentication failed: check client_id and client_secret.',
    usedBasic ? { 'www-authenticate': 'Basic realm="tessera", charset="UTF-8"' } : {},
  );
}

/**
 * Authenticates a client, before anything else of the request is looked at. An unknown client, a wrong secret, a secret of a
 * client that has none and a disabled client get the same answer. Whether a client has a secret is what its registration
 * says, never what the request leaves out (OAuth 2.1 §2.4).
 * @throws {OAuthError} `invalid_client`, or `rate_limit_exceeded` after too many failures from one address
 */
export async function authenticateClient(
  { database, clock, limits }: Parts,
  credentials: ClientCredentials,
  origin: Origin,
): Promise<AuthenticatedClient> {
  const now = clock();
  const { clientId, clientSecret } = credentials;
  const found = await database.read(() => findClient(clientId, now));
  // Ids that are not on record share one count, or a stranger could make as many as he likes.
  const bucket = `client-auth ${found?.client.id ?? 'unknown'} ${addressBucket(origin.address ?? '')}`;
  if (found?.client.type === 'public' && found.client.status === 'active' && isBare(credentials)) {
    return authenticated(found.client, { kind: 'public' }, origin);
  }
  const presented = digest(clientSecret);
  const secret = (found?.secrets ?? []).find((candidate) => equalSecrets(candidate.hash, presented));

  if (found === undefined || secret === undefined || found.client.status !== 'active' || clientSecret === '') {
    const wait = await database.commit(function* fail() {
      const about = { origin, clientId: found?.client.id ?? null };
      const seconds = yield* take(bucket, limits.clientAuth, now, { name: 'clientAuth', ...about });
      if (seconds === 0) yield* record({ at: now, type: 'client.auth_failed', outcome: 'failure', ...about });
      return seconds;
    });
    throw wait > 0 ? rateLimited(wait) : invalidClient(credentials.method === 'basic');
  }
  // Someone who has used up the guesses learns nothing from the one that happens to be right.
  const exhausted = await database.read(() => exceeded(bucket, limits.clientAuth, now));
  if (exhausted > 0) throw rateLimited(exhausted);
  if (secret.lastUsedAt === null || secret.lastUsedAt + HOUR <= now) {
    await database.commit(() => markSecretUsed(secret.id, now));
  }
  return authenticated(found.client, { kind: 'secret', secret: clientSecret }, origin);
}

/** OpenID Connect Core 1.0 §9, `none`: the id alone, in the body. */
const isBare = ({ method, clientSecret }: ClientCredentials): boolean => method === 'body' && clientSecret === '';

function authenticated(client: Client, proof: ClientProof, origin: Origin): AuthenticatedClient {
  const actor = { type: 'client', id: client.id } as const;
  return { client, proof, origin: { ...origin, actor } } as AuthenticatedClient;
}
