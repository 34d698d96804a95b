// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sweep } from '../../src/operations/housekeeping/housekeeping.ts';
import { DAY, MINUTE } from '../../src/platform/clock.ts';
import { agent } from '../support/agent.ts';
import { basic, call, TOKEN, USERINFO } from '../support/api-call.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  type TestClient,
  type TestUser,
  userinfo,
  walk,
} from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { query } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';

// From the correlation id that a developer saw to the reason: src/traces/README.md.

let server: TestServer;
let client: TestClient;
let user: TestUser;
before(async () => {
  server = await startServer();
  client = await newClient(server);
  user = await newUser(server);
});
after(() => server.close());

const idOf = ({ headers }: { readonly headers: Headers }): string => headers.get('x-request-id') ?? '';

/** The trace of an answer's request, and the step that the request was. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers as they come
async function traceOf(answer: { readonly headers: Headers }): Promise<{ steps: any[]; own: any; trace: any }> {
  const { status, body } = await admin(server, 'GET', `/traces/${idOf(answer)}`);
  assert.equal(status, 200, JSON.stringify(body));
  const own = body.steps.find((step: { requestId: string }) => step.requestId === idOf(answer));
  return { steps: body.steps, own, trace: body };
}

const rowsOf = (at: TestServer): Promise<Record<string, unknown>[]> => query(at, 'SELECT * FROM trace_step');

test('a refusal of each endpoint has a trace with its rule and its remedy', async () => {
  const browser = agent(server.baseUrl);
  const refusals: [string, { readonly headers: Headers }, { step: string; error?: string; status?: number }][] = [
    [
      'shown error of the authorization endpoint',
      await browser.get(authorizeUrl({ ...client, redirectUri: 'https://evil.example/' })),
      { step: 'authorize', error: 'invalid_request', status: 400 },
    ],
    [
      'redirected error of the authorization endpoint',
      await browser.get(authorizeUrl(client, { scope: 'openid everything' })),
      { step: 'authorize', error: 'invalid_scope', status: 302 },
    ],
    [
      'prompt=none without a session',
      await browser.get(authorizeUrl(client, { prompt: 'none' })),
      { step: 'authorize', error: 'login_required', status: 302 },
    ],
    ['unknown pending request', await browser.get('/login?request=none'), { step: 'sign-in', status: 400 }],
    [
      'wrong secret',
      await call(
        server,
        'POST',
        TOKEN,
        { ...basic(client.clientId, 'wrong'), 'content-type': 'application/x-www-form-urlencoded' },
        'grant_type=authorization_code&code=x',
      ),
      { step: 'token', error: 'invalid_client', status: 401 },
    ],
    ['unknown code', await redeem(server, client, 'unknown'), { step: 'token', error: 'invalid_grant', status: 400 }],
    [
      'no refresh token',
      await refresh(server, client, 'rubbish'),
      { step: 'refresh', error: 'invalid_grant', status: 400 },
    ],
    ['no access token', await userinfo(server, 'rubbish'), { step: 'userinfo', error: 'invalid_token', status: 401 }],
    [
      'standard authorization endpoint',
      await browser.get(authorizeUrl(client, { prompt: 'none' }).replace('/api/v2/oauth/', '/oidc/')),
      { step: 'authorize', error: 'login_required', status: 302 },
    ],
    [
      'standard token endpoint',
      await call(
        server,
        'POST',
        '/oidc/token',
        { ...basic(client.clientId, client.clientSecret), 'content-type': 'application/x-www-form-urlencoded' },
        'grant_type=authorization_code&code=unknown&redirect_uri=https://app.example.com/cb',
      ),
      { step: 'token', error: 'invalid_grant', status: 400 },
    ],
    [
      'standard UserInfo',
      await userinfo(server, undefined, '/oidc/userinfo'),
      { step: 'userinfo', error: 'invalid_token', status: 401 },
    ],
    ['introspection', await call(server, 'POST', '/oidc/introspect'), { step: 'introspection' }],
    ['revocation', await call(server, 'POST', '/oidc/revoke'), { step: 'revocation' }],
    [
      'sign-out to an unregistered address',
      await browser.get(`/oidc/logout?client_id=${client.clientId}&post_logout_redirect_uri=https://evil.example/`),
      { step: 'sign-out', error: 'invalid_request' },
    ],
    [
      'answer that the page may not read',
      await call(server, 'GET', USERINFO, { origin: 'https://unknown.example' }),
      { step: 'cross-origin', error: 'invalid_token', status: 401 },
    ],
    ['form of another page', await browser.post('/login', { identifier: 'a', password: 'b' }), { step: 'sign-in' }],
    ['unknown path', await call(server, 'GET', '/nothing'), { step: 'other', error: 'invalid_request', status: 404 }],
    ['wrong method', await call(server, 'GET', TOKEN), { step: 'token', error: 'invalid_request', status: 405 }],
    [
      'wrong content type',
      await call(server, 'POST', TOKEN, { 'content-type': 'text/plain' }, 'x'),
      { step: 'token', error: 'invalid_request', status: 415 },
    ],
    [
      'body too large',
      await call(server, 'POST', TOKEN, { 'content-type': 'application/json' }, `"${'x'.repeat(65 * 1024)}"`),
      { step: 'token', error: 'invalid_request', status: 413 },
    ],
    [
      'preflight of an unknown origin',
      await call(server, 'OPTIONS', USERINFO, {
        origin: 'https://unknown.example',
        'access-control-request-method': 'GET',
      }),
      { step: 'cross-origin', error: 'invalid_request', status: 405 },
    ],
    [
      'wrong admin key',
      await admin(server, 'GET', '/users', undefined, 'x'.repeat(40)),
      { step: 'admin', error: 'invalid_token', status: 401 },
    ],
  ];
  for (const [name, answer, expected] of refusals) {
    const { own } = await traceOf(answer);
    assert.equal(own?.outcome, 'failure', name);
    for (const [fact, value] of Object.entries(expected)) assert.equal(own[fact], value, `${name}: ${fact}`);
    assert.ok(own.rule.length > 0, name);
    // A remedy is that of the refusal itself, or there is none and the description says what to do.
    assert.ok((own.remedy ?? own.description)?.length > 0, name);
  }
});

test('the trace of a refusal has the earlier steps of its flow, from the request to the refresh', async () => {
  const browser = agent(server.baseUrl);
  const redirect = await browser.get(authorizeUrl(client, { scope: 'openid email' }));
  const page = await browser.get(redirect.location?.href ?? '');
  const wrong = await browser.submit(page, { identifier: user.username, password: 'wrong horse' });
  assert.equal(wrong.status, 401);
  const failed = await traceOf(wrong);
  assert.deepEqual(
    failed.steps.map(({ step, outcome }) => [step, outcome]),
    [
      ['authorize', 'success'],
      ['sign-in', 'failure'],
    ],
  );
  assert.equal(failed.own.reason, 'unknown name or wrong password');

  const to = await walk(browser, redirect.location?.href ?? '', { user });
  const code = to.searchParams.get('code') ?? '';
  const otherUri = await redeem(server, client, code, { redirect_uri: `${client.redirectUri}/` });
  assert.equal(otherUri.status, 400);
  const { body: tokens } = await redeem(server, client, code);
  await userinfo(server, tokens.access_token);
  await userinfo(server, tokens.access_token);
  const refreshed = await refresh(server, client, tokens.refresh_token);
  await refresh(server, client, refreshed.body.refresh_token);
  const reused = await refresh(server, client, tokens.refresh_token);
  assert.equal(reused.status, 400);
  const dead = await userinfo(server, refreshed.body.access_token);
  assert.equal(dead.status, 401);

  const expected = [
    ['authorize', 'success'],
    ['sign-in', 'failure'],
    ['sign-in', 'success'],
    ['consent', 'success'],
    ['code', 'success'],
    ['token', 'failure'],
    ['token', 'success'],
    ['userinfo', 'success'],
    ['refresh', 'failure'],
    ['userinfo', 'failure'],
  ];
  for (const answer of [redirect, wrong, otherUri, reused, dead]) {
    const { steps, trace } = await traceOf(answer);
    const stored = steps.filter(({ step, outcome }) => step !== 'refresh' || outcome !== 'success');
    assert.deepEqual(
      stored.map(({ step, outcome }) => [step, outcome]),
      expected,
    );
    const refreshes = steps.filter(({ step, outcome }) => step === 'refresh' && outcome === 'success');
    assert.equal(refreshes.length, 2, 'from the audit trail');
    assert.deepEqual([trace.clientId, trace.userId], [client.clientId, user.id]);
  }
  const { own } = await traceOf(otherUri);
  assert.match(own.reason, /redirect_uri differs/);
  assert.equal((await traceOf(reused)).own.reason, 'refresh token reused');
  assert.equal((await traceOf(dead)).own.reason, 'the sign-in of this token has ended');
  // Of a success that is only in the audit trail.
  const found = await traceOf(refreshed);
  assert.equal(found.own.step, 'refresh');
  assert.equal(found.steps.length, expected.length + 2);
});

test('a request that needs no page, and one that the user denies', async () => {
  const browser = await signedIn(server, user);
  const code = await codeFor(server, client, user, { scope: 'openid email' }, { browser });
  const { body: tokens } = await redeem(server, client, code);
  await admin(server, 'PUT', `/users/${user.id}/suspension`, {});
  const suspended = await userinfo(server, tokens.access_token);
  await admin(server, 'DELETE', `/users/${user.id}/suspension`);
  const { steps, own } = await traceOf(suspended);
  assert.deepEqual(
    steps.map(({ step }) => step),
    ['authorize', 'token', 'userinfo'],
  );
  assert.deepEqual([own.error, own.reason, own.status], ['access_denied', 'suspended', 403]);

  const again = await signedIn(server, user);
  const page = await again.get((await again.get(authorizeUrl(client, { prompt: 'consent' }))).location?.href ?? '');
  const denied = await again.submit(page, { decision: 'deny' });
  assert.match(String(denied.location), /error=access_denied/);
  const trace = await traceOf(denied);
  assert.deepEqual(
    trace.steps.map(({ step, outcome }) => [step, outcome]),
    [
      ['authorize', 'success'],
      ['consent', 'failure'],
    ],
  );
});

test('refusals with a code or handle that none could be belong to no common flow', async () => {
  const other = await newClient(server);
  for (const code of ['undefined', 'x']) {
    const answers = [await redeem(server, client, code), await redeem(server, other, code)];
    for (const answer of answers) assert.equal((await traceOf(answer)).steps.length, 1, code);
  }
  // A code from an example that two apps send: each sees its own steps.
  const example = 'SplxlOBeZQQYbYS6WxSbIA'.padEnd(43, '-example');
  const sent = [
    ...[await redeem(server, client, example), await redeem(server, client, example)],
    await redeem(server, other, example),
  ];
  const traces = await Promise.all(sent.map(traceOf));
  assert.deepEqual(
    traces.map(({ steps }) => steps.map(({ clientId }) => clientId)),
    [[client.clientId, client.clientId], [client.clientId, client.clientId], [other.clientId]],
  );
  const page = '/login?request=undefined';
  const shown = [await call(server, 'GET', page), await call(server, 'GET', page)];
  for (const answer of shown) assert.equal((await traceOf(answer)).steps.length, 1);
});

test('the remedy fits: a barred account at both addresses, an assertion, a text that is not kept', async () => {
  const person = await newUser(server);
  const code = await codeFor(server, { ...client, endpointSet: 'oidc' }, person);
  const { body: tokens } = await redeem(server, { ...client, endpointSet: 'oidc' }, code);
  await admin(server, 'PUT', `/users/${person.id}/ban`, {});
  const banned = await call(server, 'GET', '/oidc/userinfo', { authorization: `Bearer ${tokens.access_token}` });
  assert.equal(banned.status, 401);
  assert.match((await traceOf(banned)).own.remedy, /tessera user unban/);

  const proof = {
    client_assertion: 'x',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  };
  const asserted = await redeem(server, client, 'x', { client_secret: undefined, ...proof });
  assert.equal(asserted.status, 401);
  const { own } = await traceOf(asserted);
  assert.match(own.remedy, /Send a JWT that is signed with a private key/);
  assert.doesNotMatch(own.remedy, /client_secret/);
  // A text of ours that reads like a name with its value would be masked.
  assert.doesNotMatch(JSON.stringify(own), /\[masked\]/);

  const badField = await admin(server, 'POST', '/clients', { name: 5, redirectUris: [] });
  assert.match((await traceOf(badField)).own.remedy, /Send a value as it is expected/);
  const signOut = await call(
    server,
    'GET',
    `/oidc/logout?client_id=${client.clientId}&post_logout_redirect_uri=https://a.example/`,
  );
  assert.match((await traceOf(signOut)).own.sent, /post_logout_redirect_uri=https:\/\/a\.example\//);
});

test('no row has a handle, code, token, secret, name or email; texts are masked', async () => {
  const browser = agent(server.baseUrl);
  const own = await newClient(server);
  const start = await browser.get(authorizeUrl(own, { state: 'confidential-state', nonce: 'confidential-nonce' }));
  const handle = start.location?.searchParams.get('request') ?? '';
  const to = await walk(browser, start.location?.href ?? '', { user });
  const code = to.searchParams.get('code') ?? '';
  await redeem(server, own, code, {
    redirect_uri: `https://app.example.com/cb?password=hunter2&x=${own.clientSecret}`,
  });
  await redeem(server, own, code, { client_secret: `${own.clientSecret}x` });
  const { body: tokens } = await redeem(server, own, code);
  await redeem(server, own, code);
  for (const token of [tokens.refresh_token, tokens.id_token, `${tokens.access_token}x`, own.clientSecret, code]) {
    await userinfo(server, token);
    await call(server, 'GET', `/${token}?access_token=${token}`);
  }
  await refresh(server, own, tokens.access_token, { scope: tokens.access_token });
  await browser.get(
    authorizeUrl(own, { scope: `openid ${tokens.access_token}`, login_hint: `${user.username}@example.com` }),
  );
  const last = await userinfo(server, tokens.access_token);
  await traceOf(last);
  const rows = await rowsOf(server);
  assert.ok(rows.length > 20);
  const text = JSON.stringify(rows);
  const confidential = [handle, code, own.clientSecret, tokens.access_token, tokens.refresh_token, tokens.id_token];
  confidential.push('confidential-state', 'confidential-nonce', 'hunter2', user.username, '127.0.0.1');
  for (const token of [tokens.access_token, tokens.refresh_token]) confidential.push(...token.split('.'));
  for (const secret of confidential) assert.ok(secret.length > 0 && !text.includes(secret), secret.slice(0, 8));
});

test('strangers who name an app do not displace the refusals of the app itself, and each ring is bounded', async () => {
  const own = await newClient(server);
  const proved = await redeem(server, own, 'unknown');
  const address = authorizeUrl({ ...own, redirectUri: 'https://evil.example/' });
  const first = await call(server, 'GET', address);
  const named = await call(server, 'GET', address);
  await traceOf(proved);
  await traceOf(named);
  for (let round = 0; round < 4; round++) {
    await Promise.all(Array.from({ length: 150 }, () => call(server, 'GET', address)));
    // Reading a trace stores what waits.
    await traceOf(proved);
  }
  const { status, body } = await admin(server, 'GET', `/traces/${idOf(named)}`);
  assert.equal(status, 404, 'the oldest one of the ring is gone');
  assert.equal((await traceOf(first)).own.outcome, 'failure', 'the first of its kind is kept');
  assert.equal(body.error, 'not_found');
  for (const text of [/Traces are kept for a day/, /reqId/, /tessera events --request/]) {
    assert.match(body.error_description, text);
  }
  const ring = (await rowsOf(server)).filter((row) => row['ring'] === `${own.clientId} named`);
  assert.equal(ring.length, 500);
});

test('nor does someone who has a token of the app', async () => {
  const own = await newClient(server);
  const { access_token: token } = (await redeem(server, own, await codeFor(server, own, user))).body;
  await admin(server, 'DELETE', `/users/${user.id}/connections/${own.clientId}`);
  const proved = await redeem(server, own, 'unknown');
  for (let round = 0; round < 4; round++) {
    await Promise.all(Array.from({ length: 150 }, () => userinfo(server, token)));
    assert.equal((await traceOf(proved)).own.rule, 'RFC 6749 §4.1.2');
  }
  const rings = (await rowsOf(server)).map((row) => row['ring']);
  assert.equal(rings.filter((ring) => ring === `${own.clientId} token`).length, 500);
});

test('deleting a person or an app deletes the steps of theirs; so does time', async () => {
  const own = await newClient(server);
  const person = await newUser(server);
  const code = await codeFor(server, own, person);
  const wrong = await redeem(server, own, code, { redirect_uri: 'https://app.example.com/other' });
  const { body: tokens } = await redeem(server, own, code);
  const reused = await refresh(server, own, tokens.refresh_token, { scope: 'openid phone' });
  assert.equal(reused.status, 400);
  await traceOf(reused);
  await admin(server, 'DELETE', `/users/${person.id}`);
  for (const answer of [wrong, reused]) {
    const { status, body } = await admin(server, 'GET', `/traces/${idOf(answer)}`);
    const steps = status === 404 ? [] : body.steps.filter(({ path }: { path?: string }) => path !== undefined);
    assert.deepEqual(steps, [], 'only the audit trail remains');
  }
  const refused = await redeem(server, own, 'unknown');
  await traceOf(refused);
  await admin(server, 'DELETE', `/clients/${own.clientId}`);
  assert.ok((await rowsOf(server)).every((row) => String(row['client_id']) !== own.clientId));

  const late = await redeem(server, client, 'unknown');
  await traceOf(late);
  server.advance(DAY - MINUTE);
  await withData(server, ({ database }) => sweep(database, server.now(), null, DAY));
  await traceOf(late);
  server.advance(MINUTE);
  await withData(server, ({ database }) => sweep(database, server.now(), null, DAY));
  assert.deepEqual(await rowsOf(server), []);
});

test('a step of an account that is deleted before it is stored is left out, and the others are stored', async () => {
  const person = await newUser(server);
  const [first, second] = [await newClient(server), await newClient(server)];
  const { body } = await redeem(server, first, await codeFor(server, first, person));
  const refused = await userinfo(server, body.id_token);
  await admin(server, 'DELETE', `/users/${person.id}`);
  const other = await redeem(server, second, 'unknown');
  await traceOf(other);
  assert.equal((await traceOf(refused)).own.step, 'userinfo');
  assert.ok((await rowsOf(server)).every((row) => String(row['account_id']) !== person.id));
});

test('TESSERA_TRACE_RETENTION=off records nothing, and says so', async () => {
  const silent = await startServer({ TESSERA_TRACE_RETENTION: 'off' });
  try {
    const answer = await userinfo(silent, 'rubbish');
    const { status, body } = await admin(silent, 'GET', `/traces/${idOf(answer)}`);
    assert.equal(status, 404);
    assert.match(body.error_description, /TESSERA_TRACE_RETENTION is off/);
    assert.deepEqual(await rowsOf(silent), []);
  } finally {
    await silent.close();
  }
});
