// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fieldsOfEveryLine, type LogMessage, logLines } from '../../src/platform/log.ts';
import { agent, cookieName, formOf } from '../support/agent.ts';
import { basic, call, FORM_TYPE, JSON_TYPE, TOKEN, tokenForm, USERINFO } from '../support/api-call.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  type TestClient,
  userinfo,
  walk,
} from '../support/flow.ts';
import { png } from '../support/images.ts';
import { query, withoutTable } from '../support/outcome.ts';
import { authorize, json, press, requestOn, wire } from '../support/playground.ts';
import { ownDatabase } from '../support/postgres-database.ts';
import { raw } from '../support/raw-socket.ts';
import { ADMIN_KEY, type TestServer } from '../support/server.ts';
import { Canaries } from './canaries.ts';
import { type Route, startRouted } from './routes.ts';

const COMMAND = fileURLToPath(new URL('../../bin/tessera.js', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'tessera-log-'));
let database: Awaited<ReturnType<typeof ownDatabase>>;
let child: ChildProcess;
let output = '';
let server: TestServer;
let routes: readonly Route[];
before(async () => {
  const routed = await startRouted();
  routes = routed.routes;
  await routed.close();
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  database = await ownDatabase();
  const environment = {
    TESSERA_DATA_DIR: dataDir,
    TESSERA_PORT: '0',
    TESSERA_LOG_LEVEL: 'trace',
    TESSERA_ADMIN_KEY: ADMIN_KEY,
    TESSERA_LIMIT_CLIENT_AUTH: '8/m',
    ...database?.environment,
  };
  child = spawn(process.execPath, [COMMAND, 'serve'], {
    env: { ...env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ready = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const address = /Address +(\S+)\n/.exec(output)?.[1];
        if (address !== undefined) resolve(address);
      });
    }
    child.once('exit', () => reject(new Error(`the server did not start: ${output}`)));
  });
  const baseUrl = await ready;
  server = { baseUrl, environment } as unknown as TestServer;
});
after(async () => {
  if (child.exitCode === null) {
    child.kill();
    await once(child, 'exit');
  }
  await database?.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

const canaries = new Canaries();

/** A whole flow and what goes wrong on the way; every secret of it is noted. */
async function flow(): Promise<void> {
  canaries.add('admin key', ADMIN_KEY);
  const password = canaries.add('password', 'canary password, the right one');
  const client = await newClient(server);
  canaries.add('client secret', client.clientSecret);
  const user = await newUser(server, { password });
  const browser = agent(server.baseUrl);
  const verifier = canaries.add('verifier', 'canary-verifier-'.repeat(4));
  const parameters = {
    state: canaries.add('state', 'canary state äöü 4711'),
    nonce: canaries.add('nonce', 'canary nonce 0815 ÄÖÜ'),
    login_hint: canaries.add('login hint', 'canary of a hint, who may be a person'),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  const started = await browser.get(authorizeUrl(client, parameters));
  canaries.add('handle', started.location?.searchParams.get('request') ?? undefined);
  const page = await browser.get(started.location?.href ?? '');
  canaries.add('browser cookie', browser.cookie('tessera_browser'));
  canaries.add('form token', formOf(page.text).hidden['form_token']);
  const wrong = canaries.add('wrong password', 'canary password, a wrong one');
  assert.equal((await browser.submit(page, { identifier: user.username, password: wrong })).status, 401);
  // People type their password where the name belongs.
  assert.equal((await browser.submit(page, { identifier: wrong, password: wrong })).status, 401);
  const target = await walk(browser, started.location?.href ?? '', { user, password });
  const code = canaries.add('code', target.searchParams.get('code') ?? undefined);
  canaries.add('session cookie', browser.cookie('tessera_session'));

  const wrongSecret = canaries.add('wrong client secret', 'canary-secret-of-a-client-that-is-not-right');
  const unknownCode = canaries.add('unknown code', 'canary-code-that-was-not-issued-0123456789');
  await redeem(server, client, code, { code_verifier: verifier, client_secret: wrongSecret });
  await redeem(server, client, code, { code_verifier: canaries.add('wrong verifier', 'canary+wrong'.repeat(5)) });
  await redeem(server, client, unknownCode);
  const won = await redeem(server, client, code, { code_verifier: verifier });
  assert.equal(won.status, 200, JSON.stringify(won.body));
  const renewed = await refresh(server, client, won.body.refresh_token);
  const again = await refresh(server, client, renewed.body.refresh_token);
  for (const [name, tokens] of Object.entries({ won, renewed, again })) {
    for (const kind of ['access_token', 'refresh_token', 'id_token']) {
      canaries.add(`${kind}, ${name}`, tokens.body[kind]);
    }
  }
  assert.equal((await userinfo(server, again.body.access_token)).status, 200);
  // Reuse, replay, and tokens of the wrong kind.
  assert.equal((await refresh(server, client, won.body.refresh_token)).status, 400);
  assert.equal((await redeem(server, client, code, { code_verifier: verifier })).status, 400);
  await refresh(server, client, again.body.id_token);
  assert.equal((await userinfo(server, again.body.refresh_token)).status, 401);

  await hostile(client, { code, verifier, wrongSecret, unknownCode, access: again.body.access_token });
  await pages(password);
}

/** Secrets in every place where they do not belong. */
async function hostile(client: TestClient, texts: Readonly<Record<string, string>>): Promise<void> {
  const session = cookieName(server.baseUrl, 'tessera_session');
  const wrongKey = canaries.add('wrong admin key', `tak_canary${'7'.repeat(37)}`);
  assert.equal((await admin(server, 'GET', '/users', undefined, wrongKey)).status, 401);
  const everything = new URLSearchParams({ ...texts, access_token: texts['access'] ?? '' }).toString();
  for (const path of [TOKEN, USERINFO, '/oidc/userinfo', '/nowhere', '/login', '/consent', '/api/v2/admin/users']) {
    await call(server, 'GET', `${path}?${everything}`);
    await call(server, 'POST', `${path}?${everything}`, { 'content-type': JSON_TYPE }, `{"code": "${texts['code']}", `);
    await call(server, 'DELETE', `${path}?${everything}`, { cookie: `${session}=${texts['code']}` });
  }
  // Every route there is, with what belongs elsewhere in every place of its request.
  for (const { method, url } of routes) {
    const path = `${url.replaceAll(/:\w+/g, texts['code'] ?? '')}?${everything}`;
    const key = url.startsWith('/api/v2/admin') ? ADMIN_KEY : texts['wrongSecret'];
    const cookie = `${session}=${texts['code']}; ${cookieName(server.baseUrl, 'tessera_browser')}=${texts['verifier']}`;
    const headers = { cookie, authorization: `Bearer ${key}`, referer: `https://x.example/?${everything}` };
    if (method === 'GET' || method === 'HEAD') await call(server, method, path, headers);
    else {
      const type = url.startsWith('/api/') ? JSON_TYPE : FORM_TYPE;
      const body =
        type === JSON_TYPE ? JSON.stringify({ ...texts, [texts['code'] ?? '']: texts['verifier'] }) : everything;
      await call(server, method, path, { ...headers, 'content-type': type }, body);
    }
  }
  await call(server, 'GET', `/%zz/${texts['code']}?${everything}`);
  await call(server, 'GET', `/avatars/${texts['code']}`);
  await call(server, 'GET', `/${'x'.repeat(17_000)}${texts['code']}`);
  await tokenForm(server, { grant_type: texts['code'] ?? '' }, basic(client.clientId, texts['wrongSecret'] ?? ''));
  await tokenForm(server, { client_id: texts['code'] ?? '', client_secret: texts['wrongSecret'] ?? '' });
  const secret = canaries.add('password that is refused', 'canary: password of 7 fields');
  for (const fields of [{ password: [secret] }, { [secret]: secret }, { password: secret, email: secret }]) {
    const user = { username: 'refused', displayName: 'R', email: 'refused@example.com', ...fields };
    assert.equal((await admin(server, 'POST', '/users', user)).status, 400);
  }
  // Refused by the parser of HTTP itself.
  const line = `GET /login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nCookie: ${session}=${texts['code']}`;
  await raw(server, `${line}\r\nX: ${'y'.repeat(70_000)}\r\n\r\n`);
  await raw(server, `${line}\r\n broken header ${texts['code']}\r\n\r\n`);
  // Past the limit of failed authentications.
  for (let n = 0; n < 12; n++) await redeem(server, { ...client, clientSecret: texts['wrongSecret'] ?? '' }, 'x');
}

/** Forms of the account. */
async function pages(password: string): Promise<void> {
  const user = await newUser(server, { password });
  const browser = await signedIn(server, user, password);
  canaries.add('session cookie of another', browser.cookie('tessera_session'));
  const next = canaries.add('next password', 'canary password, the next one');
  const wrong = canaries.add('wrong current password', 'canary password, a wrong current one');
  const page = await browser.get('/account/security');
  for (const current of [wrong, password]) await browser.submit(page, { current, password: next }, '/account/password');
  canaries.add('session cookie after a change', browser.cookie('tessera_session'));
  const signUp = await browser.get('/signup');
  const fields = { username: 'signed-up', displayName: 'S', email: 'signed-up@example.com' };
  const chosen = canaries.add('password of a sign-up', 'canary password, chosen anew');
  await browser.submit(signUp, { ...fields, password: chosen }, formOf(signUp.text).action);
}

/** A visit to the playground, also with what it stands on gone, a file with a telling name, and the end of other sessions. */
async function elsewhere(): Promise<void> {
  const user = await newUser(server);
  const browser = agent(server.baseUrl);
  const begun = await press(browser, 'start');
  canaries.add('secret of a visit', /tcs_[\w-]{43}/.exec(begun.text)?.[0]);
  const parameters = new URL(requestOn(begun)).searchParams;
  for (const name of ['state', 'nonce']) canaries.add(`${name} of a visit`, parameters.get(name) ?? undefined);
  canaries.add('verifier of a visit', /<dt>Verifier<\/dt>.*?<code>([\w-]{43})<\/code>/.exec(begun.text)?.[1]);
  const back = await authorize(browser, begun, user);
  canaries.add('code of a visit', /code=([\w-]{43})/.exec(wire(back)[0] ?? '')?.[1]);
  const forged = canaries.add('forged code', 'canary-forged-code');
  await withoutTable(server, 'playground_visit', async () => {
    await browser.post('/playground', { ...formOf(back.text, '/playground').hidden, action: 'tokens' });
    await browser.get(`/playground/callback?${parameters}&code=${forged}`);
  });
  for (const act of ['tokens', 'refresh']) {
    const tokens = json(wire(await press(browser, act))[1]);
    for (const kind of ['access_token', 'refresh_token', 'id_token']) canaries.add(`${kind} of ${act}`, tokens[kind]);
    if (act === 'tokens') await press(browser, 'userinfo');
  }
  await press(browser, 'revoke');
  canaries.add('session cookie at the playground', browser.cookie('tessera_session'));
  const name = canaries.add('name of a file', 'canary of a file name.png');
  for (const bytes of [png(9, 9), Buffer.from('none')]) {
    const picture = new File([new Uint8Array(bytes)], name, { type: 'image/png' });
    await browser.upload(await browser.get('/account'), { picture }, '/account/picture');
  }
  const other = await signedIn(server, user);
  canaries.add('cookie of a session that was ended', browser.cookie('tessera_session'));
  await other.submit(await other.get('/account/sessions'), { session: 'others' }, '/account/sessions');
}

/** The same with tables that are gone, one after the other: what fails is logged. */
async function faults(): Promise<void> {
  const password = canaries.add('password in a fault', 'canary password, in a fault');
  const client = await newClient(server);
  canaries.add('client secret in a fault', client.clientSecret);
  const user = await newUser(server, { password });
  const browser = await signedIn(server, user, password);
  canaries.add('session cookie in a fault', browser.cookie('tessera_session'));
  const loginPage = await agent(server.baseUrl).get('/login');
  const form = { ...formOf(loginPage.text).hidden, identifier: user.username, password };
  const take = async () => {
    const target = await walk(
      browser,
      authorizeUrl(client, { state: canaries.add('state', 'canary state in a fault') }),
    );
    return canaries.add('code in a fault', target.searchParams.get('code') ?? undefined);
  };
  const tokens = (await redeem(server, client, await take())).body;
  for (const kind of ['access_token', 'refresh_token']) canaries.add(`${kind} in a fault`, tokens[kind]);
  const code = await take();
  for (const table of ['account', 'audit_event', 'token_family', 'client', 'browser_session', 'rate_count']) {
    await withoutTable(server, table, async () => {
      await redeem(server, client, code);
      await refresh(server, client, tokens.refresh_token);
      await userinfo(server, tokens.access_token);
      await browser.get(authorizeUrl(client, { state: 'canary state in a fault' }));
      await browser.get('/account');
      await browser.post('/login', form);
      await admin(server, 'POST', '/users', { username: 'x-y-z', displayName: 'X', email: 'x@y.example', password });
    });
  }
}

/** Every line and every field of it is in docs/reference/logs.md. */
function requireDocumented(output: string): void {
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  const seen = new Set<string>();
  for (const line of lines) {
    const { msg, ...facts } = JSON.parse(line) as { msg: LogMessage };
    assert.ok(msg in logLines, line);
    seen.add(msg);
    const fields: readonly string[] = [...fieldsOfEveryLine, ...logLines[msg].fields];
    for (const name of Object.keys(facts)) assert.ok(fields.includes(name), `${name} in ${line}`);
  }
  assert.ok(seen.has('answered') && seen.has('internal error'));
}

test('LG-01: no secret reaches the log at its finest level, nor the audit record', async () => {
  await flow();
  await elsewhere();
  await faults();
  let events = '';
  let cursor = '';
  do {
    const page = (await admin(server, 'GET', `/audit-events?limit=200${cursor}`)).body;
    events += JSON.stringify(page.items);
    cursor = page.nextCursor === null ? '' : `&cursor=${page.nextCursor}`;
  } while (cursor !== '');
  child.kill('SIGTERM');
  // The output is complete once its streams are closed, too.
  const [code] = await once(child, 'close');
  assert.equal(code, 0, output);
  requireDocumented(output);
  const steps = JSON.stringify(await query(server, 'SELECT * FROM trace_step'));

  // The search would find something: the log tells of faults, the record of what was refused.
  assert.ok((output.match(/internal error/g) ?? []).length > 10, output.slice(0, 3000));
  for (const type of ['sign_in.failed', 'token.refresh_reused', 'token.code_replayed', 'client.auth_failed']) {
    assert.ok(events.includes(type), type);
  }
  assert.ok(canaries.size > 30);
  // What each of the two databases says where a table is missing.
  canaries.add('control', database === undefined ? 'no such table' : 'does not exist');
  assert.deepEqual(
    canaries.foundIn(output).map((name) => name.split(' ')[0]),
    ['control'],
  );
  assert.deepEqual(canaries.foundIn(events), []);
  assert.ok(steps.includes('invalid_grant'));
  assert.deepEqual(canaries.foundIn(steps), []);
});
