import assert from 'node:assert/strict';
import { admin, newClient, newUser, refresh, tokensFor, userinfo } from '../test/support/flow.ts';
import { ADMIN_KEY, type TestServer } from '../test/support/server.ts';

/** The setting by which a server that is checked accepts what the check asks of it. */
export const CHECKED = { TESSERA_ADMIN_KEY: ADMIN_KEY } as const;

/**
 * Takes one person through a running installation: a client and an account, sign-in and consent in the pages, code, tokens, UserInfo,
 * refresh, and a disconnection, after which no token is accepted.
 */
export async function driveSignIn(baseUrl: string): Promise<void> {
  const server = { baseUrl } as TestServer;
  const [client, user] = [await newClient(server), await newUser(server)];
  const tokens = await tokensFor(server, client, user);
  assert.equal((await userinfo(server, tokens.access_token)).status, 200);
  const renewed = await refresh(server, client, tokens.refresh_token);
  assert.equal(renewed.status, 200, JSON.stringify(renewed.body));
  const ended = await admin(server, 'DELETE', `/users/${user.id}/connections/${client.clientId}`);
  assert.ok(ended.status < 300, JSON.stringify(ended.body));
  assert.equal((await userinfo(server, renewed.body.access_token)).status, 403);
}
