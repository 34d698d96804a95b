// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { admin, authorizeUrl, newClient, type TestClient } from '../support/flow.ts';
import { type ProxiedServer, send, startBehind } from '../support/listening.ts';
import { ADMIN_KEY, startServer, type TestServer } from '../support/server.ts';

// Decisions §3 and docs/decisions/0013: what a developer learns of a request that is not redirected.

const REGISTERED = 'https://app.example.com/Callback';
const AUTHORIZE = '/api/v2/oauth/authorize';

let server: TestServer;
let client: TestClient;
let disabled: TestClient;
let browser: Agent;
let remote: ProxiedServer;
before(async () => {
  server = await startServer();
  const fields = { name: 'Acme <Notes>', redirectUris: [REGISTERED], postLogoutRedirectUris: [`${REGISTERED}/bye`] };
  client = await newClient(server, fields);
  disabled = await newClient(server);
  await admin(server, 'PATCH', `/clients/${disabled.clientId}`, { status: 'disabled' });
  browser = agent(server.baseUrl);
  remote = await startBehind('https://id.example.com');
});
after(() => Promise.all([server.close(), remote.close()]));

const query = (fields: Readonly<Record<string, string>>): string => `${AUTHORIZE}?${new URLSearchParams(fields)}`;
const asking = (redirectUri: string): string => authorizeUrl({ ...client, redirectUri });

/** What a page and what JSON say, as text. */
async function both(address: string): Promise<{ page: string; description: string }> {
  const page = await browser.get(address);
  assert.equal(page.status, 400);
  const json = await browser.get(address, { accept: 'application/json' });
  assert.equal(json.status, 400);
  const text = page.text.replaceAll(/<[^>]*>/g, ' ').replaceAll('&#39;', "'");
  return { page: text, description: JSON.parse(json.text).error_description };
}

test('each fault of the client has its own words, and says what to do', async () => {
  const redirect_uri = REGISTERED;
  const cases: [string, RegExp, RegExp][] = [
    [query({ redirect_uri }), /client_id is missing\./, /tessera client list/],
    [query({ client_id: '', redirect_uri }), /client_id is empty: the variable/, /tessera client list/],
    [`${query({ client_id: '1' })}&client_id=2`, /client_id was sent more than once\./, /Send it once/],
    [query({ client_id: 'my-app', redirect_uri }), /unknown client_id: those of this server/, /tessera client list/],
    [query({ client_id: '123', redirect_uri }), /No app is registered here/, /another server or database/],
    [query({ client_id: ` ${client.clientId}`, redirect_uri }), /white space around it/, /Send the number alone/],
    [authorizeUrl(disabled), /is disabled/, new RegExp(`tessera client enable ${disabled.clientId}`)],
    [query({ client_id: client.clientId }), /redirect_uri is missing/, /tessera client show/],
    [query({ client_id: client.clientId, redirect_uri: '' }), /redirect_uri is empty/, /tessera client show/],
    [`${asking(REGISTERED)}&redirect_uri=x`, /redirect_uri was sent more than once/, /Send it once/],
    [asking(`${REGISTERED}#x`), /must have no fragment/, /tessera client show/],
  ];
  for (const [address, what, remedy] of cases) {
    for (const text of Object.values(await both(address))) {
      assert.match(text, what);
      assert.match(text, remedy);
    }
  }
  assert.match((await both(authorizeUrl(disabled))).page, /This app is disabled/);
  // A name that is nearly right is shown beside what is missing.
  assert.match((await both(query({ clientId: '77', redirect_uri }))).page, /clientId received\s+77/);
});

test('on a developer’s own machine the closest registered address and the command are shown', async () => {
  const sent = 'https://app.example.com:8443/Callback';
  const { page, description } = await both(asking(sent));
  const command = `tessera client update ${client.clientId} --add-redirect-uri '${sent}'`;
  assert.ok(page.includes(command) && description.endsWith(command), description);
  assert.match(page, /the port/);
  assert.ok(description.includes(`${REGISTERED}, differs in: port.`), description);
});

test('what came is shown bounded, escaped and spelled out; a secret is not shown at all', async () => {
  const { text } = await browser.get(asking(`https://аpp.example.com/\u202e"><b>${'x'.repeat(4000)}`));
  assert.ok(text.includes('https://\\u{430}pp'), 'a letter that looks like another is told from it');
  assert.ok(text.includes('\\u{202e}&quot;&gt;&lt;b&gt;x') && !text.includes('x'.repeat(301)));
  const secret = await browser.get(query({ client_id: client.clientSecret, redirect_uri: REGISTERED }));
  assert.match(secret.text, /looks like a client secret/);
  assert.ok(!secret.text.includes(client.clientSecret));
});

test('a stranger is told of a registered address only where it is the one that came, in another spelling', async () => {
  const headers = { host: 'id.example.com', 'x-forwarded-proto': 'https', accept: 'application/json' };
  const body = JSON.stringify({ name: 'App', redirectUris: [REGISTERED] });
  const made = await send(
    remote.port,
    'POST',
    '/api/v2/admin/clients',
    { ...headers, authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    body,
  );
  const { clientId } = JSON.parse(made.text);
  const told = async (redirectUri: string) => {
    const { status, text } = await send(
      remote.port,
      'GET',
      query({ client_id: clientId, redirect_uri: redirectUri, response_type: 'code' }),
      headers,
    );
    assert.equal(status, 400);
    return String(JSON.parse(text).error_description);
  };
  for (const near of [`${REGISTERED}/`, REGISTERED.toLowerCase(), REGISTERED.replace('https', 'http')]) {
    assert.ok((await told(near)).includes(`${REGISTERED}, differs in:`), near);
  }
  for (const far of [
    'https://app.example.com/other',
    'https://app.example.com:8443/Callback',
    'https://evil.example/',
  ]) {
    const text = await told(far);
    assert.ok(!text.includes(REGISTERED) && !/differs/.test(text) && !text.includes(far), text);
    assert.match(text, new RegExp(`tessera client show ${clientId}$`));
  }
});

test('an address to return to after signing out is explained in the same way', async () => {
  const leave = (uri: string) =>
    browser.get(`/oidc/logout?${new URLSearchParams({ client_id: client.clientId, post_logout_redirect_uri: uri })}`);
  const { status, text, headers } = await leave(`${REGISTERED}/bye/`);
  assert.equal(status, 200);
  assert.match(text, /a trailing slash/);
  assert.match(text, /--add-post-logout-redirect-uri &#39;https:/);
  assert.ok(text.includes(`<code>${headers.get('x-request-id')}</code>`));
  assert.doesNotMatch((await leave(`${REGISTERED}/bye`)).text, /For the developer/);
});
