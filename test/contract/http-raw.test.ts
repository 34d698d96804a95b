// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { codeBody, FORM_TYPE, JSON_TYPE, TOKEN, USERINFO } from '../support/api-call.ts';
import { codeFor, newClient, newUser, redeem, signedIn, tokensFor, userinfo } from '../support/flow.ts';
import { type RawAnswer, raw } from '../support/raw-socket.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const user = await newUser(server);
const browser = await signedIn(server, user);
const token = (await tokensFor(server, client, user, {}, { browser })).access_token;
const code = await codeFor(server, client, user, {}, { browser });

const lines = (...each: string[]): string => `${each.join('\r\n')}\r\n\r\n`;
const get = (path: string, ...headers: string[]): string =>
  lines(`GET ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers);
const bearer = () => `Authorization: Bearer ${token}`;

/** Decisions §4: also where a request is not even HTTP, the error is JSON with these two members. */
function assertError(answer: RawAnswer | undefined, statuses: readonly number[]): void {
  assert.ok(answer, 'no answer');
  assert.ok(statuses.includes(answer.status), `${answer.status} ${answer.body}`);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const body = JSON.parse(answer.body);
  assert.deepEqual(Object.keys(body).sort(), ['error', 'error_description']);
  assert.equal(body.error, 'invalid_request');
}

/** Exactly one answer, an error, and the connection closed after it: what followed was not taken for a request. */
async function refusedOnce(request: string, statuses: readonly number[] = [400]): Promise<void> {
  const answers = await raw(server, request);
  assert.equal(answers.length, 1, JSON.stringify(answers));
  assertError(answers[0], statuses);
}

test('a well-formed request over a bare socket is answered', async () => {
  const [answer, ...more] = await raw(server, get(USERINFO, bearer()));
  assert.equal(answer?.status, 200);
  assert.equal(more.length, 0);
});

describe('HB-06: lengths that contradict each other are refused, and nothing is smuggled', () => {
  const smuggled = () => get(USERINFO, bearer());
  const post = (...headers: string[]) =>
    lines(`POST ${TOKEN} HTTP/1.1`, 'Host: localhost', `Content-Type: ${FORM_TYPE}`, ...headers);
  const cases: readonly [string, () => string][] = [
    [
      'Content-Length and Transfer-Encoding',
      () => `${post('Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n${smuggled()}`,
    ],
    [
      'Transfer-Encoding and Content-Length',
      () => `${post('Transfer-Encoding: chunked', 'Content-Length: 0')}0\r\n\r\n${smuggled()}`,
    ],
    ['two different Content-Lengths', () => `${post('Content-Length: 0', 'Content-Length: 5')}${smuggled()}`],
    ['a list in Content-Length', () => `${post('Content-Length: 0, 5')}${smuggled()}`],
    ['a signed Content-Length', () => `${post('Content-Length: +0')}${smuggled()}`],
    ['a negative Content-Length', () => `${post('Content-Length: -1')}${smuggled()}`],
    ['a hexadecimal Content-Length', () => `${post('Content-Length: 0x5')}${smuggled()}`],
    ['a Content-Length beyond 64 bits', () => `${post('Content-Length: 99999999999999999999')}${smuggled()}`],
    ['an unknown Transfer-Encoding', () => `${post('Transfer-Encoding: xchunked')}0\r\n\r\n${smuggled()}`],
    [
      'chunked twice',
      () => `${post('Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}0\r\n\r\n${smuggled()}`,
    ],
    ['a space before the colon', () => `${post('Transfer-Encoding : chunked')}0\r\n\r\n${smuggled()}`],
    ['a broken chunk size', () => `${post('Transfer-Encoding: chunked')}zz\r\n${smuggled()}`],
    ['a negative chunk size', () => `${post('Transfer-Encoding: chunked')}-1\r\n${smuggled()}`],
  ];
  for (const [name, request] of cases) {
    test(name, async () => {
      const answers = await raw(server, request());
      assert.ok(answers.length >= 1, 'no answer');
      for (const answer of answers) assert.notEqual(answer.status, 200, `smuggled: ${answer.body}`);
      assertError(answers[0], [400, 401, 413, 501]);
      assert.equal(answers.length, 1, JSON.stringify(answers));
    });
  }

  test('a code in a body of contradicting length is not spent', async () => {
    const body = new URLSearchParams(codeBody(client, code)).toString();
    const request = `${post(`Content-Length: ${body.length}`, 'Content-Length: 3')}${body}`;
    await refusedOnce(request);
    assert.equal((await redeem(server, client, code)).status, 200);
  });
});

describe('HB-06: header syntax', () => {
  const cases: readonly [string, () => string, (readonly number[])?][] = [
    ['a folded line (obs-fold)', () => get(USERINFO, 'Authorization: Bearer', ` ${token}`)],
    ['a folded line with a tab', () => get(USERINFO, 'X-A: b', `\tAuthorization: Bearer ${token}`), [400, 401]],
    ['a space before the colon', () => get(USERINFO, `Authorization : Bearer ${token}`)],
    [
      'a space before the name',
      () => lines(`GET ${USERINFO} HTTP/1.1`, ` Authorization: Bearer ${token}`, 'Host: localhost'),
    ],
    ['a header without a colon', () => get(USERINFO, 'Authorization')],
    ['an empty header name', () => get(USERINFO, ': x')],
    ['a NUL in a value', () => get(USERINFO, 'X-A: b\u0000c')],
    ['a bare CR in a value', () => get(USERINFO, `X-A: b\rAuthorization: Bearer ${token}`)],
    ['a control character in a name', () => get(USERINFO, 'X\u0001A: b')],
    ['two Hosts (RFC 9112 §3.2)', () => get(USERINFO, 'Host: localhost', bearer())],
    ['no Host (RFC 9112 §3.2)', () => lines(`GET ${USERINFO} HTTP/1.1`, 'Connection: close', bearer())],
    ['an unknown version', () => lines(`GET ${USERINFO} HTTP/9.9`, 'Host: localhost', bearer())],
    ['an unknown method', () => lines(`GIVE ${USERINFO} HTTP/1.1`, 'Host: localhost', bearer())],
    ['a lower-case method', () => lines(`get ${USERINFO} HTTP/1.1`, 'Host: localhost', bearer())],
    ['a space in the address', () => lines(`GET ${USERINFO} x HTTP/1.1`, 'Host: localhost', bearer())],
    ['TLS octets', () => '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
    ['nothing of HTTP', () => 'hello\r\n\r\n'],
    ['an HTTP/2 preface', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ];
  for (const [name, request, statuses] of cases) {
    test(`${name} is refused`, () => refusedOnce(request(), statuses));
  }

  test('CR and LF that came encoded never split an answer', async () => {
    const injected = '%0d%0aSet-Cookie:%20evil=1%0d%0a%0d%0a<script>';
    for (const path of [`${USERINFO}?x=${injected}`, `/${injected}`, `/api/v2/oauth/authorize?state=${injected}`]) {
      const [answer, ...more] = await raw(server, get(path));
      assert.ok(answer && answer.status >= 400);
      assert.equal(more.length, 0);
      assert.doesNotMatch(answer.headers.get('set-cookie') ?? '', /evil/);
      assert.ok(!answer.body.includes('<script>'));
    }
  });

  test('of two Authorization headers no second one is tried', async () => {
    const [answer] = await raw(server, get(USERINFO, 'Authorization: Bearer x', bearer()));
    assert.ok(answer && [400, 401].includes(answer.status));
  });
});

describe('AV-02: what is too large', () => {
  test('a header beyond the bound is 431 or 400', () =>
    refusedOnce(get(USERINFO, `X-A: ${'a'.repeat(120_000)}`), [431]));
  test('thousands of headers', async () => {
    const many = Array.from({ length: 20_000 }, (_, i) => `X-${i}: a`);
    await refusedOnce(get(USERINFO, ...many), [431]);
  });
  test('an address of more than 16 KiB is 414', () =>
    refusedOnce(get(`${USERINFO}?${'a'.repeat(17_000)}`, bearer()), [414]));
  test('an address beyond every bound', () => refusedOnce(get(`/${'a'.repeat(200_000)}`), [414, 431]));
  test('thousands of parameters in an address, a form or an object are refused as one is', async () => {
    const many = (separator: string, count: number, one: (n: number) => string) =>
      Array.from({ length: count }, (_, n) => one(n)).join(separator);
    await refusedOnce(get(`/api/v2/oauth/authorize?${many('&', 2500, (n) => `a${n}`)}`, 'Accept: application/json'));
    for (const [type, body] of [
      [FORM_TYPE, many('&', 9000, (n) => `a${n}`)],
      [JSON_TYPE, `{${many(',', 6000, (n) => `"a${n}":0`)}}`],
    ] as const) {
      const headers = [`Content-Type: ${type}`, `Content-Length: ${body.length}`, 'Connection: close'];
      const answers = await raw(server, lines(`POST ${TOKEN} HTTP/1.1`, 'Host: localhost', ...headers) + body);
      assert.deepEqual(
        answers.map(({ status }) => status),
        [401],
        'no client_id among them',
      );
    }
  });
  test('a body that is announced as too large is refused before it comes', async () => {
    const head = lines(
      `POST ${TOKEN} HTTP/1.1`,
      'Host: localhost',
      'Connection: close',
      'Content-Type: application/json',
      'Content-Length: 1000000',
    );
    await refusedOnce(head, [413]);
  });
});

describe('HB-07: methods', () => {
  test('TRACE, CONNECT and others are never served, and repeat nothing', async () => {
    for (const method of ['TRACE', 'PROPFIND', 'SEARCH', 'LINK', 'PURGE', 'QUERY', 'MKCOL']) {
      const answers = await raw(
        server,
        lines(`${method} ${USERINFO} HTTP/1.1`, 'Host: localhost', 'Connection: close', bearer()),
      );
      assert.equal(answers.length, 1);
      assertError(answers[0], [400, 404, 405, 501]);
      assert.ok(!answers[0]?.body.includes(token));
    }
    const connect = await raw(
      server,
      lines('CONNECT evil.example.com:443 HTTP/1.1', 'Host: localhost', 'Connection: close'),
    );
    assert.ok(connect.every(({ status }) => status >= 400));
  });
  test('no header or parameter changes the method', async () => {
    for (const header of ['X-HTTP-Method-Override: GET', 'X-HTTP-Method: GET', 'X-Method-Override: GET']) {
      const request = lines(
        `POST ${USERINFO}?_method=GET HTTP/1.1`,
        'Host: localhost',
        'Connection: close',
        header,
        bearer(),
        'Content-Length: 0',
      );
      await refusedOnce(request, [405]);
    }
  });
});

test('after all this the server still answers', async () => {
  assert.equal((await userinfo(server, token)).status, 200);
});
