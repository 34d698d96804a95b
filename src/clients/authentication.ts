import { isDeepStrictEqual } from 'node:util';
import { record } from '../audit/audit.ts';
import { exceeded, take } from '../limits/limits.ts';
import { type Clock, HOUR } from '../platform/clock.ts';
import type { Limits } from '../platform/config/limits.ts';
import { digest, equalSecrets } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import type { Origin } from '../platform/http/origin.ts';
import { OAuthError, rateLimited } from '../platform/oauth-error.ts';
import { addressBucket } from '../platform/validation/ip-address.ts';
import { spendAssertion } from './assertion-store.ts';
import { type ClientKeys, ClientKeysUnreadable } from './client-keys.ts';
import { findClientAndSecrets } from './clients.ts';
import { judgeAssertion, type ReadAssertion, verifyAssertion } from './rules/assertion.ts';
import type { ClientCredentials } from './rules/credentials.ts';
import { presentsSecret } from './rules/registration.ts';
import { type Client, type ClientSecret, markSecretUsed } from './store.ts';

/** The token endpoint, below the issuer: the other name by which client assertions may address this server. */
export const TOKEN_PATH = '/api/v2/oauth/token';

/** How a client showed who it is. */
export type ClientProof =
  /** The secret as it was presented: it signs the ID token under HS256 (OpenID Connect Core 1.0 §10.1). */
  | { readonly kind: 'secret'; readonly secret: string }
  /** RFC 6749 §2.1: a public client has nothing to prove itself with; PKCE binds the code to whoever asked for it. */
  | { readonly kind: 'public' }
  /** An assertion that the client signed with its own key, used up by now (RFC 7523 §2.2). */
  | { readonly kind: 'assertion' };

/** A client that has shown who it is, as far as its kind can. Only {@link authenticateClient} makes one. */
export type AuthenticatedClient = {
  readonly client: Client;
  readonly proof: ClientProof;
  readonly origin: Origin;
  readonly [proved]: true;
};
declare const proved: unique symbol;

/** What client authentication works with. */
export interface AuthenticationParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly issuer: string;
  readonly clientKeys: ClientKeys;
}

/** What to look at, by what the request holds alone: nobody learns from it which clients there are. */
function advice(credentials: ClientCredentials): string {
  if (credentials.method === 'assertion') return 'check client_id and client_assertion.';
  const { method, clientId, clientSecret } = credentials;
  if (clientId === '' && method === 'basic') {
    return 'the Authorization header must be Basic, with client_id:client_secret in base64.';
  }
  if (clientId === '') return 'client_id is missing: send it with client_secret in the body, or both by HTTP Basic.';
  if (clientSecret === '' && method === 'body') {
    return 'check client_id; client_secret was not sent, and only a public client has none.';
  }
  return 'check client_id and client_secret.';
}

/** RFC 6749 §5.2. @param advice what to do @param reason why, for the log */
export const invalidClient = (
  advice: string,
  reason?: string,
  headers: Readonly<Record<string, string>> = {},
): OAuthError => new OAuthError(401, 'invalid_client', `Client authentication failed: ${advice}`, headers, reason);

/** RFC 6749 §5.2: with a challenge where the client used the Authorization header. */
const CHALLENGE = { 'www-authenticate': 'Basic realm="tessera", charset="UTF-8"' };

type Found = { readonly client: Client; readonly secrets: readonly ClientSecret[] } | undefined;

/** Why a client was not believed: a reason of few words, and what an operator may want to know beside it. */
interface Failure {
  readonly reason: string;
  readonly cause?: string;
}

/**
 * Authenticates a client, before anything else of the request is looked at. Whatever is wrong, the answer is the same: an
 * unknown client, a wrong secret, a secret of a client that has none, an assertion that does not hold and a disabled client
 * are not told apart. How a client proves itself is what its registration says, never what the request leaves out
 * (OAuth 2.1 §2.4).
 * @throws {OAuthError} `invalid_client`, or `rate_limit_exceeded` after too many failures from one address
 */
export async function authenticateClient(
  parts: AuthenticationParts,
  credentials: ClientCredentials,
  origin: Origin,
): Promise<AuthenticatedClient> {
  const { database, limits } = parts;
  const now = parts.clock();
  const { found, bucket, exhausted } = await database.read(() => lookUp(parts, credentials.clientId, origin, now));

  if (credentials.method === 'assertion') {
    // Whoever has used up the guesses makes the server verify nothing more, and fetch nothing.
    if (exhausted > 0) throw rateLimited(exhausted);
    const client = await byAssertion(parts, found, credentials.assertion, now);
    return 'reason' in client ? fail(client) : authenticated(client, { kind: 'assertion' }, origin);
  }
  if (found?.client.type === 'public' && found.client.status === 'active' && isBare(credentials)) {
    return authenticated(found.client, { kind: 'public' }, origin);
  }
  const shown = bySecret(found, credentials);
  if ('reason' in shown) return fail(shown);
  // Someone who has used up the guesses learns nothing from the one that happens to be right.
  if (exhausted > 0) throw rateLimited(exhausted);
  const { client, secret } = shown;
  if (secret.lastUsedAt === null || secret.lastUsedAt + HOUR <= now) {
    await database.commit(() => markSecretUsed({ id: secret.id, now: now }));
  }
  return authenticated(client, { kind: 'secret', secret: credentials.clientSecret }, origin);

  async function fail(details: Failure): Promise<never> {
    const wait = await database.commit(function* fail() {
      const about = { origin, clientId: found?.client.id ?? null };
      const seconds = yield* take(bucket, limits.clientAuth, now, { name: 'clientAuth', ...about });
      if (seconds === 0) {
        yield* record({ at: now, type: 'client.auth_failed', outcome: 'failure', details: { ...details }, ...about });
      }
      return seconds;
    });
    throw wait > 0
      ? rateLimited(wait)
      : invalidClient(advice(credentials), details.reason, credentials.method === 'basic' ? CHALLENGE : {});
  }
}

/** Who is named, and whether guesses about that client from this address are used up: for so many seconds more. */
function* lookUp({ limits }: AuthenticationParts, clientId: string, { address }: Origin, now: number) {
  const found = yield* findClientAndSecrets(clientId, now);
  // Ids that are not on record share one count, or a stranger could make as many as he likes.
  const bucket = `client-auth ${found?.client.id ?? 'unknown'} ${addressBucket(address ?? '')}`;
  return { found, bucket, exhausted: yield* exceeded(bucket, limits.clientAuth, now) };
}

/** OpenID Connect Core 1.0 §9, `none`: the id alone, in the body. */
const isBare = ({ method, clientSecret }: Exclude<ClientCredentials, { method: 'assertion' }>): boolean =>
  method === 'body' && clientSecret === '';

/** `client_secret_basic` and `client_secret_post`. */
function bySecret(
  found: Found,
  { method, clientSecret }: Exclude<ClientCredentials, { method: 'assertion' }>,
): { readonly client: Client; readonly secret: ClientSecret } | Failure {
  const presented = digest(clientSecret);
  const secret = (found?.secrets ?? []).find((candidate) => equalSecrets(candidate.hash, presented));
  if (found === undefined) return { reason: 'unknown client' };
  const { client } = found;
  if (client.status !== 'active') return { reason: 'the client is disabled' };
  const registered = client.tokenEndpointAuthMethod;
  const used = method === 'basic' ? 'client_secret_basic' : 'client_secret_post';
  if (!presentsSecret(client) || (registered !== null && registered !== used)) return { reason: OTHER_METHOD };
  if (clientSecret === '') return { reason: 'no secret' };
  return secret === undefined ? { reason: 'wrong secret' } : { client, secret };
}

const OTHER_METHOD = 'another authentication method is registered';

/**
 * `private_key_jwt`. The assertion is used up here, in a commit of its own, whatever becomes of the request: so no endpoint
 * can forget it, and a client that tries again signs another one (RFC 7523 §3). Reading the client's keys may have taken
 * seconds, so that commit looks at the registration again: what was withdrawn meanwhile authenticates nobody.
 */
async function byAssertion(
  { database, issuer, clientKeys }: AuthenticationParts,
  found: Found,
  assertion: ReadAssertion | undefined,
  now: number,
): Promise<Client | Failure> {
  if (assertion === undefined) return { reason: 'the assertion is none that is offered' };
  if (found === undefined) return { reason: 'unknown client' };
  const { client } = found;
  if (client.status !== 'active') return { reason: 'the client is disabled' };
  if (client.tokenEndpointAuthMethod !== 'private_key_jwt') return { reason: OTHER_METHOD };
  const claims = await verified(clientKeys, client, assertion);
  if ('failure' in claims) return claims.failure;
  const audiences = [issuer, issuer + TOKEN_PATH];
  const verdict = judgeAssertion(claims.claims, { clientId: client.id, audiences, now });
  if (verdict.kind === 'refused') return { reason: verdict.reason };
  const hash = digest(`${client.id} ${verdict.jti}`);
  return database.commit(function* spend(): Work<Client | Failure> {
    const present = (yield* findClientAndSecrets(client.id, now))?.client;
    if (present === undefined || !provesItselfAs(client, present)) return { reason: 'the registration has changed' };
    const first = yield* spendAssertion(hash, verdict.expiresAt);
    return first ? present : { reason: 'the assertion was used before' };
  });
}

/** Whether a client is as active as it was, and proves itself by the same keys. */
const provesItselfAs = (before: Client, present: Client): boolean =>
  present.status === before.status &&
  present.generation === before.generation &&
  present.tokenEndpointAuthMethod === before.tokenEndpointAuthMethod &&
  present.jwksUri === before.jwksUri &&
  isDeepStrictEqual(present.jwks, before.jwks);

async function verified(
  clientKeys: ClientKeys,
  client: Client,
  assertion: ReadAssertion,
): Promise<{ readonly claims: Readonly<Record<string, unknown>> } | { readonly failure: Failure }> {
  try {
    const key = await clientKeys.find(client, assertion);
    if (key === undefined) return { failure: { reason: 'the assertion names no key of the client' } };
    const claims = verifyAssertion(assertion, key);
    return claims === undefined ? { failure: { reason: 'the assertion has a wrong signature' } } : { claims };
  } catch (error) {
    if (!(error instanceof ClientKeysUnreadable)) throw error;
    return { failure: { reason: 'the keys of the client cannot be read', cause: error.message } };
  }
}

function authenticated(client: Client, proof: ClientProof, origin: Origin): AuthenticatedClient {
  const actor = { type: 'client', id: client.id } as const;
  return { client, proof, origin: { ...origin, actor } } as AuthenticatedClient;
}
