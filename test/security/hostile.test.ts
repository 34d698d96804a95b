// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { cookiesFor } from '../support/agent.ts';
import { FORM_TYPE, JSON_TYPE } from '../support/api-call.ts';
import { authorizeUrl, newClient, newUser, signedIn, type TestClient, tokensFor, userinfo } from '../support/flow.ts';
import { sendBytes } from '../support/listening.ts';
import { ADMIN_KEY } from '../support/server.ts';
import { startRouted } from './routes.ts';

/** The seed of the requests; a failure names the request, and the same seed makes it again. */
const SEED = Number(process.env['TESSERA_HOSTILE_SEED'] ?? 20_260_301);
const REQUESTS = Number(process.env['TESSERA_HOSTILE_REQUESTS'] ?? 3000);

const server = await startRouted();
after(() => server.close());

/** No method begins with it: the next request of a connection is never one. */
const NULS = '\0'.repeat(8);

/** Numbers below 1 that a seed decides (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = numbers(SEED);
const below = (n: number): number => Math.floor(random() * n);
const chance = (probability: number): boolean => random() < probability;
function pick<T>(items: readonly T[]): T {
  const item = items[below(items.length)];
  assert.ok(item !== undefined);
  return item;
}

const TEXTS = [
  '',
  ' ',
  '\0',
  '\u0000\uffff\ud800',
  '\r\nSet-Cookie: a=b',
  '\u202e\u2066\u001b[2J',
  '0',
  '-1',
  '1e400',
  '9223372036854775807',
  '9223372036854775808',
  'NaN',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  "' OR 1=1 --",
  '"; DROP TABLE account; --',
  '<script>alert(1)</script>',
  '{{7*7}} %{7*7} #{7*7}',
  '../../../etc/passwd',
  '%00%ff%fe',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'http://169.254.169.254/',
  'a'.repeat(5000),
  '🙂'.repeat(300),
  '('.repeat(2000),
  'eyJhbGciOiJub25lIn0.e30.',
  '.'.repeat(3000),
  'openid '.repeat(500),
] as const;

const NAMES = [
  ...['response_type', 'client_id', 'redirect_uri', 'scope', 'state', 'nonce', 'code', 'code_verifier', 'prompt'],
  ...['grant_type', 'client_secret', 'refresh_token', 'code_challenge', 'max_age', 'id_token_hint', 'request'],
  ...['identifier', 'password', 'username', 'displayName', 'email', 'decision', 'form_token', 'current', 'until'],
  ...['limit', 'cursor', 'q', 'type', 'userId', 'redirectUris', 'status', 'role', 'socialLinks', '__proto__', ''],
] as const;

/** Any JSON, a few levels deep. */
function anyJson(texts: readonly string[], depth = 0): unknown {
  const kind = below(depth > 3 ? 5 : 7);
  if (kind === 0) return pick([null, true, false, 0, -1, 1e308, 0.1]);
  if (kind < 5) return pick(texts);
  if (kind === 5) return Array.from({ length: below(4) }, () => anyJson(texts, depth + 1));
  return Object.fromEntries(Array.from({ length: below(5) }, () => [pick(NAMES), anyJson(texts, depth + 1)]));
}

const fields = (texts: readonly string[]): URLSearchParams =>
  new URLSearchParams(Array.from({ length: below(9) }, () => [pick(NAMES), pick(texts).toWellFormed()]));

function bodyOf(texts: readonly string[]): [string, string | Uint8Array<ArrayBuffer>] {
  const kind = below(6);
  if (kind === 0) return [JSON_TYPE, JSON.stringify(anyJson(texts))];
  if (kind === 1) return [JSON_TYPE, JSON.stringify(Object.fromEntries(fields(texts)))];
  if (kind === 2) return [FORM_TYPE, fields(texts).toString()];
  if (kind === 3) return [pick([JSON_TYPE, FORM_TYPE]), Uint8Array.from({ length: below(400) }, () => below(256))];
  if (kind === 4) return [JSON_TYPE, '['.repeat(below(20_000))];
  return [pick(['text/plain', 'multipart/form-data; boundary=x', 'application/json; charset=utf-16']), pick(texts)];
}

interface Known {
  readonly client: TestClient;
  readonly texts: readonly string[];
  readonly tokens: readonly string[];
  readonly cookie: string;
  readonly ids: readonly string[];
}

function pathOf(url: string, { client, ids, texts }: Known): string {
  if (url.endsWith('/authorize') && chance(0.7)) return `${authorizeUrl(client)}&${fields(texts)}`;
  const path = url.replaceAll(/:\w+/g, () =>
    chance(0.5) ? pick(ids) : encodeURIComponent(pick(TEXTS).toWellFormed().slice(0, 200)),
  );
  const spelled = chance(0.1) ? pick([`/${path}`, `${path}/`, path.toUpperCase(), `${path}%2f..`, `${path};x`]) : path;
  return chance(0.5) ? `${spelled}?${fields(texts)}` : spelled;
}

/** One request of the seed: mostly near to what a route expects, with good credentials or bad ones. */
function nextRequest(known: Known): [string, RequestInit] {
  const route = pick(server.routes);
  const method = chance(0.9) ? route.method : pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']);
  const headers: Record<string, string> = { accept: pick(['text/html', JSON_TYPE, '*/*', 'image/png']) };
  const token = isAdmin(route.url) && chance(0.8) ? ADMIN_KEY : pick(known.tokens);
  if (chance(0.7)) headers['authorization'] = `${pick(['Bearer', 'bearer', 'Basic', 'Digest'])} ${token}`;
  if (chance(0.5)) headers['cookie'] = known.cookie;
  if (chance(0.2)) headers['x-forwarded-for'] = pick(['::1', 'x', '1.2.3.4, 5.6.7.8', '[::]:99']);
  if (chance(0.2)) headers['origin'] = pick(['null', 'https://evil.example', server.baseUrl, 'x']);
  const [type, body] = bodyOf(known.texts);
  if (chance(0.95)) headers['content-type'] = type;
  return [pathOf(route.url, known), { method, headers, ...(!['GET', 'HEAD'].includes(method) && { body }) }];
}

const isAdmin = (url: string): boolean => url.startsWith('/api/v2/admin');

test(`AV-05: ${REQUESTS} hostile requests over all routes: none is a fault, and the server goes on`, async () => {
  const [client, user] = [await newClient(server), await newUser(server)];
  const browser = await signedIn(server, user);
  const tokens = await tokensFor(server, client, user, {}, { browser });
  const cookie = cookiesFor(server.baseUrl, browser);
  const good = [client.clientId, client.clientSecret, client.redirectUri, user.id, user.username, 'code', 'openid'];
  const known: Known = {
    client,
    texts: [...TEXTS, ...good, ...Object.values(tokens).map(String), 'authorization_code', 'refresh_token', 'allow'],
    tokens: [
      tokens.access_token,
      tokens.refresh_token,
      tokens.id_token,
      ...TEXTS.filter((t) => /^[\x21-\x7e]+$/.test(t)),
    ],
    cookie,
    ids: [user.id, client.clientId, '1'],
  };
  const seen = new Map<number, number>();
  for (let sent = 0; sent < REQUESTS; sent += 25) {
    await Promise.all(
      Array.from({ length: 25 }, async () => {
        const [path, init] = nextRequest(known);
        const response = await fetch(server.baseUrl + path, { ...init, redirect: 'manual' });
        await response.arrayBuffer();
        seen.set(response.status, (seen.get(response.status) ?? 0) + 1);
        const shown = `${init.method} ${path.slice(0, 2000)} ${JSON.stringify(init.headers)} ${String(init.body).slice(0, 2000)}`;
        assert.ok(response.status < 500, `seed ${SEED}: ${response.status} for ${shown}`);
        const location = response.headers.get('location') ?? '';
        assert.doesNotMatch(location, /server_error|temporarily_unavailable/, `seed ${SEED}: ${shown}`);
      }),
    );
  }
  // The requests get everywhere: past the guards as well as to them.
  for (const status of [200, 302, 400, 401, 404]) assert.ok((seen.get(status) ?? 0) > 10, JSON.stringify([...seen]));
  await stillWorks();
});

test('AV-05: octets that are no HTTP end a connection, and nothing else', async () => {
  const port = Number(new URL(server.baseUrl).port);
  for (let n = 0; n < 200; n++) {
    const garbage = String.fromCharCode(...Array.from({ length: 1 + below(300) }, () => below(256)));
    const start = pick([
      '',
      'GET / HTTP/1.1\r\n',
      'POST /api/v2/oauth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n',
    ]);
    const answer = await sendBytes(port, `${start}${garbage.replaceAll('\n', ' ')}\r\n\r\n${NULS}`);
    assert.doesNotMatch(answer, /^HTTP\/1\.1 5/, `seed ${SEED}, ${n}: ${answer}`);
  }
  await stillWorks();
});

async function stillWorks(): Promise<void> {
  assert.equal((await fetch(`${server.baseUrl}/health/ready`)).status, 200);
  const tokens = await tokensFor(server, await newClient(server), await newUser(server));
  assert.equal((await userinfo(server, tokens.access_token)).status, 200);
}
