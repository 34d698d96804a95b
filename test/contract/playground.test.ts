// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { sweep } from '../../src/operations/housekeeping/housekeeping.ts';
import { HOUR } from '../../src/platform/clock.ts';
import { dump } from '../store/rows.ts';
import { type Answer, agent } from '../support/agent.ts';
import { admin, claimsOf, newUser, signedIn, userinfo } from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { authorize, commandOn, decoded, json, press, requestOn, wire } from '../support/playground.ts';
import { ADMIN_KEY, startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());
const user = await newUser(server, { displayName: 'Ada <b> & Lovelace', phone: '+905551234567' });

const execute = promisify(execFile);

/** Pastes a command into a shell. */
async function paste(command: string): Promise<string> {
  const env = { ...process.env, TESSERA_ADMIN_KEY: ADMIN_KEY };
  return (await execute('sh', ['-eu', '-c', command], { env })).stdout;
}

test('a developer walks the flow: every request goes over a socket to this server, and is shown as it was', async () => {
  const browser = agent(server.baseUrl);
  const intro = await browser.get('/playground');
  assert.equal(intro.headers.get('cache-control'), 'no-store');
  const begun = await press(browser, 'start', intro);
  const request = new URL(requestOn(begun));
  const clientId = request.searchParams.get('client_id') ?? '';
  const app = await admin(server, 'GET', `/clients/${clientId}`);
  assert.deepEqual(app.body.redirectUris, [`${server.baseUrl}/playground/callback`]);
  const secret = /tcs_[\w-]{43}/.exec(begun.text)?.[0] ?? '';

  const back = await authorize(browser, begun, user);
  assert.match(
    wire(back)[0] ?? '',
    /^GET \/playground\/callback\?code=[\w-]{43}&state=[\w-]{43}&iss=\S+ HTTP\/1\.1\nHost: localhost:\d+\n$/,
  );
  assert.doesNotMatch(back.text, /tessera_(session|browser)/);

  const exchanged = await press(browser, 'tokens');
  const [sent, got] = wire(exchanged);
  assert.match(
    sent ?? '',
    /^POST \/api\/v2\/oauth\/token HTTP\/1\.1\nHost: localhost:\d+\nContent-Type: application\/json\n/,
  );
  assert.deepEqual(Object.keys(json(sent)), [
    'grant_type',
    'code',
    'redirect_uri',
    'code_verifier',
    'client_id',
    'client_secret',
  ]);
  assert.equal(json(sent).client_secret, secret);
  assert.match(got ?? '', /^HTTP\/1\.1 200 OK\n/);
  const first = json(got);
  assert.equal((await userinfo(server, first.access_token)).status, 200, 'the token is a real one');
  // Each claim of each token has its line, and its value is shown.
  for (const token of [first.access_token, first.refresh_token, first.id_token]) {
    for (const [name, value] of Object.entries(claimsOf(token))) {
      const row = new RegExp(`<dt><code>${name}</code></dt><dd><code>(.*?)</code><p>(.+?)</p>`).exec(exchanged.text);
      assert.ok(row !== null && row[2] !== 'Not a standard claim.', name);
      assert.ok(decoded(exchanged.text).includes(JSON.stringify(value)), name);
    }
  }
  assert.match(exchanged.text, /Verified with the client secret/);
  assert.equal(claimsOf(first.id_token).nonce, request.searchParams.get('nonce'));
  assert.doesNotMatch(exchanged.text, /<b>/, 'names are text');

  const read = await press(browser, 'userinfo');
  assert.equal(json(wire(read)[1]).user.displayName, 'Ada <b> & Lovelace');
  const refreshed = await press(browser, 'refresh');
  const second = json(wire(refreshed)[1]);
  assert.notEqual(second.refresh_token, first.refresh_token);

  const ended = await press(browser, 'revoke');
  const [act, , info, refused, renewal, refusedToo] = wire(ended);
  assert.match(act ?? '', /^POST \/account\/connections HTTP\/1\.1\n/);
  assert.match(act ?? '', /\nCookie: \[your cookies\]\n/);
  for (const [name, value] of [
    ['session', browser.cookie('tessera_session')],
    ['browser', browser.cookie('tessera_browser')],
  ]) {
    assert.ok(value !== undefined && !ended.text.includes(value), `the ${name} cookie is not on the page`);
  }
  assert.ok(info?.includes(`Bearer ${second.access_token}`) && renewal?.includes(second.refresh_token));
  for (const answer of [refused, refusedToo]) {
    assert.match(answer ?? '', /^HTTP\/1\.1 403 Forbidden\n/);
    assert.deepEqual(json(answer), { error: 'access_denied', error_description: 'Access revoked by user' });
  }
  assert.equal((await userinfo(server, first.access_token)).status, 403);
  assert.match(decoded(ended.text), /200 in \d+\.\d ms/);
  assert.equal([...decoded(ended.text).matchAll(/403 in \d+\.\d ms: Access revoked by user/g)].length, 2);
  assert.match(decoded(ended.text), /UserInfo, (under 0\.1|\d+\.\d) ms later/);
  const audit = await admin(server, 'GET', `/audit-events?clientId=${clientId}`);
  assert.ok(audit.body.items.some(({ type }: { type: string }) => type === 'consent.revoked'));

  // What came before is still there to look at, and asking anew shows the consent page again.
  assert.equal(wire(await browser.get('/playground?step=tokens'))[1], got);
  const again = await press(browser, 'again');
  assert.equal((await browser.get(requestOn(again))).location?.pathname, '/consent');
});

test('with OpenID Connect, every request goes to the endpoints that the discovery document names, as libraries send it', async () => {
  const browser = agent(server.baseUrl);
  const begun = await press(browser, 'start', undefined, '', 'oidc');
  const request = new URL(requestOn(begun));
  assert.equal(request.pathname, '/oidc/authorize');
  assert.equal(request.searchParams.get('scope'), 'openid profile email phone');
  await authorize(browser, begun, user);

  const exchanged = await press(browser, 'tokens');
  const [sent, got, keys, keySet] = wire(exchanged);
  assert.match(sent ?? '', /^POST \/oidc\/token HTTP\/1\.1\n[\s\S]*\nAuthorization: Basic /);
  assert.match(sent ?? '', /\n\ngrant_type=authorization_code&code=/);
  assert.match(keys ?? '', /^GET \/\.well-known\/jwks\.json HTTP\/1\.1\n/);
  const first = json(got);
  const [header = ''] = String(first.id_token).split('.');
  const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString());
  assert.equal(alg, 'RS256');
  assert.ok(json(keySet).keys.some((key: { kid: string }) => key.kid === kid));
  assert.match(exchanged.text, /Verified with the published key/);
  for (const token of [first.access_token, first.refresh_token, first.id_token]) {
    for (const name of Object.keys(claimsOf(token))) {
      const row = new RegExp(`<dt><code>${name}</code></dt><dd><code>.*?</code><p>(.+?)</p>`).exec(exchanged.text);
      assert.ok(row !== null && row[1] !== 'Not a standard claim.', name);
    }
  }

  const read = await press(browser, 'userinfo');
  assert.equal(json(wire(read)[1]).preferred_username, user.username);
  await press(browser, 'refresh');
  const ended = wire(await press(browser, 'revoke'));
  assert.match(ended[3] ?? '', /^HTTP\/1\.1 401 Unauthorized\n/);
  assert.deepEqual(json(ended[5]), { error: 'invalid_grant', error_description: 'Access revoked by user' });
});

test('a start without a choice of endpoints starts nothing, and says so', async () => {
  const browser = agent(server.baseUrl);
  const answer = await browser.submit(await browser.get('/playground'), { action: 'start', endpoints: 'v3' });
  assert.equal(answer.status, 400);
  assert.match(answer.text, /Nothing was started\. Choose a set of endpoints\./);
  assert.match(reachedOf(answer), /Walk through/);
});

test('every step is a curl command that works when pasted', async (t) => {
  const hasCurl = await execute('curl', ['--version']).catch(() => undefined);
  if (hasCurl === undefined) {
    t.skip('curl is not installed');
    return;
  }
  const browser = await signedIn(server, user);
  const begun = await press(browser, 'start');
  assert.match(await paste(commandOn(begun)), /^HTTP\/1\.1 302 Found\r?\n[\s\S]*location: \/login\?request=/i);
  const back = await authorize(browser, begun, user);
  const tokens = JSON.parse(await paste(commandOn(back)));
  assert.equal(tokens.expires_in, 1800);
  // The code was used: the next use of it is refused, and the page says what to do.
  const replayed = await press(browser, 'tokens', back);
  assert.match(wire(replayed)[1] ?? '', /^HTTP\/1\.1 400 /);
  const once = await press(browser, 'tokens', await authorize(browser, await press(browser, 'again'), user));
  assert.equal(JSON.parse(await paste(commandOn(once))).user.username, user.username);
  const read = await press(browser, 'userinfo');
  const renewed = JSON.parse(await paste(commandOn(read)));
  const refreshed = await press(browser, 'refresh');
  assert.equal(json(wire(refreshed)[1]).refresh_token, renewed.refresh_token, 'within the grace it is the same one');
  assert.match(await paste(commandOn(refreshed)), /^HTTP\/1\.1 204 /);
  const ended = await press(browser, 'revoke');
  assert.equal(JSON.parse(await paste(commandOn(ended))).error_description, 'Access revoked by user');
});

test('one button acts once: a second press, another tab, a button of an older page', async () => {
  const browser = await signedIn(server, user);
  const back = await authorize(browser, await press(browser, 'start'), user);
  const pages = await Promise.all([press(browser, 'tokens', back), press(browser, 'tokens', back)]);
  for (const page of [...pages, await press(browser, 'tokens', back)]) assert.equal(page.status, 200);
  const held = json(wire(await browser.get('/playground'))[1]);
  assert.equal((await userinfo(server, held.access_token)).status, 200, 'the code was not sent twice');
});

test('a playground session belongs to one browser and one user: no other reads it, and it keeps only its own responses', async () => {
  const person = await newUser(server);
  const browser = await signedIn(server, person);
  const begun = await press(browser, 'start');
  const foreign = await browser.get(`/playground/callback?code=x&state=y&iss=${server.baseUrl}`);
  assert.match(foreign.text, /<a href="\/playground">Go to the playground<\/a>/);
  assert.equal(foreign.status, 400);
  const right = new URL(requestOn(begun)).searchParams.get('state') ?? '';
  for (const query of [
    `state=${right}&code=x`,
    `state=${right}&code=x&iss=https://evil.example`,
    `state=y&state=${right}&iss=${server.baseUrl}`,
  ]) {
    assert.equal((await browser.get(`/playground/callback?${query}`)).status, 400, query);
  }
  assert.equal(reachedOf(await browser.get('/playground')), 'Authorize');
  await authorize(browser, begun, user);
  const shown = await press(browser, 'tokens');
  const secret = json(wire(shown)[1]).access_token;

  const stranger = await signedIn(server, person);
  assert.doesNotMatch((await stranger.get('/playground?step=tokens')).text, /class="stack exchanges|tcs_/);
  const page = await browser.get('/playground');
  const session = browser.cookie('tessera_session') ?? '';
  browser.setCookie('tessera_session', '');
  for (const name of ['', '?step=authorize', '?step=tokens']) {
    const signedOut = await browser.get(`/playground${name}`);
    assert.doesNotMatch(signedOut.text, /tcs_|eyJ/);
    assert.match(signedOut.text, /belongs to another account/);
  }
  // Its buttons do nothing either.
  await press(browser, 'userinfo', page);
  browser.setCookie('tessera_session', session);
  assert.equal(reachedOf(await browser.get('/playground')), 'Tokens');

  await admin(server, 'PUT', `/users/${person.id}/suspension`, {});
  assert.doesNotMatch((await browser.get('/playground?step=tokens')).text, /tcs_|eyJ/);

  const form = { action: 'start', form_token: 'x'.repeat(43) };
  assert.equal((await browser.post('/playground', form)).status, 400);
  assert.equal((await browser.post('/playground', form, { 'sec-fetch-site': 'cross-site' })).status, 403);
  // Neither tokens nor the app's secret lie in the database as they are.
  const stored = JSON.stringify(await withData(server, ({ database }) => dump(database)), (_key, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  assert.ok(stored.includes('playground_visit'));
  for (const text of [secret, /tcs_[\w-]{43}/.exec(begun.text)?.[0] ?? 'none']) assert.ok(!stored.includes(text));
});

const reachedOf = ({ text }: Answer): string => /<h1>(.*?)<\/h1>/.exec(text)?.[1] ?? '';

test('a denial comes back as an error, and is shown as one', async () => {
  const browser = await signedIn(server, user);
  const denied = await authorize(browser, await press(browser, 'start'), user, { decision: 'deny' });
  assert.match(wire(denied)[0] ?? '', /error=access_denied/);
  assert.match(decoded(denied.text), /without a code/);
  assert.equal(reachedOf(await press(browser, 'again', denied)), 'Authorize');
});

test('a visit ends after an hour, and its app goes with it; a new one takes the place of the old', async () => {
  const browser = await signedIn(server, user);
  const appOf = (page: Answer): string => new URL(requestOn(page)).searchParams.get('client_id') ?? '';
  const first = appOf(await press(browser, 'start'));
  const begun = await press(browser, 'start');
  const app = appOf(begun);
  assert.equal((await admin(server, 'GET', `/clients/${first}`)).status, 404);
  await authorize(browser, begun, user);
  const held = json(wire(await press(browser, 'tokens'))[1]);
  server.advance(HOUR);
  assert.match(reachedOf(await browser.get('/playground')), /Walk through/);
  await withData(server, ({ database }) => sweep(database, server.now()));
  assert.equal((await admin(server, 'GET', `/clients/${app}`)).status, 404);
  assert.equal((await userinfo(server, held.access_token)).status, 401);
  const rows = await withData(server, ({ database }) => dump(database));
  assert.equal(rows['playground_visit']?.length, 0);
});
