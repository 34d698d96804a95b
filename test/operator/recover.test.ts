// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertInvalidGrant, assertInvalidToken, TOKEN } from '../support/api-call.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { parts } from '../support/forged-token.ts';
import { startReceiver, tokenOf, verifyLogoutToken } from '../support/logout-receiver.ts';
import { MINUTE } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { asClient, introspect } from '../support/token-services.ts';
import { tessera } from './command.ts';

const server = await startServer();
const receiver = await startReceiver();
after(() => Promise.all([server.close(), receiver.close()]));
// The command goes by the clock of the machine.
server.advance(Date.now() - server.now());

const kids = async (): Promise<string[]> =>
  ((await (await fetch(`${server.baseUrl}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] }).keys.map(
    ({ kid }) => kid,
  );

test('a recovery ends all that was issued, on every database and beside a server that runs', async () => {
  const user = await newUser(server);
  const client = await newClient(server, { idTokenSignedResponseAlg: 'RS256', backchannelLogoutUri: receiver.uri });
  for (const alg of ['ES256', 'EdDSA']) await newClient(server, { idTokenSignedResponseAlg: alg });
  const machine = { redirectUri: '', ...(await admin(server, 'POST', '/clients', MACHINE)).body };
  const browser = await signedIn(server, user);
  const tokens = await tokensFor(server, client, user, {}, { browser });
  const code = await codeFor(server, client, user, {}, { browser });
  const own = await asClient(server, TOKEN, machine, { grant_type: 'client_credentials' });
  const { body: key } = await withKey();
  const waiting = await browser.get(authorizeUrl(client, { prompt: 'login' }));
  const invitation = (await admin(server, 'POST', '/invitations', {})).body.link;
  assert.equal((await browser.get(invitation)).status, 200);
  const [before, kid] = [await kids(), parts(tokens.access_token).header['kid']];
  assert.equal((await introspect(server, machine, own.body.access_token)).body.active, true);
  assert.equal((await admin(server, 'GET', '/users', undefined, key.adminKey)).status, 200);

  const run = await tessera(['recover', '--accept-loss', '--yes', '--json'], { env: server.environment });
  const done = JSON.parse(run.stdout) as { adminKeysRevoked: number; kid: string };
  server.advance(Math.max(0, Date.now() - server.now()) + MINUTE);

  // First of all: nothing else has made the server read its new keys.
  await server.deliverNotices();
  assert.equal(receiver.received.length, 1, 'the app was told that its sessions have ended');
  await verifyLogoutToken(server, tokenOf(receiver.received[0]), { clientId: client.clientId, alg: 'RS256' });
  assertInvalidToken(await userinfo(server, tokens.access_token));
  assertInvalidGrant(await refresh(server, client, tokens.refresh_token));
  assertInvalidGrant(await redeem(server, client, code));
  assert.equal((await introspect(server, machine, own.body.access_token)).body.active, false);
  assert.equal((await browser.get('/account')).location?.pathname, '/login');
  assert.equal((await admin(server, 'GET', '/users', undefined, key.adminKey)).status, 401);
  assert.equal((await admin(server, 'GET', '/users')).status, 200, 'the key of the settings is the operator’s');
  assert.equal((await browser.get(waiting.location?.href ?? '/')).status, 400, 'the pending request is gone');
  assert.equal((await browser.get(invitation)).status, 404, 'an invitation that was used since would be open again');
  const now = await kids();
  assert.deepEqual(
    [now.length, now.filter((name) => before.includes(name))],
    [3, []],
    'no ID token of before verifies',
  );
  assert.equal(done.adminKeysRevoked, 1);

  // What people and apps have of themselves is as it was, and consents are asked for.
  const again = await signedIn(server, user);
  const page = await again.get(authorizeUrl(client));
  assert.equal(page.location?.pathname, '/consent');
  const anew = await tokensFor(server, client, user, {}, { browser: again });
  assert.equal((await userinfo(server, anew.access_token)).status, 200);
  assert.notEqual(parts(anew.access_token).header['kid'], kid);
  assert.equal(parts(anew.access_token).header['kid'], done.kid);
  assert.equal((await asClient(server, TOKEN, machine, { grant_type: 'client_credentials' })).status, 200);
  const { body } = await admin(server, 'GET', '/audit-events?type=data.recovered');
  assert.deepEqual(body.items[0].details, {
    missing: null,
    adminKeys: 1,
    kid: done.kid,
    systemUser: body.items[0].details.systemUser,
  });
});

test('the command is explicit, and says what only people can know', async () => {
  const env = server.environment;
  const unsaid = await tessera(['recover'], { env });
  assert.equal(unsaid.code, 2);
  assert.match(unsaid.stderr, /--accept-loss/);
  const declined = await tessera(['recover', '--accept-loss'], { env, input: 'no\n', atTerminal: true });
  assert.equal(declined.code, 1);
  const done = await tessera(['recover', '--accept-loss', '--yes'], { env });
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stdout, /invalid: sessions, codes,.*\n\nChanges made since \d{4}-.* may be missing/);
  const shown = await tessera(['recover', '--accept-loss', '--yes', '--json'], { env });
  assert.deepEqual(Object.keys(JSON.parse(shown.stdout)), [
    'recovered',
    'missing',
    'unknown',
    'adminKeysRevoked',
    'kid',
  ]);
});

const MACHINE = { name: 'Nightly job', grantTypes: ['client_credentials'] };
const withKey = async () => ({
  body: JSON.parse((await tessera(['admin-key', 'create', '--json'], { env: server.environment })).stdout),
});
