// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { codeBody, STANDARD, TOKEN, USERINFO } from '../support/api-call.ts';
import { codeFor, newClient, newUser, redeem } from '../support/flow.ts';
import { type RawAnswer, raw } from '../support/raw-socket.ts';
import { ADMIN_KEY, startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const code = await codeFor(server, client, await newUser(server));

/** Sends an address as it stands: a library would tidy it first. */
async function send(method: string, path: string, headers: readonly string[] = [], body = ''): Promise<RawAnswer> {
  const head = [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers];
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const [answer, ...more] = await raw(server, `${[...head, ...length].join('\r\n')}\r\n\r\n${body}`);
  assert.ok(answer, 'no answer');
  assert.equal(more.length, 0);
  return answer;
}

/** Decisions §4: one shape of an error, everywhere in the API. */
function assertError(answer: RawAnswer, statuses: readonly number[], shown: string): void {
  assert.ok(statuses.includes(answer.status), `${shown}: ${answer.status} ${answer.body}`);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/, shown);
  assert.equal(answer.headers.get('cache-control'), 'no-store', shown);
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff', shown);
  const body = JSON.parse(answer.body);
  assert.deepEqual(Object.keys(body).sort(), ['error', 'error_description'], shown);
  assert.equal(typeof body.error_description, 'string', shown);
}

/** Spellings of one path that some server or proxy might take for it. */
function variants(path: string): readonly string[] {
  const last = path.slice(path.lastIndexOf('/') + 1);
  const parent = path.slice(0, -last.length - 1);
  const hex = (character: string) => `%${character.charCodeAt(0).toString(16)}`;
  return [
    `${path}/`,
    `${path}//`,
    `/${path}`,
    `//${path}`,
    `/.${path}`,
    `/./${path.slice(1)}`,
    `/x/..${path}`,
    `/%2e${path}`,
    `/x/%2e%2e${path}`,
    `/x/..%2f${path.slice(1)}`,
    `${parent}//${last}`,
    `${parent}/./${last}`,
    `${parent}/%2e/${last}`,
    `${parent}/x/../${last}`,
    `${parent}/x/..;/${last}`,
    `${parent};x=1/${last}`,
    `${path};jsessionid=1`,
    `${parent}%2f${last}`,
    `${parent}/${hex(last.charAt(0))}${last.slice(1)}`,
    `${parent}/%25${hex(last.charAt(0)).slice(1)}${last.slice(1)}`,
    `${parent}\\${last}`,
    `${parent}%5c${last}`,
    `${path}%00`,
    `${path}%20`,
    `${path}%0a`,
    `${path}.json`,
    `${path}.`,
    `${path}~`,
    `${path}#x`,
    `${path}%3fx=1`,
    `${path}%23`,
    path.toUpperCase(),
    `${parent}/${last.charAt(0).toUpperCase()}${last.slice(1)}`,
    path.replace('/', '/%61pi/../'),
    `http://localhost${path}`,
    `http://evil.example.com${path}`,
  ];
}

describe('HB-07: no spelling of a path is less protected than the plain one', () => {
  const protected_ = [
    ['GET', USERINFO],
    ['GET', STANDARD],
    ['GET', '/api/v2/admin/users'],
    ['GET', '/api/v2/admin/clients'],
    ['GET', '/api/v2/admin/audit-events'],
    ['POST', '/api/v2/admin/users'],
  ] as const;
  for (const [method, path] of protected_) {
    test(`${method} ${path} without credentials`, async () => {
      assertError(await send(method, path), [401], path);
      for (const variant of variants(path)) {
        assertError(await send(method, variant), [400, 401, 404, 405, 415], variant);
      }
    });
    test(`${method} ${path} with a bad credential`, async () => {
      for (const variant of variants(path)) {
        const answer = await send(method, variant, ['Authorization: Bearer bad']);
        assertError(answer, [400, 401, 404, 405, 415], variant);
      }
    });
  }

  test('the token endpoint asks for the client under every spelling', async () => {
    const body = JSON.stringify({ ...codeBody(client, code), client_secret: 'wrong' });
    for (const variant of variants(TOKEN)) {
      const answer = await send('POST', variant, ['Content-Type: application/json'], body);
      assertError(answer, [400, 401, 404, 405], variant);
    }
    assert.equal((await redeem(server, client, code)).status, 200);
  });

  test('routes are found by their exact path: case and a slash at the end matter', async () => {
    for (const path of [`${USERINFO}/`, USERINFO.toUpperCase(), `/${USERINFO}`, `${USERINFO}.json`]) {
      assertError(await send('GET', path), [404], path);
    }
    for (const path of ['/api/v2/admin/users/', '/api/v2/admin//users', '/API/v2/admin/users']) {
      assertError(await send('GET', path, [`Authorization: Bearer ${ADMIN_KEY}`]), [404], path);
    }
  });
});

describe('decisions §9: an unknown version or path under /api/ is 404 JSON', () => {
  const paths = [
    '/api/',
    '/api/v1/oauth/userinfo',
    '/api/v3/oauth/token',
    '/api/v02/oauth/userinfo',
    '/api/V2/oauth/userinfo',
    '/api/v2',
    '/api/v2/',
    '/api/v2/oauth',
    '/api/v2/oauth/',
    '/api/v2/oauth/unknown',
    '/api/v2.0/oauth/userinfo',
    '/api/oauth/userinfo',
    '/api/latest/oauth/userinfo',
    '/oauth/userinfo',
    '/oauth/token',
  ];
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      test(`${method} ${path}`, async () => {
        const answer = await send(method, path, ['Accept: text/html'], method === 'GET' ? '' : 'x');
        assertError(answer, [404], path);
        assert.equal(JSON.parse(answer.body).error, 'invalid_request');
      });
    }
  }
});

describe('HB-07: what has no business here is not there', () => {
  const paths = ['/.git/HEAD', '/.env', '/package.json', '/src/app.ts', '/data/secret', '/server-status', '/metrics'];
  const climbs = [
    '/assets/',
    '/assets/style.css.map',
    '/assets/style.css',
    '/assets/../package.json',
    '/assets/%2e%2e/package.json',
    '/assets/..%2fpackage.json',
    '/assets/..%5cpackage.json',
    '/avatars/../../package.json',
    '/avatars/..%2f..%2fpackage.json',
    '/avatars/1.svg%00',
    '/%',
    '/%zz',
    '/api/v2/oauth/userinfo%',
    '/%ff',
    '*',
  ];
  for (const path of [...paths, ...climbs]) {
    test(`GET ${path}`, async () => assertError(await send('GET', path), [400, 404], path));
  }
  test('no answer names the software or its version', async () => {
    for (const path of [USERINFO, '/health/live', '/', '/%', '/login', '/api/v9/x']) {
      const { headers } = await send('GET', path);
      for (const name of ['server', 'x-powered-by', 'x-aspnet-version', 'via'])
        assert.equal(headers.get(name), undefined);
    }
  });
});

test('HB-04: no answer of the API opens itself to other origins', async () => {
  const origins = ['https://evil.example.com', 'null', 'https://app.example.com', server.baseUrl];
  for (const origin of origins) {
    for (const [method, path] of [
      ['GET', USERINFO],
      ['OPTIONS', USERINFO],
      ['OPTIONS', TOKEN],
      ['POST', TOKEN],
      ['OPTIONS', '/api/v2/admin/users'],
    ] as const) {
      const preflight = ['Access-Control-Request-Method: POST', 'Access-Control-Request-Headers: authorization'];
      const { status, headers } = await send(method, path, [`Origin: ${origin}`, ...preflight]);
      assert.ok(status >= 400, `${method} ${path}`);
      for (const name of headers.keys()) assert.ok(!name.startsWith('access-control-'), `${name} on ${method} ${path}`);
    }
  }
});

test('HB-02: every answer of the API, errors included, carries the protective headers', async () => {
  for (const [method, path] of [
    ['GET', USERINFO],
    ['POST', TOKEN],
    ['GET', TOKEN],
    ['GET', '/api/v9'],
    ['GET', '/%'],
    ['GET', `/${'a'.repeat(17_000)}`],
    ['GET', '/api/v2/admin/users'],
  ] as const) {
    const { headers } = await send(method, path);
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path.slice(0, 50));
    assert.equal(headers.get('referrer-policy'), 'no-referrer', path.slice(0, 50));
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin', path.slice(0, 50));
    // No HSTS on plain http (decisions §7).
    assert.equal(headers.get('strict-transport-security'), undefined);
  }
});
