// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import {
  assertInvalidGrant,
  assertInvalidToken,
  assertRefused,
  call,
  FORM_TYPE,
  JSON_TYPE,
  STANDARD,
  USERINFO,
  userinfoWith,
} from '../support/api-call.ts';
import {
  admin,
  newClient,
  newUser,
  refresh,
  revokeOnPage,
  signedIn,
  type TestClient,
  type TestUser,
  type Tokens,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const user = await newUser(server);
let token = (await tokensFor(server, client, user)).access_token;

const form = (text: string, path = STANDARD, headers: Record<string, string> = {}) =>
  call(server, 'POST', path, { 'content-type': FORM_TYPE, ...headers }, text);

for (const path of [USERINFO, STANDARD]) {
  describe(`GET ${path}`, () => {
    test('answers JSON that no cache keeps (US-08)', async () => {
      const answer = await userinfoWith(server, `Bearer ${token}`, path);
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json(; charset=utf-8)?$/);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    });

    test('the scheme is of any case (RFC 9110 §11.1)', async () => {
      for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
        assert.equal((await userinfoWith(server, `${scheme} ${token}`, path)).status, 200);
      }
    });

    test('without a token: 401 with a bare challenge (RFC 6750 §3.1)', async () => {
      for (const headers of [
        {},
        { authorization: 'Basic eDp5' },
        { authorization: token },
        { authorization: 'Bearer' },
      ]) {
        const answer = await call(server, 'GET', path, headers);
        assertInvalidToken(answer);
        assert.doesNotMatch(answer.headers.get('www-authenticate') ?? '', /error/);
      }
    });

    test('with a bad token: 401, and the challenge says invalid_token', async () => {
      const bad = [
        'x',
        'a.b.c',
        `${token}x`,
        token.slice(0, -1),
        'null',
        'undefined',
        '{}',
        '"',
        '\u00ff',
        'a'.repeat(9000),
      ];
      for (const text of bad) {
        const answer = await userinfoWith(server, `Bearer ${text}`, path);
        assertInvalidToken(answer);
        assert.match(answer.headers.get('www-authenticate') ?? '', /error="invalid_token"/);
      }
    });

    test('with something after the token, or two of them: 401', async () => {
      for (const value of [
        `Bearer ${token} x`,
        `Bearer ${token}, Bearer ${token}`,
        `Bearer ${token},`,
        `Bearer,${token}`,
      ]) {
        assertInvalidToken(await userinfoWith(server, value, path));
      }
    });

    test('US-01: a token in the address is refused, alone and beside the header', async () => {
      assert.ok([400, 401].includes((await call(server, 'GET', `${path}?access_token=${token}`)).status));
      const both = await userinfoWith(server, `Bearer ${token}`, `${path}?access_token=${token}`);
      assertRefused(both, 400, 'invalid_request');
      const escaped = await userinfoWith(server, `Bearer ${token}`, `${path}?%61ccess_token=${token}`);
      assertRefused(escaped, 400, 'invalid_request');
    });

    test('other methods are 405 with Allow', async () => {
      const served = path === USERINFO ? ['GET', 'HEAD'] : ['GET', 'HEAD', 'POST'];
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((name) => !served.includes(name))) {
        const answer = await call(server, method, path, { authorization: `Bearer ${token}` });
        assertRefused(answer, 405, 'invalid_request');
        assert.deepEqual((answer.headers.get('allow') ?? '').split(', ').sort(), served);
      }
    });

    test('HEAD has the status and the challenge of GET, and no body (RFC 9110 §9.3.2)', async () => {
      for (const presented of [token, 'not-a-token', (await tokensFor(server, client, user)).refresh_token]) {
        const [head, get] = await Promise.all(
          ['HEAD', 'GET'].map((method) => call(server, method, path, { authorization: `Bearer ${presented}` })),
        );
        assert.equal(head?.text, '');
        assert.equal(head?.status, get?.status);
        for (const name of ['content-type', 'cache-control', 'content-length', 'www-authenticate'])
          assert.equal(head?.headers.get(name), get?.headers.get(name), name);
      }
    });

    test('other parameters are ignored', async () => {
      const answer = await userinfoWith(server, `Bearer ${token}`, `${path}?schema=openid&x=1&x=2&sub=1`);
      assert.equal(answer.status, 200);
      assert.equal(answer.body.sub, user.id);
    });

    test('an access token is good in its last millisecond and dead in the instant of exp (JW-13)', async () => {
      const { access_token } = await tokensFor(server, client, user);
      const exp = Math.floor(server.now() / 1000) + 1800;
      server.advance(exp * 1000 - 1 - server.now());
      assert.equal((await userinfoWith(server, `Bearer ${access_token}`, path)).status, 200);
      server.advance(1);
      assertInvalidToken(await userinfoWith(server, `Bearer ${access_token}`, path));
      token = (await tokensFor(server, client, user)).access_token;
    });
  });
}

describe(`POST ${STANDARD}`, () => {
  test('the token in the header or in a form (OIDC Core §5.3.1)', async () => {
    const expected = (await userinfoWith(server, `Bearer ${token}`, STANDARD)).body;
    for (const answer of [
      await call(server, 'POST', STANDARD, { authorization: `Bearer ${token}` }),
      await form('', STANDARD, { authorization: `Bearer ${token}` }),
      await form('x=1', STANDARD, { authorization: `Bearer ${token}` }),
      await form(`access_token=${token}`),
      await form(`access_token=${token}&x=1`),
    ]) {
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body, expected);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
    }
  });
  test('two tokens, sent in any two ways, are 400', async () => {
    const header = { authorization: `Bearer ${token}` };
    for (const answer of [
      await form(`access_token=${token}`, STANDARD, header),
      await form('access_token=x', STANDARD, header),
      await form(`access_token=${token}&access_token=${token}`),
      await form(`access_token=${token}`, `${STANDARD}?access_token=${token}`),
      await form('', `${STANDARD}?access_token=${token}`, header),
    ]) {
      assertRefused(answer, 400, 'invalid_request');
    }
  });
  test('none at all, an empty or a bad one is 401', async () => {
    for (const text of ['', 'access_token=', 'access_token=x', 'access_token=a+b', `token=${token}`]) {
      assertInvalidToken(await form(text));
    }
    assertInvalidToken(await call(server, 'POST', STANDARD));
  });
  test('a body that is no form is 415', async () => {
    const body = JSON.stringify({ access_token: token });
    assertRefused(await call(server, 'POST', STANDARD, { 'content-type': JSON_TYPE }, body), 415, 'invalid_request');
    assertRefused(await call(server, 'POST', STANDARD, { 'content-type': 'text/plain' }, body), 415, 'invalid_request');
  });
});

test('US-08: of a thousand mixed requests each is answered about the person of its token', async () => {
  const held: { readonly token: string; readonly id: string }[] = [];
  for (let n = 0; n < 20; n++) {
    const person = await newUser(server);
    held.push({ token: (await tokensFor(server, client, person)).access_token, id: person.id });
  }
  const requests = Array.from({ length: 1000 }, (_, n) => ({ ...held[(n * 7) % held.length], standard: n % 3 === 0 }));
  const answers = await Promise.all(
    requests.map(({ token: each, standard }) => userinfo(server, each, standard ? STANDARD : USERINFO)),
  );
  assert.deepEqual(
    answers.map(({ body }) => body.sub),
    requests.map(({ id }) => id),
  );
});

describe('US-07: what is no longer on record is 401, never 200 and never 500', () => {
  const gone = async (tokens: Tokens, app: TestClient, client401 = false) => {
    for (const path of [USERINFO, STANDARD]) assertInvalidToken(await userinfo(server, tokens.access_token, path));
    const answer = await refresh(server, app, tokens.refresh_token);
    if (client401) assertRefused(answer, 401, 'invalid_client');
    else assertInvalidGrant(answer);
  };

  test('a deleted account', async () => {
    const person = await newUser(server);
    const tokens = await tokensFor(server, client, person);
    assert.equal((await admin(server, 'DELETE', `/users/${person.id}`)).status, 204);
    await gone(tokens, client);
    // Even after another user took the name and the address.
    await newUser(server, { username: person.username, email: `${person.username}@example.com` });
    await gone(tokens, client);
  });
  test('a deleted client', async () => {
    const app = await newClient(server);
    const tokens = await tokensFor(server, app, user);
    assert.equal((await admin(server, 'DELETE', `/clients/${app.clientId}`)).status, 204);
    await gone(tokens, app, true);
  });
  for (const table of ['consent_grant', 'token_family']) {
    test(`a row gone from ${table}`, async () => {
      const person = await newUser(server);
      const tokens = await tokensFor(server, client, person);
      await query(server, `DELETE FROM ${table} WHERE account_id = ?`, BigInt(person.id));
      await gone(tokens, client);
    });
  }
});

describe('RFC 6750 §3: where access was taken away, standard clients find the reason in a challenge', () => {
  const operate = async (path: string, person: TestUser) =>
    assert.equal((await admin(server, 'PUT', `/users/${person.id}/${path}`, {})).status, 200);
  const ends: Record<string, (person: TestUser) => Promise<void>> = {
    'Account banned': (person) => operate('ban', person),
    'Account is suspended': (person) => operate('suspension', person),
    'Access revoked by user': async (person) => {
      await revokeOnPage(await signedIn(server, person), client);
    },
  };
  for (const [message, end] of Object.entries(ends)) {
    test(message, async () => {
      const person = await newUser(server);
      const tokens = await tokensFor(server, client, person);
      await end(person);
      const standard = await userinfo(server, tokens.access_token, STANDARD);
      assertRefused(standard, 401, 'invalid_token', message);
      assert.equal(
        standard.headers.get('www-authenticate'),
        `Bearer realm="tessera", error="invalid_token", error_description="${message}"`,
      );
      const contract = await userinfo(server, tokens.access_token, USERINFO);
      assertRefused(contract, 403, 'access_denied', message);
    });
  }
});
