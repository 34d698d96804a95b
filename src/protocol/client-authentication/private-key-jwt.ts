import { isDeepStrictEqual } from 'node:util';
import { compactVerify } from 'jose/jws/compact/verify';
import { type ReadAssertion, validateAssertion } from '../../clients/rules/assertion.ts';
import { type Client, findClient, wireId } from '../../clients/store.ts';
import type { ClientKey } from '../../keys/rules/jwks.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { useAssertion } from './assertion-store.ts';
import type { AuthenticationFailure } from './authenticate.ts';
import { type ClientKeys, ClientKeysUnreadable } from './client-keys.ts';

/**
 * `private_key_jwt` (RFC 7523 §2.2). The assertion is used up in a commit of its own, before anything else of the request is
 * looked at: so no endpoint can forget it, and a client that retries signs another one (RFC 7523 §3). Fetching the client's keys
 * may take seconds, so that commit reads the registration again.
 * @returns the client as it is registered after its keys were fetched
 */
export async function authenticateByAssertion(
  { database, clientKeys }: { readonly database: Database; readonly clientKeys: ClientKeys },
  client: Client,
  assertion: ReadAssertion,
  { audiences, now }: { readonly audiences: readonly string[]; readonly now: number },
): Promise<Client | AuthenticationFailure> {
  const key = await findKey(clientKeys, client, assertion);
  if (key === undefined) return { reason: 'the assertion names no key of the client' };
  if ('reason' in key) return key;
  const claims = await verifySignature(assertion, key);
  if (claims === undefined) return { reason: 'the assertion has a wrong signature' };
  const valid = validateAssertion(claims, { clientId: wireId(client), audiences, now });
  if ('reason' in valid) return valid;
  const hash = digest(`${client.id} ${valid.jti}`);
  return database.commit(function* useOnce(): Work<Client | AuthenticationFailure> {
    const current = yield* findClient({ id: client.id });
    if (current === undefined || !isSameRegistration(client, current))
      return { reason: 'the registration has changed' };
    const isFirstUse = yield* useAssertion({ hash, expiresAt: valid.expiresAt });
    return isFirstUse ? current : { reason: 'the assertion was used before' };
  });
}

async function findKey(
  clientKeys: ClientKeys,
  client: Client,
  assertion: ReadAssertion,
): Promise<ClientKey | AuthenticationFailure | undefined> {
  try {
    return await clientKeys.find(client, assertion);
  } catch (error) {
    if (!(error instanceof ClientKeysUnreadable)) throw error;
    return { reason: 'the keys of the client cannot be read', cause: error.message };
  }
}

/** The claims, if this key signed them with an algorithm that it is for (RFC 8725 §3.1). */
async function verifySignature(
  { token }: ReadAssertion,
  { algs, key }: ClientKey,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const { payload } = await compactVerify(token, key, { algorithms: [...algs] });
    const claims: unknown = JSON.parse(Buffer.from(payload).toString('utf8'));
    return typeof claims === 'object' && claims !== null ? { ...claims } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a client is still active, and authenticates with the same keys. */
const isSameRegistration = (before: Client, current: Client): boolean =>
  current.status === before.status &&
  current.generation === before.generation &&
  current.tokenEndpointAuthMethod === before.tokenEndpointAuthMethod &&
  current.jwksUri === before.jwksUri &&
  isDeepStrictEqual(current.jwks, before.jwks);
