// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Answer, agent, formOf } from '../support/agent.ts';
import { admin, authorizeUrl, newClient, newUser, PASSWORD, redeem, signedIn, walk } from '../support/flow.ts';
import { assertErrorRedirect, codeOf, settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// OAuth 2.0 Form Post Response Mode 1.0 §2.

const server = await startServer();
after(() => server.close());
const client = await newClient(server, { redirectUris: ['https://app.example.com/cb?tenant=1&next=%2Fhome'] });
const browser = await signedIn(server, await newUser(server));
await walk(browser, authorizeUrl(client));

const ask = (more: Readonly<Record<string, string>> = {}) =>
  browser.get(authorizeUrl(client, { response_mode: 'form_post', ...more }));

/** The fields of the page, which must be the one that goes to the client. */
function fieldsOf(page: Answer, of = client): Record<string, string> {
  assert.equal(page.status, 200, page.text.slice(0, 300));
  assert.equal(page.location, undefined);
  const { action, hidden } = formOf(page.text);
  assert.equal(action, of.redirectUri, 'the address is the registered one, with its own query');
  return hidden;
}

test('success: code, state and iss are the fields, and the code works', async () => {
  const page = await ask();
  const { code = '', ...others } = fieldsOf(page);
  assert.deepEqual(others, { state: 'st4te', iss: server.baseUrl });
  assert.equal((await redeem(server, client, code)).status, 200);
});

test('the page is not cached, runs only our own script, and its form may go to the app', async () => {
  const { headers, text } = await ask();
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(headers.get('pragma'), 'no-cache');
  const policy = headers.get('content-security-policy') ?? '';
  for (const directive of [
    "default-src 'none'",
    "script-src 'self'",
    "frame-ancestors 'none'",
    "form-action 'self' https:",
  ]) {
    assert.ok(policy.split('; ').includes(directive), `${directive}: ${policy}`);
  }
  assert.doesNotMatch(text, /<script(?![^>]* src="\/assets\/)|\son[a-z]+=/);
  assert.match(text, /<button class="primary" type="submit">/, 'it works without script');
});

test('errors go the same way, those of a faulty request and those of a person', async () => {
  const wrong = fieldsOf(await ask({ scope: 'bogus' }));
  assert.deepEqual([wrong['error'], wrong['state'], wrong['iss']], ['invalid_scope', 'st4te', server.baseUrl]);
  assert.equal(fieldsOf(await ask({ max_age: '0', prompt: 'none' }))['error'], 'login_required');
  const consent = await settle(browser, server, await ask({ prompt: 'consent' }));
  const denied = fieldsOf(await browser.submit(consent, { decision: 'deny' }, '/consent'));
  assert.deepEqual([denied['error'], denied['error_description']], ['access_denied', 'User denied the request']);
  assert.deepEqual(
    fieldsOf(await browser.submit(consent, { decision: 'deny' }, '/consent')),
    denied,
    'a second submit',
  );
});

test('decisions §10: a response_mode in a rejected request object decides how the error is sent, and nothing else', async () => {
  const claims = {
    response_mode: 'form_post',
    state: 'inner',
    redirect_uri: 'https://evil.example/cb',
    scope: 'bogus',
  };
  const jwt = `eyJhbGciOiJub25lIn0.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`;
  const fields = fieldsOf(await browser.get(authorizeUrl(client, { request: jwt })));
  assert.deepEqual([fields['error'], fields['state']], ['request_not_supported', 'st4te']);
  const outside = await browser.get(authorizeUrl(client, { request: jwt, response_mode: 'query' }));
  assert.equal(outside.location?.searchParams.get('error'), 'request_not_supported');
  assert.equal(outside.location?.searchParams.get('state'), 'st4te');
});

test('after a sign-in and a consent, and the same code for a second submit', async () => {
  const user = await newUser(server);
  const cold = agent(server.baseUrl);
  const begun = await cold.get(authorizeUrl(client, { response_mode: 'form_post' }));
  const page = await settle(cold, server, begun);
  const consent = await settle(
    cold,
    server,
    await cold.submit(page, { identifier: user.username, password: PASSWORD }),
  );
  const first = fieldsOf(await cold.submit(consent, { decision: 'allow' }, '/consent'));
  assert.ok(first['code']);
  assert.deepEqual(fieldsOf(await cold.submit(consent, { decision: 'allow' }, '/consent')), first);
});

test('AZ-07: a state comes back as it was, however hostile to HTML', async () => {
  for (const state of [
    '"><script>alert(1)</script>',
    "'&amp;&lt;",
    'ä ü €  \u202e 𝒳',
    ' a\tb ',
    '%0d%0a+%',
    "</form><form action='//x'>",
  ]) {
    assert.equal(fieldsOf(await ask({ state }))['state'], state);
  }
});

test('what HTML would change is refused in the address: line ends and NUL', async () => {
  for (const state of ['a\nb', 'a\rb', 'a\0b']) {
    const answer = await ask({ state });
    assert.equal(answer.location?.searchParams.get('error'), 'invalid_request');
    assert.equal(answer.location?.searchParams.get('state'), state);
  }
  assert.ok((await browser.get(authorizeUrl(client, { state: 'a\nb' }))).location?.searchParams.get('code'));
});

test('decisions §3: as long as the target is in doubt there is a page, and no form', async () => {
  const page = await browser.get(
    authorizeUrl({ ...client, redirectUri: 'https://evil.example' }, { response_mode: 'form_post' }),
  );
  assert.equal(page.status, 400);
  assert.doesNotMatch(page.text, /<form|(href|src|action)="[^"]*evil/);
});

test('a repeated response_mode is invalid_request, by the default mode', async () => {
  const answer = await browser.get(`${authorizeUrl(client, { response_mode: 'form_post' })}&response_mode=query`);
  assert.equal(answer.location?.searchParams.get('error'), 'invalid_request');
});

test('a private-use scheme takes no form', async () => {
  const uris = ['com.example.app:/cb', 'http://127.0.0.1/cb'];
  const { body } = await admin(server, 'POST', '/clients', { name: 'Native', redirectUris: uris, type: 'public' });
  const challenge = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' };
  const native = { clientId: body.clientId, clientSecret: '', redirectUri: uris[0] ?? '' };
  const parameters = { ...challenge, response_mode: 'form_post' };
  const refused = await browser.get(authorizeUrl(native, parameters));
  assertErrorRedirect(refused, { error: 'invalid_request', state: 'st4te', to: native.redirectUri }, server);
  // RFC 8252 §7.3: an app that listens on any port of a loopback address can read one.
  const loopback = { ...native, redirectUri: 'http://127.0.0.1:51004/cb' };
  const consent = await settle(browser, server, await browser.get(authorizeUrl(loopback, parameters)));
  const page = await browser.submit(consent, { decision: 'allow' }, '/consent');
  assert.ok(fieldsOf(page, loopback)['code']);
  assert.match(page.headers.get('content-security-policy') ?? '', /form-action 'self' http: https:/);
});

test('response_mode=query is the default', async () => {
  for (const mode of ['query', '']) codeOf(await browser.get(authorizeUrl(client, { response_mode: mode })));
});
