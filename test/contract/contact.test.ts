// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { admin, authorizeUrl, newClient, newUser, PASSWORD, signedIn } from '../support/flow.ts';
import { startServer, type TestServer } from '../support/server.ts';

// Decisions §7, TESSERA_CONTACT: a page that stops a person says what to do next, and whom to ask.

const MAIL = 'help+id@acme.example';
const LINK = `<a href="mailto:help%2Bid@acme.example">${MAIL}</a>`;

let server: TestServer;
let silent: TestServer;
before(async () => {
  server = await startServer({ TESSERA_CONTACT: MAIL });
  silent = await startServer();
});
after(() => Promise.all([server.close(), silent.close()]));

/** The problem that the sign-in page shows. */
async function problemAt(at: TestServer, username: string, password: string): Promise<string> {
  const browser = agent(at.baseUrl);
  const answer = await browser.submit(await browser.get('/login'), { identifier: username, password });
  return /<div class="notice problem"[^>]*><p>(.*?)<\/p>/.exec(answer.text)?.[1] ?? answer.text;
}

test('a wrong password, a ban and a suspension say what to do next, and whom to ask', async () => {
  for (const [at, operator] of [
    [server, LINK],
    [silent, `the operator of <bdi>${new URL(silent.baseUrl).host}</bdi>`],
  ] as const) {
    const user = await newUser(at);
    const shown = (password = PASSWORD) => problemAt(at, user.username, password);
    assert.ok((await shown('not the password')).endsWith('or choose “Forgot your password?” below.'));
    assert.ok(
      (await agent(at.baseUrl).get('/recover')).text.includes(`contact ${operator} and ask for a recovery link`),
    );
    await admin(at, 'PUT', `/users/${user.id}/ban`, {});
    assert.ok((await shown()).endsWith(`If you think that this is a mistake, contact ${operator}.`));
    await admin(at, 'PUT', `/users/${user.id}/ban`, { until: new Date(at.now() + 60_000).toISOString() });
    assert.match(await shown(), /banned until .* You can sign in after that\. If you think/);
    await admin(at, 'DELETE', `/users/${user.id}/ban`);
    await admin(at, 'PUT', `/users/${user.id}/suspension`, {});
    assert.ok((await shown()).endsWith(`To use it again, contact ${operator}.`));
  }
});

test('error pages, the forms that sign in and the pages of the account name the contact', async () => {
  const browser = await signedIn(server, await newUser(server));
  const pages = [
    '/nowhere',
    '/login?request=unknown',
    authorizeUrl({ clientId: '1', clientSecret: '', redirectUri: 'x' }),
  ];
  for (const path of [...pages, '/account', '/account/connections']) {
    assert.ok((await browser.get(path)).text.includes(`ontact ${LINK}`), path);
  }
  // What the person is to send is shown, where the details for the developer are folded.
  for (const path of pages) {
    const { text } = await browser.get(path);
    const [shown = ''] = text.split('<details class="technical">');
    assert.ok(shown !== text && shown.includes(`contact ${LINK}, and send this correlation ID: `), text);
    assert.ok(shown.includes(/tessera explain ([\w-]{36})/.exec(text)?.[1] ?? 'an ID'), shown);
  }
  const stranger = agent(server.baseUrl);
  for (const path of ['/login', '/signup']) {
    assert.ok((await stranger.get(path)).text.includes(`Need help? Contact ${LINK}.`), path);
    assert.doesNotMatch((await agent(silent.baseUrl).get(path)).text, /Need help/);
  }
  const { text } = await agent(silent.baseUrl).get('/nowhere');
  assert.match(text, /For help, contact the operator of <bdi>/);
});

test('an https URL is a link to that page', async () => {
  const other = await startServer({ TESSERA_CONTACT: 'https://acme.example/help?a=1&b=2' });
  try {
    const { text } = await agent(other.baseUrl).get('/login');
    const shown = 'https://acme.example/help?a=1&amp;b=2';
    assert.ok(text.includes(`<a href="${shown}">${shown}</a>`));
  } finally {
    await other.close();
  }
});

test('an error page says what to do and leads to the account, with what only a developer needs folded', async () => {
  const browser = agent(silent.baseUrl);
  const { clientId } = await newClient(silent);
  const wrong = {
    'an unknown client': '/api/v2/oauth/authorize',
    'a wrong redirect URI': authorizeUrl({ clientId, clientSecret: '', redirectUri: 'https://other.example' }),
    'a wrong request to sign out': '/oidc/logout?state=a&state=b',
  };
  const folded = /<details class="technical"><summary>For the developer<\/summary>.*Correlation ID/s;
  for (const [name, path] of Object.entries({ ...wrong, 'no page': '/nowhere', expired: '/login?request=unknown' })) {
    const { text } = await browser.get(path);
    assert.match(text, /<a href="\/account">Go to your account<\/a>/, name);
    assert.match(text, folded, name);
  }
  for (const path of [wrong['an unknown client'], wrong['a wrong redirect URI']]) {
    assert.match((await browser.get(path)).text, /Go back to the app and start again\./);
  }
  const unknown = await browser.get('/oidc/logout?client_id=1');
  assert.match(unknown.text, folded, 'what is wrong with a way back');
});
