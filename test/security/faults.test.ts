// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent, cookiesFor, formOf } from '../support/agent.ts';
import { FORM_TYPE, JSON_TYPE } from '../support/api-call.ts';
import {
  authorizeUrl,
  codeFor,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  signedIn,
  type TestClient,
  type Tokens,
  tokensFor,
} from '../support/flow.ts';
import { tablesOf, withoutTable } from '../support/outcome.ts';
import { ADMIN_KEY } from '../support/server.ts';
import { WHOLE } from '../support/whole.ts';
import { startRouted } from './routes.ts';

const server = await startRouted({ TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off', TESSERA_LIMIT_SIGN_IN_ACCOUNT: 'off' });
after(() => server.close());

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/;
/** What an answer must not tell of the inside. */
const INSIDE =
  /sqlite|postgres|\bpg\b|no such table|relation "|table_set_aside|\bselect\b.*\bfrom\b|insert into|node_modules|\.[tj]s:\d|^\s+at |fastify|kysely|node\.js/im;

interface Fault {
  readonly id: string;
  readonly kind: 'json' | 'page' | 'redirect';
}

/** The correlation id of a fault, whose answer says nothing else; undefined where the answer tells of none. */
function faultOf(status: number, type: string, text: string, location: string | null): Fault | undefined {
  const target = location === null ? undefined : new URL(location, server.baseUrl).searchParams;
  if (target?.get('error') === 'server_error') {
    const description = target.get('error_description') ?? '';
    assert.match(description, new RegExp(`^correlation id ${UUID.source}$`));
    return { id: UUID.exec(description)?.[0] ?? '', kind: 'redirect' };
  }
  if (status < 500) return undefined;
  assert.equal(status, 500, text);
  const id = UUID.exec(text)?.[0] ?? '';
  if (type.startsWith(JSON_TYPE)) {
    const description = `Something went wrong on our side. Correlation id: ${id}`;
    assert.deepEqual(JSON.parse(text), { error: 'server_error', error_description: description });
    return { id, kind: 'json' };
  }
  assert.match(type, /^text\/html; charset=utf-8$/i);
  assert.ok(id !== '' && text.includes('server_error'), text);
  return { id, kind: 'page' };
}

interface Presented {
  readonly client: TestClient;
  readonly tokens: Tokens;
  readonly code: string;
  readonly cookie: string;
  readonly form: Readonly<Record<string, string>>;
}

/** A request for every route, with all credentials that could let it in. */
async function everyRoute(own: Presented, accept: string, routes = server.routes): Promise<Fault[]> {
  const { client, tokens, code, cookie, form } = own;
  const faults: Fault[] = [];
  for (const { method, url } of routes) {
    const isToken = url === '/api/v2/oauth/token';
    const bearer = url.startsWith('/api/v2/admin') ? ADMIN_KEY : tokens.access_token;
    const json = isToken ? { ...tokenBody(client, code) } : { about: 'x' };
    const isJson = url.startsWith('/api/');
    const address = url.endsWith('/authorize') ? authorizeUrl(client) : url.replaceAll(/:\w+/g, '1');
    const hasBody = !['GET', 'HEAD', 'DELETE'].includes(method);
    const response = await fetch(server.baseUrl + address, {
      method,
      redirect: 'manual',
      headers: {
        accept,
        cookie,
        ...(!isToken && { authorization: `Bearer ${bearer}` }),
        ...(hasBody && { 'content-type': isJson ? JSON_TYPE : FORM_TYPE }),
      },
      ...(hasBody && { body: isJson ? JSON.stringify(json) : new URLSearchParams(form).toString() }),
    });
    const text = await response.text();
    assert.doesNotMatch(text + JSON.stringify([...response.headers]), INSIDE, `${method} ${url}`);
    for (const header of ['server', 'x-powered-by']) assert.equal(response.headers.get(header), null);
    const type = response.headers.get('content-type') ?? '';
    if (method === 'HEAD') continue;
    const fault = faultOf(response.status, type, text, response.headers.get('location'));
    if (fault !== undefined) faults.push(fault);
  }
  return faults;
}

const tokenBody = ({ clientId, clientSecret, redirectUri }: TestClient, code: string) => ({
  grant_type: 'authorization_code',
  code,
  client_id: clientId,
  client_secret: clientSecret,
  redirect_uri: redirectUri,
});

test('LG-06: with any table gone, every route answers a fault with a correlation id and nothing of the inside', async () => {
  const [client, user] = [await newClient(server), await newUser(server)];
  const browser = await signedIn(server, user);
  const tokens = await tokensFor(server, client, user, {}, { browser });
  const code = await codeFor(server, client, user, {}, { browser });
  const cookie = cookiesFor(server.baseUrl, browser);
  const login = await agent(server.baseUrl).get('/login');
  const form = { ...formOf(login.text).hidden, identifier: user.username, password: PASSWORD };
  const tables = (await tablesOf(server)).filter((name) => !/^(sqlite|kysely)_/.test(name));
  assert.ok(tables.length >= 15, `${tables}`);
  const own = { client, tokens, code, cookie, form };
  assert.deepEqual(await everyRoute({ ...own, code: 'none' }, 'text/html'), [], 'without a fault there is none');

  const faults: Fault[] = [];
  for (const [n, table] of tables.entries()) {
    // Each route meets every third table, unless everything is asked for.
    const routes = server.routes.filter((_, index) => WHOLE || (n + index) % 3 === 0);
    await withoutTable(server, table, async () => {
      faults.push(...(await everyRoute(own, n % 2 === 0 ? 'text/html' : 'application/json', routes)));
    });
  }
  for (const kind of ['json', 'page', 'redirect'] as const) {
    assert.ok(
      faults.some((fault) => fault.kind === kind),
      `no fault came as ${kind}`,
    );
  }
  assert.ok(faults.length > 40, `${faults.length}`);
  assert.equal(new Set(faults.map(({ id }) => id)).size, faults.length, 'every fault has its own id');
  // What was presented in vain is as good as before.
  const renewed = await refresh(server, client, tokens.refresh_token);
  assert.equal(renewed.status, 200, JSON.stringify(renewed.body));
  const redeemed = await redeem(server, client, code);
  assert.ok([200, 400].includes(redeemed.status), JSON.stringify(redeemed.body));
});
