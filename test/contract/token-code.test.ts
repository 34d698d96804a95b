// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { assertInvalidGrant, assertInvalidToken, assertRefused } from '../support/api-call.ts';
import {
  authorizeUrl,
  claimsOf,
  codeFor,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  signedIn,
  type TestClient,
  type Tokens,
  userinfo,
} from '../support/flow.ts';
import { codeOf } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const FIRST = 'https://app.example.com/callback';
const SECOND = 'https://app.example.com/Callback?x=1';
const DAY = 24 * 60 * 60 * 1000;

const server = await startServer();
after(() => server.close());
const client = await newClient(server, { redirectUris: [FIRST, SECOND] });
const other = await newClient(server, { redirectUris: [FIRST] });
const user = await newUser(server);
let browser = await signedIn(server, user);

const newCode = (parameters: Record<string, string> = {}) => codeFor(server, client, user, parameters, { browser });
const alive = async (tokens: Tokens) => assert.equal((await userinfo(server, tokens.access_token)).status, 200);

describe('CD-02: a code lives for 60 seconds', () => {
  test('after 59.999 s it is good', async () => {
    const code = await newCode();
    server.advance(59_999);
    assert.equal((await redeem(server, client, code)).status, 200);
  });
  test('after 60 s it is refused, and the answer does not depend on anything else being right', async () => {
    const code = await newCode();
    server.advance(60_000);
    assertInvalidGrant(await redeem(server, client, code));
    assertInvalidGrant(await redeem(server, client, code, { redirect_uri: SECOND }));
    assertInvalidGrant(await redeem(server, other, code));
  });
});

describe('CD-02: one unmet condition is enough, and so is every combination of them', () => {
  const verifier = 'v'.repeat(43);
  const code_challenge = createHash('sha256').update(verifier).digest('base64url');
  const FAULTS = ['another client', 'another redirect_uri', 'another verifier', 'too late'] as const;
  const subsets = Array.from({ length: 2 ** FAULTS.length }, (_, bits) => FAULTS.filter((_, n) => bits & (1 << n)));
  for (const faults of subsets) {
    test(faults.join(', ') || 'all is right', async () => {
      const has = (fault: (typeof FAULTS)[number]) => faults.includes(fault);
      const code = await newCode({ code_challenge, code_challenge_method: 'S256' });
      if (has('too late')) server.advance(60_000);
      const answer = await redeem(server, has('another client') ? other : client, code, {
        redirect_uri: has('another redirect_uri') ? SECOND : FIRST,
        code_verifier: has('another verifier') ? 'w'.repeat(43) : verifier,
      });
      if (faults.length > 0) assertInvalidGrant(answer);
      else assert.equal(answer.status, 200);
      // What was refused in time is as good as before.
      const after = await redeem(server, client, code, { code_verifier: verifier });
      if (faults.length > 0 && !has('too late')) assert.equal(after.status, 200);
      else assertInvalidGrant(after);
    });
  }
});

describe('CD-05, CD-06: a code belongs to one client and one redirect_uri', () => {
  const uris = [
    SECOND,
    'https://app.example.com/callback/',
    'https://app.example.com/Callback',
    'https://APP.example.com/callback',
    'https://app.example.com:443/callback',
    'https://app.example.com/callback?',
    'https://app.example.com/callback#',
    'https://app.example.com/%63allback',
    'https://app.example.com/x/../callback',
    ' https://app.example.com/callback',
    'https://app.example.com/callback\u0000',
    'https://evil.example.com/callback',
  ];
  for (const uri of uris) {
    test(`redirect_uri ${JSON.stringify(uri)} is invalid_grant and revokes nothing`, async () => {
      const code = await newCode();
      assertInvalidGrant(await redeem(server, client, code, { redirect_uri: uri }));
      assert.equal((await redeem(server, client, code)).status, 200);
    });
  }
  test('another registered redirect_uri holds for the code that was asked for with it', async () => {
    const code = await newCode({ redirect_uri: SECOND });
    assertInvalidGrant(await redeem(server, client, code));
    assert.equal((await redeem(server, client, code, { redirect_uri: SECOND })).status, 200);
  });
  test('where only one is registered it must be repeated all the same', async () => {
    const code = await codeFor(server, other, user, {}, { browser });
    assertRefused(await redeem(server, other, code, { redirect_uri: undefined }), 400, 'invalid_request');
    for (const uri of [SECOND, FIRST.toUpperCase(), `${FIRST}/`]) {
      assertInvalidGrant(await redeem(server, other, code, { redirect_uri: uri }));
    }
    assert.equal((await redeem(server, other, code)).status, 200);
  });
  test('another client with the same redirect_uri gets nothing, and the owner is not disturbed', async () => {
    const code = await newCode();
    assertInvalidGrant(await redeem(server, other, code));
    assert.equal((await redeem(server, client, code)).status, 200);
  });
  for (const change of [
    (code: string) => `${code}A`,
    (code: string) => code.slice(0, -1),
    (code: string) => code.toUpperCase(),
    (code: string) => `${code} `,
    () => 'A'.repeat(43),
    () => '\u0000',
    () => `${'x'.repeat(60_000)}`,
    () => "' OR 1=1 --",
  ]) {
    test(`a code that was never issued: ${change}`, async () => {
      const code = await newCode();
      assertInvalidGrant(await redeem(server, client, change(code)));
      assert.equal((await redeem(server, client, code)).status, 200);
    });
  }
});

describe('CD-07: PKCE', () => {
  const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };

  test('RFC 7636 appendix B', () => assert.equal(challenge, 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'));

  const wrong: readonly [string, Record<string, string>][] = [
    ['missing', {}],
    ['empty', { code_verifier: '' }],
    ['another one', { code_verifier: 'A'.repeat(43) }],
    ['the challenge itself', { code_verifier: challenge }],
    ['too short', { code_verifier: verifier.slice(0, 42) }],
    ['too long', { code_verifier: 'A'.repeat(129) }],
    ['with padding', { code_verifier: `${verifier}=` }],
    ['with a space', { code_verifier: `${verifier} ` }],
    ['in another case', { code_verifier: verifier.toUpperCase() }],
    ['beyond ASCII', { code_verifier: `${verifier}é` }],
  ];
  for (const [name, change] of wrong) {
    test(`a verifier ${name} is invalid_grant and revokes nothing`, async () => {
      const code = await newCode(pkce);
      assertInvalidGrant(await redeem(server, client, code, change));
      assert.equal((await redeem(server, client, code, { code_verifier: verifier })).status, 200);
    });
  }
  test('too short and too long are refused also where they fit the challenge', async () => {
    for (const text of ['a'.repeat(42), 'a'.repeat(129)]) {
      const code = await newCode({ ...pkce, code_challenge: createHash('sha256').update(text).digest('base64url') });
      assertInvalidGrant(await redeem(server, client, code, { code_verifier: text }));
    }
  });
  test('43 and 128 characters are good', async () => {
    for (const text of ['-._~aZ09'.repeat(6).slice(0, 43), '-._~aZ09'.repeat(16)]) {
      const code = await newCode({ ...pkce, code_challenge: createHash('sha256').update(text).digest('base64url') });
      assert.equal((await redeem(server, client, code, { code_verifier: text })).status, 200);
    }
  });
  test('a verifier without a challenge is invalid_grant (RFC 9700 §4.8.2)', async () => {
    const code = await newCode();
    assertInvalidGrant(await redeem(server, client, code, { code_verifier: verifier }));
    assert.equal((await redeem(server, client, code)).status, 200);
  });
});

describe('CD-03: a second use kills every token of the first', () => {
  const replays: readonly [string, number, number, boolean][] = [
    ['at once', 0, 0, false],
    ['after a second', 1000, 0, false],
    ['after half a minute', 30_000, 0, false],
    ['after the life of the code', 61_000, 0, false],
    ['after three rotations', 1000, 3, false],
    ['after a restart', 1000, 0, true],
    ['after a day, rotations and a restart', DAY, 2, true],
    ['after eight days of rotations', 2 * DAY, 4, false],
  ];
  for (const [name, wait, rotations, restart] of replays) {
    test(name, async () => {
      const code = await newCode();
      const sets: Tokens[] = [];
      const first = await redeem(server, client, code);
      sets.push(first.body);
      for (let round = 0; round < rotations; round++) {
        server.advance(wait);
        const next = await refresh(server, client, sets.at(-1)?.refresh_token ?? '');
        assert.equal(next.status, 200);
        sets.push(next.body);
      }
      if (rotations === 0) server.advance(wait);
      if (restart) await server.restart();
      if (wait < 1_800_000) for (const tokens of sets) await alive(tokens);

      assertInvalidGrant(await redeem(server, client, code));
      for (const tokens of sets) {
        assertInvalidToken(await userinfo(server, tokens.access_token));
        assertInvalidGrant(await refresh(server, client, tokens.refresh_token));
      }
      assertInvalidGrant(await redeem(server, client, code));
      browser = await signedIn(server, user);
    });
  }

  test('the tokens of another code of the same person and client live on', async () => {
    const code = await newCode();
    const bystander: Tokens = (await redeem(server, client, await newCode())).body;
    assert.equal((await redeem(server, client, code)).status, 200);
    assertInvalidGrant(await redeem(server, client, code));
    await alive(bystander);
    assert.equal((await refresh(server, client, bystander.refresh_token)).status, 200);
  });
});

describe('CD-04: a second use with any fault kills nothing', () => {
  const verifier = 'v'.repeat(43);
  const pkce = {
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  const faults: readonly [string, Record<string, string>, number, string][] = [
    ['wrong secret', { client_secret: 'A'.repeat(43) }, 401, 'invalid_client'],
    ['no secret', { client_secret: '' }, 401, 'invalid_client'],
    ['other redirect_uri', { redirect_uri: SECOND }, 400, 'invalid_grant'],
    ['no redirect_uri', { redirect_uri: '' }, 400, 'invalid_request'],
    ['wrong verifier', { code_verifier: 'w'.repeat(43) }, 400, 'invalid_grant'],
    ['empty verifier', { code_verifier: '' }, 400, 'invalid_grant'],
    ['other grant', { grant_type: 'password' }, 400, 'unsupported_grant_type'],
  ];
  for (const [name, change, status, error] of faults) {
    test(name, async () => {
      const code = await newCode(pkce);
      const tokens: Tokens = (await redeem(server, client, code, { code_verifier: verifier })).body;
      assertRefused(await redeem(server, client, code, { code_verifier: verifier, ...change }), status, error);
      await alive(tokens);
      assert.equal((await refresh(server, client, tokens.refresh_token)).status, 200);
    });
  }
  test('another client', async () => {
    const code = await newCode();
    const tokens: Tokens = (await redeem(server, client, code)).body;
    assertInvalidGrant(await redeem(server, other, code));
    await alive(tokens);
    assert.equal((await refresh(server, client, tokens.refresh_token)).status, 200);
  });
  test('an unexpected verifier', async () => {
    const code = await newCode();
    const tokens: Tokens = (await redeem(server, client, code)).body;
    assertInvalidGrant(await redeem(server, client, code, { code_verifier: verifier }));
    await alive(tokens);
  });
});

test('CD-08: tokens carry the person and the scopes of the code, not those of the browser’s present session', async () => {
  const code = await newCode({ scope: 'openid phone' });
  const stranger = await newUser(server);
  browser.clearCookies();
  await browser.submit(await browser.get('/login'), {
    identifier: stranger.username,
    password: 'correct horse battery',
  });
  await codeFor(server, client, stranger, { scope: 'openid email' }, { browser });
  const tokens: Tokens = (await redeem(server, client, code)).body;
  assert.equal(claimsOf(tokens.access_token).sub, user.id);
  assert.equal(claimsOf(tokens.access_token).scope, 'openid phone');
  assert.equal(claimsOf(tokens.id_token).sub, user.id);
  assert.equal((await userinfo(server, tokens.access_token)).body.id, user.id);
});

test('CD-08: of 1,000 flows of two people who take turns in one browser, each gives what was frozen at its consent', async () => {
  const [rounds, perRound] = [25, 40];
  const apps = [client, await newClient(server)];
  const people = [await newUser(server), await newUser(server)];
  const scopes = ['openid', 'openid email', 'openid phone', 'openid email phone social'];
  const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;
  const flows: { app: TestClient; code: string; id: object; scope: string; round: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const person = pick(people, round);
    browser.clearCookies();
    const credentials = { identifier: person.username, password: PASSWORD };
    await browser.submit(await browser.get('/login'), credentials);
    // What follows is answered without a page.
    for (const app of apps) await codeFor(server, app, person, { scope: pick(scopes, 3) }, { browser });
    const auth_time = Math.floor(server.now() / 1000);
    const begun = Array.from({ length: perRound }, async (_, n) => {
      const [app, scope, nonce] = [pick(apps, n), pick(scopes, n >> 1), `${round} ${n}`];
      const code = codeOf(await browser.get(authorizeUrl(app, { scope, nonce })));
      flows.push({ app, code, id: { sub: person.id, aud: app.clientId, auth_time, nonce }, scope, round });
    });
    await Promise.all(begun);
    server.advance(1000);
  }
  assert.equal(flows.length, 1000);
  // Exchanged in an order of no meaning, while the browser has the session of one of them.
  flows.sort((a, b) => (a.code < b.code ? -1 : 1));
  const sidsOf = new Map<number, Set<string>>();
  const exchange = async ({ app, code, id, scope, round }: (typeof flows)[number]) => {
    const { status, body } = await redeem(server, app, code);
    assert.equal(status, 200, JSON.stringify(body));
    const [access, refreshed, { sub, aud, auth_time, nonce, sid }] = [
      claimsOf(body.access_token),
      claimsOf(body.refresh_token),
      claimsOf(body.id_token),
    ];
    assert.deepEqual({ sub, aud, auth_time, nonce }, id);
    for (const claims of [access, refreshed]) assert.deepEqual([claims.sub, claims.client_id], [sub, aud]);
    assert.equal(access.scope, scope);
    sidsOf.set(round, (sidsOf.get(round) ?? new Set()).add(sid));
  };
  for (let n = 0; n < flows.length; n += 50) await Promise.all(flows.slice(n, n + 50).map(exchange));
  const sids = [...sidsOf.values()].flatMap((set) => [...set]);
  assert.deepEqual([sids.length, new Set(sids).size], [rounds, rounds], 'one session for each turn');
  browser = await signedIn(server, user);
});
