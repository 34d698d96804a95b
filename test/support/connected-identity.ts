import assert from 'node:assert/strict';
import { randomName } from '../../src/platform/crypto/secrets.ts';
import { admin } from './flow.ts';
import { query } from './outcome.ts';
import type { TestServer } from './server.ts';

let made = 0;

/** Registers a provider to which no request goes. */
export async function newProviderRecord(
  server: TestServer,
  fields: { readonly displayName?: string } = {},
): Promise<{ readonly id: string; readonly name: string }> {
  const input = {
    ...{ name: `connected-${++made}`, issuer: `https://provider-${made}.example`, clientId: 'tessera' },
    ...fields,
  };
  const { status, body } = await admin(server, 'POST', '/upstreams', input);
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

/** Connects an identity at a provider to an account, as a sign-in there would. @returns the ID of the identity */
export async function connectIdentity(
  server: TestServer,
  accountId: string,
  fields: { readonly displayName?: string } = {},
): Promise<string> {
  const { id } = await newProviderRecord(server, fields);
  const identity = randomName();
  await query(
    server,
    `INSERT INTO upstream_identity (id, upstream_id, issuer, subject, account_id, created_at) VALUES ('${identity}', ${id}, 'https://provider.example', 'subject-${made}', ${accountId}, ${server.now()})`,
  );
  return identity;
}
