import { record } from '../../audit/audit.ts';
import type { ClientWithSecrets } from '../../clients/clients.ts';
import { claimsFault } from '../../clients/rules/assertion.ts';
import { isUrlForm } from '../../clients/rules/metadata-document.ts';
import {
  type Client,
  type ClientSecret,
  findClient,
  findSecretOwner,
  isSecretId,
  liveSecrets,
} from '../../clients/store.ts';
import { exceeded, take } from '../../limits/limits.ts';
import type { Limits } from '../../limits/settings.ts';
import { type Clock, iso } from '../../platform/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { OAuthError } from '../../platform/oauth-error.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { addressBucket } from '../../platform/validation/origin.ts';
import { unwrapped } from '../../platform/validation/sent-text.ts';
import type { MetadataClients } from '../client-metadata/metadata-clients.ts';
import type { ClientKeys } from './client-keys.ts';
import { authenticateByIdAlone } from './none.ts';
import { authenticateByAssertion } from './private-key-jwt.ts';
import type { ClientCredentials } from './read-credentials.ts';
import { type AuthenticationRefusalName, refuseClient } from './refusals.ts';
import { kindByForm, type SecretKind } from './rules/secret-kind.ts';
import { matchSecret, recordSecretUse } from './secret.ts';

/** How a client authenticated. */
export type ClientProof =
  /** By the secret as it was presented. It signs the ID token under HS256 (OpenID Connect Core 1.0 §10.1). */
  | { readonly kind: 'secret'; readonly secret: string }
  /** By its id alone, because it is a public client (RFC 6749 §2.1). */
  | { readonly kind: 'public' }
  /** By an assertion signed with its key, which is used up now (RFC 7523 §2.2). */
  | { readonly kind: 'assertion' };

/** A client that was authenticated. Only {@link authenticateClient} makes one. */
export type AuthenticatedClient = {
  readonly client: Client;
  readonly proof: ClientProof;
  readonly origin: Origin;
  readonly [proved]: true;
};
declare const proved: unique symbol;

/** Why a client was not authenticated, as the catalogue names it. */
export interface AuthenticationFailure {
  readonly reason: AuthenticationRefusalName;
  readonly cause?: string;
}

/** What client authentication works with. */
export interface AuthenticationParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly issuer: string;
  readonly clientKeys: ClientKeys;
  readonly metadataClients: MetadataClients;
}

/** The request that a client authenticates. */
interface AuthenticationContext {
  readonly origin: Origin;
  /** The path of the called endpoint: an assertion may name its URL as the audience (RFC 7523 §3). */
  readonly endpoint: string;
  /** Whether a page in a browser sent it. */
  readonly isInBrowser?: boolean;
  /** Whether a caller with the right secret learns that the client is disabled. */
  readonly namesDisabled?: boolean;
}

/**
 * Authenticates a client, before anything else of the request is looked at. An unknown client, a wrong secret, an invalid assertion
 * and a disabled client get the same answer, except where the caller knows the cause anyway: docs/decisions/0013.
 * @throws {OAuthError} `invalid_client`, or `rate_limit_exceeded` after too many failures from one address
 */
export async function authenticateClient(
  parts: AuthenticationParts,
  credentials: ClientCredentials,
  { origin, endpoint, isInBrowser = false, namesDisabled = true }: AuthenticationContext,
): Promise<AuthenticatedClient> {
  const { database, limits } = parts;
  const now = parts.clock();
  const { found, bucket, exhausted } = await lookUp(parts, credentials.clientId, origin, now);
  // After too many failures no assertion is verified, and no key set is fetched.
  if (exhausted > 0 && credentials.method === 'private_key_jwt') throw tooManyFailures(exhausted);

  const presented = withoutEmptySecret(credentials, found?.client);
  const result = await verifyCredentials(parts, found, presented, { endpoint, now });
  if ('reason' in result) {
    const client = found?.client;
    const about = { origin, clientId: client?.id ?? null };
    const { wait, secret } = await database.commit(function* fail() {
      // For every client, known or not, or the time would tell which exist.
      const kind =
        'clientSecret' in credentials ? yield* secretKind(credentials.clientSecret, about.clientId, now) : undefined;
      return { wait: yield* recordFailure(limits, bucket, { ...result, ...formerOf(kind) }, about, now), secret: kind };
    });
    if (wait > 0) throw tooManyFailures(wait);
    const { reason, cause } = result;
    const fault =
      'assertion' in credentials ? claimsFault(credentials.assertion, audiencesOf(parts, endpoint), now) : undefined;
    const isProved = (namesDisabled || client?.status === 'active') && hasSecret(presented, found?.secrets ?? []);
    throw refuseClient(reason, {
      credentials,
      client,
      isProved,
      endpoint,
      isInBrowser,
      issuer: parts.issuer,
      ...(fault && { fault }),
      ...(secret && { secret }),
      ...(cause !== undefined && { cause }),
    });
  }
  if (result.usedSecret !== undefined) {
    // After too many failures the right secret is refused as well, so that guessing on is of no use.
    if (exhausted > 0) throw tooManyFailures(exhausted);
    await recordSecretUse(database, result.usedSecret, now);
  }
  const actor = { type: 'client', id: result.client.id } as const;
  return { client: result.client, proof: result.proof, origin: { ...origin, actor } } as AuthenticatedClient;
}

/** What the trace says after too many failures from one address. */
const TOO_MANY_FAILURES = {
  expected: 'client credentials that are right',
  received: 'failed client authentications: too many of this client from one address',
  remedy:
    'Correct the secret of the app, or the key that it signs with, then wait for the seconds in Retry-After: until then the right one is refused as well. The limit is TESSERA_LIMIT_CLIENT_AUTH. The failures: tessera events --type client.auth_failed',
};

/** Says nothing of whether there is such a client: made-up ids are counted as one. */
const tooManyFailures = (seconds: number): OAuthError =>
  new OAuthError(
    429,
    'rate_limit_exceeded',
    `Too many failed authentications of this client from this address. Correct the secret or the key, then wait ${seconds} seconds: until then the right one is refused as well.`,
    { 'retry-after': String(seconds) },
    undefined,
    TOO_MANY_FAILURES,
  );

/** Counts a failure, and records it unless there were too many. Returns the seconds to wait then. */
function* recordFailure(
  limits: Limits,
  bucket: string,
  { reason, cause, secretId }: AuthenticationFailure & { readonly secretId?: string },
  about: { readonly origin: Origin; readonly clientId: string | null },
  now: number,
): Work<number> {
  const seconds = yield* take(bucket, limits.clientAuth, now, { name: 'clientAuth', ...about });
  if (seconds > 0) return seconds;
  const details = { reason, ...(cause !== undefined && { cause }), ...(secretId !== undefined && { secretId }) };
  yield* record({ at: now, type: 'client.auth_failed', outcome: 'failure', details, ...about });
  return 0;
}

/** What a wrong secret is, by its form and by the secrets on record. */
function* secretKind(presented: string, clientId: string | null, now: number): Work<SecretKind> {
  const owner = yield* findSecretOwner({ hash: digest(unwrapped(presented)?.bare ?? presented) });
  if (owner === undefined) {
    const isId = isSnowflake(presented) && (yield* isSecretId({ id: presented })) !== undefined;
    return isId ? { kind: 'an id of a secret' } : kindByForm(presented);
  }
  if (owner.clientId !== clientId) return { kind: 'another app', clientId: owner.clientId };
  const { id: secretId, endedAt, expiresAt } = owner;
  if (endedAt !== null) return { kind: 'ended', at: iso(endedAt), secretId };
  if (expiresAt !== null && expiresAt <= now) return { kind: 'expired', at: iso(expiresAt), secretId };
  return kindByForm(presented);
}

/** Which former secret of the client was sent: the audit trail tells from where it is still used. */
const formerOf = (kind: SecretKind | undefined): { readonly secretId?: string } =>
  kind !== undefined && 'secretId' in kind ? { secretId: kind.secretId } : {};

/** The identifiers of this server for an assertion. */
const audiencesOf = ({ issuer }: AuthenticationParts, endpoint: string): readonly string[] => [
  issuer,
  issuer + endpoint,
];

/** Whether a request has a secret of the client that is valid now. */
const hasSecret = (credentials: ClientCredentials, secrets: readonly ClientSecret[]): boolean =>
  'clientSecret' in credentials &&
  !('reason' in matchSecret(credentials.clientSecret, digest(credentials.clientSecret), secrets));

/** Reads the client, and for how many seconds its failures from this address are used up. */
async function lookUp(
  { database, limits, metadataClients }: AuthenticationParts,
  clientId: string,
  { address }: Origin,
  now: number,
) {
  // All unknown ids share one count per address: otherwise each made-up id would add a row.
  const bucketOf = (id: string) => `client-auth ${id} ${addressBucket(address ?? '')}`;
  const wait = (bucket: string) => database.read(() => exceeded(bucket, limits.clientAuth, now));
  if (isUrlForm(clientId)) {
    const found = await database.read(() => metadataClients.findRecorded(clientId));
    const bucket = bucketOf(found?.id ?? 'unknown');
    const exhausted = await wait(bucket);
    return { found: found && { client: found, secrets: [] }, bucket, exhausted };
  }
  if (isSnowflake(clientId)) {
    const bucket = bucketOf(clientId);
    // In one turn, which is one round trip to a database server.
    const [client, secrets, exhausted] = await Promise.all([
      database.read(() => findClient({ id: clientId })),
      database.read(() => liveSecrets({ clientId, now })),
      wait(bucket),
    ]);
    // One with a metadata document has its URL as client_id, and no other.
    if (client?.metadataUrl === null) return { found: { client, secrets }, bucket, exhausted };
  }
  const bucket = bucketOf('unknown');
  return { found: undefined, bucket, exhausted: await wait(bucket) };
}

/** RFC 6749 §2.3.1: a client whose secret is the empty string may send `client_id:` by HTTP Basic. Only public clients have none. */
function withoutEmptySecret(credentials: ClientCredentials, client: Client | undefined): ClientCredentials {
  const isEmpty = credentials.method === 'client_secret_basic' && credentials.clientSecret === '';
  return isEmpty && client?.type === 'public' ? { method: 'none', clientId: credentials.clientId } : credentials;
}

interface VerifiedCredentials {
  readonly client: Client;
  readonly proof: ClientProof;
  readonly usedSecret?: ClientSecret;
}

async function verifyCredentials(
  parts: AuthenticationParts,
  found: ClientWithSecrets | undefined,
  credentials: ClientCredentials,
  { endpoint, now }: Pick<AuthenticationContext, 'endpoint'> & { readonly now: number },
): Promise<VerifiedCredentials | AuthenticationFailure> {
  if (credentials.method === 'private_key_jwt' && credentials.assertion === undefined) {
    return { reason: 'the assertion is not supported', cause: credentials.is };
  }
  // TK-06: the secret, whose length the caller chooses, is hashed for every client, or the time would tell which exist.
  const hash = 'clientSecret' in credentials ? digest(credentials.clientSecret) : '';
  if (credentials.clientId === '') {
    const isHeader = credentials.method === 'client_secret_basic';
    return { reason: isHeader ? 'unreadable Authorization header' : 'client_id missing' };
  }
  if (found === undefined) return { reason: 'unknown client' };
  const { client, secrets } = found;
  if (client.status !== 'active') return { reason: 'the client is disabled' };
  if (!isRegisteredMethod(client, credentials)) return { reason: 'another authentication method is registered' };

  switch (credentials.method) {
    case 'none': {
      const proof = authenticateByIdAlone(client);
      return 'reason' in proof ? proof : { client, proof };
    }
    case 'client_secret_basic':
    case 'client_secret_post': {
      const { clientSecret } = credentials;
      const usedSecret = matchSecret(clientSecret, hash, secrets);
      return 'reason' in usedSecret
        ? usedSecret
        : { client, proof: { kind: 'secret', secret: clientSecret }, usedSecret };
    }
    case 'private_key_jwt': {
      const audiences = audiencesOf(parts, endpoint);
      const current = await authenticateByAssertion(parts, client, credentials.assertion, { audiences, now });
      return 'reason' in current ? current : { client: current, proof: { kind: 'assertion' } };
    }
  }
}

/**
 * Whether the client's registration allows a method. What a request leaves out never does (OAuth 2.1 §2.4): one of a confidential
 * client without a secret counts as `client_secret_post`.
 */
function isRegisteredMethod(
  { type, tokenEndpointAuthMethod: registered }: Client,
  { method }: ClientCredentials,
): boolean {
  if (type === 'public') return method === 'none';
  const used = method === 'none' ? 'client_secret_post' : method;
  return registered === null ? used !== 'private_key_jwt' : used === registered;
}
