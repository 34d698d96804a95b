// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import {
  assertRefused,
  basic,
  call,
  codeBody,
  FORM_TYPE,
  JSON_TYPE,
  refreshBody,
  TOKEN,
  tokenBytes,
  tokenForm,
} from '../support/api-call.ts';
import {
  claimsOf,
  codeFor,
  newClient,
  newUser,
  redeem,
  signedIn,
  type TestClient,
  type TestUser,
} from '../support/flow.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let client: TestClient;
let user: TestUser;
let browser: Agent;
let code: string;
before(async () => {
  server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
  client = await newClient(server);
  user = await newUser(server);
  browser = await signedIn(server, user);
});
beforeEach(async () => {
  code = await freshCode();
});
after(() => server.close());

/** Refused, and nothing happened: the code can still be redeemed. */
async function refusedUnspent(answer: Parameters<typeof assertRefused>[0], status: number): Promise<void> {
  assertRefused(answer, status, 'invalid_request');
  assert.equal((await redeem(server, client, code)).status, 200, 'the refused request consumed the code');
}

const freshCode = (): Promise<string> => codeFor(server, client, user, {}, { browser });

const RESPONSE = ['access_token', 'expires_in', 'id_token', 'refresh_token', 'token_type'];

describe('decisions §4: JSON and forms are read by one validator', () => {
  const json = (body: object) => tokenBytes(server, JSON.stringify(body));
  const send: readonly [string, (body: Record<string, string>) => ReturnType<typeof json>][] = [
    ['JSON', json],
    ['JSON with a charset', (body) => tokenBytes(server, JSON.stringify(body), 'application/json; charset=UTF-8')],
    ['JSON, type in another case', (body) => tokenBytes(server, JSON.stringify(body), 'Application/JSON')],
    ['a form', (body) => tokenForm(server, body)],
    [
      'a form with a charset',
      (body) => tokenBytes(server, new URLSearchParams(body).toString(), `${FORM_TYPE}; charset="utf-8"`),
    ],
    ['a chunked body', (body) => tokenBytes(server, new Blob([JSON.stringify(body)]).stream())],
  ];
  for (const [name, call_] of send) {
    test(`${name}: exchange and refresh answer contract §2.3`, async () => {
      const first = await call_(codeBody(client, code));
      assert.equal(first.status, 200, first.text);
      const second = await call_(refreshBody(client, first.body.refresh_token));
      assert.equal(second.status, 200, second.text);
      for (const answer of [first, second]) {
        assert.deepEqual(Object.keys(answer.body).sort(), RESPONSE);
        assert.equal(answer.body.token_type, 'Bearer');
        assert.equal(answer.body.expires_in, 1800);
        for (const kind of ['access_token', 'refresh_token', 'id_token'])
          assert.equal(typeof answer.body[kind], 'string');
        assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
        assert.equal(answer.headers.get('cache-control'), 'no-store');
      }
    });
  }

  test('Basic works with either body', async () => {
    const { client_id, client_secret, ...rest } = codeBody(client, code);
    const first = await tokenForm(server, rest, basic(client_id, client_secret));
    assert.equal(first.status, 200);
    const again = { grant_type: 'refresh_token', refresh_token: first.body.refresh_token as string };
    const second = await tokenBytes(server, JSON.stringify(again), JSON_TYPE, basic(client_id, client_secret));
    assert.equal(second.status, 200);
  });

  test('TK-14: unknown members of any type are ignored; an audience changes no aud', async () => {
    const audienceOf = (answer: { body: { access_token: string } }): unknown => claimsOf(answer.body.access_token).aud;
    const usual = audienceOf(await json(codeBody(client, code)));
    const wanted = 'https://api.example.com';
    for (const audience of [wanted, [wanted]]) {
      const asked = await codeFor(server, client, user, { audience: wanted }, { browser });
      const extra = { audience, aud: wanted, custom: { deep: [1, null] }, nonce: 7 };
      const answer = await json({ ...codeBody(client, asked), ...extra });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(audienceOf(answer), usual);
      const renewed = await json({ ...refreshBody(client, answer.body.refresh_token), ...extra });
      assert.equal(audienceOf(renewed), usual);
      assert.equal('nonce' in claimsOf(answer.body.id_token), false);
    }
  });
});

describe('TK-04: a repeated member is invalid_request', () => {
  const members = ['grant_type', 'code', 'client_id', 'client_secret', 'redirect_uri'] as const;
  for (const name of members) {
    test(`JSON: ${name}, plain and escaped, with the same value and another`, async () => {
      const body = codeBody(client, code);
      const text = JSON.stringify(body).slice(0, -1);
      const escaped = name.replace('_', '\\u005f').replace(/^c/, '\\u0063');
      for (const again of [name, escaped]) {
        for (const value of [body[name], 'other']) {
          const answer = await tokenBytes(server, `${text},"${again}":${JSON.stringify(value)}}`);
          assertRefused(answer, 400, 'invalid_request');
        }
      }
      await refusedUnspent(await tokenBytes(server, `{"${escaped}":"first",${text.slice(1)}}`), 400);
    });

    test(`form: ${name}, plain and percent-encoded`, async () => {
      const form = new URLSearchParams(codeBody(client, code)).toString();
      const encoded = `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`;
      for (const again of [name, encoded]) {
        assertRefused(await tokenBytes(server, `${form}&${again}=x`, FORM_TYPE), 400, 'invalid_request');
        assertRefused(await tokenBytes(server, `${again}=&${form}`, FORM_TYPE), 400, 'invalid_request');
      }
      await refusedUnspent(await tokenBytes(server, `${form}&${form}`, FORM_TYPE), 400);
    });
  }
});

describe('TK-04: members that could reach a prototype are refused or inert', () => {
  const polluted = () => ({}) as { polluted?: unknown; code?: unknown };
  test('__proto__, constructor and prototype', async () => {
    const rest = JSON.stringify(codeBody(client, code)).slice(1);
    const proofOnly = JSON.stringify({ client_id: client.clientId, client_secret: client.clientSecret }).slice(1);
    const inherited = JSON.stringify(codeBody(client, code));
    assertRefused(await tokenBytes(server, `{"__proto__":${inherited},${proofOnly}`), 400, 'invalid_request');
    assertRefused(await tokenBytes(server, `{"__proto__":{"polluted":1},${rest}`), 400, 'invalid_request');
    assertRefused(await tokenBytes(server, `{"\\u005f_proto__":{"polluted":1},${rest}`), 400, 'invalid_request');
    const inert = '"constructor":{"prototype":{"polluted":1}},"prototype":{"polluted":1}';
    assert.equal((await tokenBytes(server, `{${inert},${rest}`)).status, 200);
    assert.equal(polluted().polluted, undefined);
    assert.equal(polluted().code, undefined);
  });

  test('in a form they are unknown names', async () => {
    const form = {
      ...codeBody(client, code),
      constructor: 'x',
      'constructor.prototype.polluted': '1',
      hasOwnProperty: 'x',
    };
    const text = `__proto__=x&__proto__[polluted]=1&${new URLSearchParams(form)}`;
    assert.equal((await tokenBytes(server, text, FORM_TYPE)).status, 200);
    assert.equal(polluted().polluted, undefined);
  });
});

describe('TK-02: what is not one well-formed body', () => {
  const valid = () => JSON.stringify(codeBody(client, code));
  const broken: readonly [string, () => Uint8Array<ArrayBuffer> | string][] = [
    ['nothing', () => ''],
    ['white space', () => '  \n'],
    ['a cut object', () => valid().slice(0, -1)],
    ['a second object', () => `${valid()}{}`],
    ['a trailing comma', () => `${valid().slice(0, -1)},}`],
    ['a comment', () => `/**/${valid()}`],
    ['single quotes', () => valid().replaceAll('"', "'")],
    ['a form', () => new URLSearchParams(codeBody(client, code)).toString()],
    ['NaN', () => `${valid().slice(0, -1)},"x":NaN}`],
    ['a raw line break in a text', () => `${valid().slice(0, -1)},"x":"\n"}`],
    ['a byte order mark', () => `\ufeff${valid()}`],
    ['UTF-16', () => new Uint8Array(Buffer.from(valid(), 'utf16le'))],
    ['UTF-16 with a byte order mark', () => new Uint8Array(Buffer.from(`\ufeff${valid()}`, 'utf16le'))],
    ['octets that are not UTF-8', () => new Uint8Array(Buffer.from(`${valid().slice(0, -1)},"x":"\xff"}`, 'latin1'))],
    ['an overlong encoding', () => new Uint8Array(Buffer.from(`${valid().slice(0, -1)},"x":"\xc0\xaf"}`, 'latin1'))],
    ['depth beyond reason', () => `${valid().slice(0, -1)},"x":${'['.repeat(5000)}${']'.repeat(5000)}}`],
  ];
  for (const [name, make] of broken) {
    test(`JSON: ${name} is 400`, async () => refusedUnspent(await tokenBytes(server, make()), 400));
  }
  test('a form that is not UTF-8 is 400', async () => {
    const form = Buffer.from(`${new URLSearchParams(codeBody(client, code))}&x=\xff`, 'latin1');
    await refusedUnspent(await tokenBytes(server, new Uint8Array(form), FORM_TYPE), 400);
  });
  test('no body at all is 400', async () => {
    assertRefused(await call(server, 'POST', TOKEN), 400, 'invalid_request');
    assertRefused(await call(server, 'POST', TOKEN, { 'content-type': FORM_TYPE }), 401, 'invalid_client');
  });

  const types = [
    'text/plain',
    'text/plain;charset=UTF-8',
    'text/json',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'application/json-patch+json',
    'application/ld+json',
    'application/xml',
    'application/octet-stream',
    'application/json; charset=utf-16',
    'application/json; charset=iso-8859-1',
    'application/json; charset=\\"x"',
    `${FORM_TYPE}; charset=utf-16`,
    'application/jsonapplication/json',
    'json',
    '*/*',
  ];
  for (const type of types) {
    test(`content type ${type} is 415`, async () => refusedUnspent(await tokenBytes(server, valid(), type), 415));
  }
  test('a form in another charset is read where all of it is ASCII', async () => {
    const charsets = ['us-ascii', 'ISO-8859-1', 'windows-1252', 'latin1', 'utf8', '"US-ASCII"'];
    for (const charset of charsets) {
      const type = `${FORM_TYPE}; charset=${charset}`;
      const body = new URLSearchParams(codeBody(client, await freshCode())).toString();
      assert.equal((await tokenBytes(server, body, type)).status, 200, charset);
    }
    for (const [charset, name] of [
      ['iso-8859-1', '%E9'],
      ['us-ascii', '%C3%A9'],
      ['windows-1252', 'é'],
      ['utf-16', 'e'],
      ['x-unknown', 'e'],
    ] as const) {
      code = await freshCode();
      const body = `${new URLSearchParams(codeBody(client, code))}&x=${name}`;
      await refusedUnspent(await tokenBytes(server, body, `${FORM_TYPE}; charset=${charset}`), 415);
    }
  });
  test('no content type is 415', async () => {
    const answer = await tokenBytes(server, new Uint8Array(Buffer.from(valid())), '');
    await refusedUnspent(answer, 415);
  });
});

describe('decisions §9: bodies up to 64 KiB', () => {
  const padded = (size: number) => {
    const body = codeBody(client, code);
    const bare = JSON.stringify({ ...body, x: '' }).length;
    return JSON.stringify({ ...body, x: 'a'.repeat(size - bare) });
  };
  test('65,536 octets are read', async () => {
    assert.equal((await tokenBytes(server, padded(65_536))).status, 200);
  });
  test('one more is 413, with a length and chunked, as JSON and as a form', async () => {
    const tooLarge = padded(65_537);
    assertRefused(await tokenBytes(server, tooLarge), 413, 'invalid_request');
    const form = `${new URLSearchParams(codeBody(client, code))}&x=${'a'.repeat(65_536)}`;
    assertRefused(await tokenBytes(server, form, FORM_TYPE), 413, 'invalid_request');
    await refusedUnspent(await tokenBytes(server, new Blob([tooLarge]).stream()), 413);
  });
});
