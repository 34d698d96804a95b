// store: SQLite, PostgreSQL with --all
/** RFC 9700 §4.11.2: a link to this service leads nobody who is not signed in to the address of an app that no operator answers for. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { admin, authorizeUrl, newClient, newUser, signedIn, standard, type TestClient } from '../support/flow.ts';
import { newSelfRegistered } from '../support/registration.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_REGISTRATION: 'open', TESSERA_LIMIT_PENDING_ADDRESS: '1/h' });
after(() => server.close());

const app = await newSelfRegistered(server, { client_name: 'Look <b>alike</b>' });
/** The address of a request; a public app sends a PKCE challenge. */
const request = (client: TestClient, more: Readonly<Record<string, string>> = {}): string =>
  authorizeUrl(client, { code_challenge: 'c'.repeat(43), code_challenge_method: 'S256', ...more });
const HOST = new URL(app.redirectUri).hostname;
const MISTAKES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  invalid_scope: { scope: 'nonsense' },
  unsupported_response_type: { response_type: 'token' },
  request_not_supported: { request: 'x' },
  invalid_target: { resource: 'https://nowhere.example/' },
  login_required: { claims: JSON.stringify({ id_token: { sub: { values: [] } } }) },
};

/** Where the page leads that stands before the app: what the app is told there. */
async function told(browser: Agent, address: string): Promise<{ readonly text: string; readonly way: URL }> {
  const page = await browser.get(address);
  assert.deepEqual([page.status, page.location], [400, undefined], page.text);
  const [, way = ''] = /<a href="([^"]+)" rel="noreferrer">/.exec(page.text) ?? [];
  return { text: page.text, way: new URL(way.replaceAll('&amp;', '&')) };
}

for (const [error, more] of Object.entries(MISTAKES)) {
  test(`AZ-06: ${error} of a stranger’s app goes by a page that names the app and the host, and is told by its link`, async () => {
    const { text, way } = await told(agent(server.baseUrl), request(app, { state: 's', ...more }));
    assert.match(text, new RegExp(`Look &lt;b&gt;alike[\\s\\S]*${HOST}`));
    assert.match(text, /href="[^"]*\/account"/);
    assert.equal(way.hostname, HOST);
    assert.equal(way.searchParams.get('state'), 's');
    assert.equal(way.searchParams.get('error'), error);
  });

  test(`AZ-06: ${error} goes at once where the person is signed in, and for an app that an operator registered`, async () => {
    const browser = await signedIn(server, await newUser(server));
    const answer = await browser.get(request(app, more));
    assert.equal(answer.location?.searchParams.get('error'), error, answer.text);
    const own = standard(await newClient(server));
    const direct = await agent(server.baseUrl).get(request(own, more));
    assert.equal(direct.location?.searchParams.get('error'), error, direct.text);
  });
}

test('AZ-06: prompt=none has no page, and an accepted app is an operator’s', async () => {
  const silent = await agent(server.baseUrl).get(request(app, { prompt: 'none' }));
  assert.equal(silent.location?.searchParams.get('error'), 'login_required');
  const accepted = await newSelfRegistered(server);
  assert.equal((await admin(server, 'PUT', `/clients/${accepted.clientId}/acceptance`)).status, 200);
  const answer = await agent(server.baseUrl).get(request(accepted, { scope: 'nonsense' }));
  assert.equal(answer.location?.searchParams.get('error'), 'invalid_scope');
});

test('AZ-06: by a form, the page sends nothing by itself', async () => {
  const address = request(app, { scope: 'nonsense', response_mode: 'form_post', state: 's' });
  const page = await agent(server.baseUrl).get(address);
  assert.equal(page.status, 400);
  assert.equal(page.text.includes('data-send'), false);
  assert.match(page.text, new RegExp(`<form method="post" action="${app.redirectUri}">`));
  assert.match(page.text, /name="error" value="invalid_scope"/);
});

test('AZ-06: also where too many sign-ins have begun', async () => {
  const browser = agent(server.baseUrl);
  let page = await browser.get(request(app));
  for (let count = 0; page.location !== undefined && count < 3; count++) page = await browser.get(request(app));
  assert.equal(page.status, 400, page.text);
  assert.match(page.text, /temporarily_unavailable/);
});
