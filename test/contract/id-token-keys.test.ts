// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { createLocalJWKSet, errors, type JSONWebKeySet, jwtVerify } from 'jose';
import { readAlgorithmsInUse } from '../../src/clients/store.ts';
import { dropKeyPair, listKeyPairs, maintainKeyPairs, rotateKeyPairs } from '../../src/keys/key-pairs.ts';
import { type Keys, openKeys } from '../../src/keys/keys.ts';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import {
  admin,
  newClient,
  newUser,
  refresh,
  signedIn,
  type TestClient,
  type Tokens,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { parts, withData } from '../support/forged-token.ts';
import { DAY, HOUR, MINUTE, query, storedTexts } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';

const ALGS = ['RS256', 'ES256', 'EdDSA'] as const;
type Alg = (typeof ALGS)[number];
const origin = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;

const clients = new Map<Alg, TestClient>();
const server = await startServer();
after(() => server.close());
const user = await newUser(server);
const browser = await signedIn(server, user);
for (const alg of ALGS) clients.set(alg, await newClient(server, { idTokenSignedResponseAlg: alg }));

const clientOf = (alg: Alg): TestClient => clients.get(alg) as TestClient;
const jwks = async (): Promise<JSONWebKeySet> =>
  (await fetch(`${server.baseUrl}/.well-known/jwks.json`)).json() as never;
const kids = async (alg: Alg) => (await jwks()).keys.filter((key) => key.alg === alg).map(({ kid }) => kid ?? '');
const kidOf = (token: string): string => String(parts(token).header['kid']);
const verify = async (token: string, alg: Alg, keys?: JSONWebKeySet) =>
  jwtVerify(token, createLocalJWKSet(keys ?? (await jwks())), {
    issuer: server.baseUrl,
    audience: clientOf(alg).clientId,
    subject: user.id,
    algorithms: [alg],
    typ: 'JWT',
    currentDate: new Date(server.now()),
  });

/** As the command line does it: another process on the same data, while the server runs. */
const rotate = (...algs: Alg[]) =>
  withData(server, ({ database, secret, clock }) =>
    rotateKeyPairs(database, secret, { algs: algs.length === 0 ? undefined : algs, origin, now: clock() }),
  );
const drop = (kid: string) =>
  withData(server, ({ database, secret, clock }) => dropKeyPair(database, secret, kid, origin, clock()));
const tend = (period: number | null) =>
  withData(server, ({ database, secret, clock }) => maintainKeyPairs(database, secret, clock(), period));

/** Tokens of a session of their own: an older one ends while the clock moves on. */
async function fresh(alg: Alg): Promise<Tokens> {
  return tokensFor(server, clientOf(alg), user, {}, { browser: await signedIn(server, user) });
}

describe('decisions §10: the key set has RS256, and ES256 and EdDSA while a client uses them', () => {
  /** A server without clients, and the algorithms in its key set. */
  async function alone(run: (own: TestServer, shown: () => Promise<string[]>) => Promise<void>): Promise<void> {
    const own = await startServer();
    const shown = async () => {
      const { keys } = (await (await fetch(`${own.baseUrl}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
      return keys.map(({ alg }) => String(alg)).sort();
    };
    try {
      assert.deepEqual(await shown(), ['RS256'], 'before any client uses one');
      await run(own, shown);
    } finally {
      await own.close();
    }
  }
  const changed = async (own: TestServer, { clientId }: TestClient, fields: object) =>
    assert.equal((await admin(own, 'PATCH', `/clients/${clientId}`, fields)).status, 200);

  test('from the registration on, for ID tokens or UserInfo', () =>
    alone(async (own, shown) => {
      await newClient(own, { idTokenSignedResponseAlg: 'EdDSA' });
      assert.deepEqual(await shown(), ['EdDSA', 'RS256']);
      await newClient(own, { userinfoSignedResponseAlg: 'ES256' });
      assert.deepEqual(await shown(), ['ES256', 'EdDSA', 'RS256']);
      await newClient(own, { idTokenSignedResponseAlg: 'HS256', userinfoSignedResponseAlg: 'RS256' });
      assert.deepEqual(await shown(), ['ES256', 'EdDSA', 'RS256']);
    }));

  const ends: Record<string, (own: TestServer, client: TestClient) => Promise<unknown>> = {
    'changed to another': (own, client) => changed(own, client, { idTokenSignedResponseAlg: 'RS256' }),
    'left out': (own, client) => changed(own, client, { idTokenSignedResponseAlg: null }),
    'of a client that is deleted': (own, { clientId }) => admin(own, 'DELETE', `/clients/${clientId}`),
  };
  for (const [name, end] of Object.entries(ends)) {
    test(`an algorithm ${name} stays for an ID token’s life and the key set’s age`, () =>
      alone(async (own, shown) => {
        const first = await newClient(own, { idTokenSignedResponseAlg: 'EdDSA' });
        const second = await newClient(own, { idTokenSignedResponseAlg: 'EdDSA' });
        await end(own, first);
        own.advance(HOUR);
        assert.deepEqual(await shown(), ['EdDSA', 'RS256'], 'another client uses it');
        const { id_token } = await tokensFor(own, second, await newUser(own));
        await end(own, second);
        own.advance(35 * MINUTE - 1);
        assert.deepEqual(await shown(), ['EdDSA', 'RS256']);
        own.advance(1);
        assert.deepEqual(await shown(), ['RS256']);
        const pairs = await withData(own, ({ database, clock }) =>
          listKeyPairs(database, readAlgorithmsInUse, clock()),
        );
        assert.equal(pairs.find(({ kid }) => kid === kidOf(id_token))?.status, 'unused');
      }));
  }

  test('a disabled client uses its algorithm still; one that comes back finds the same key', () =>
    alone(async (own, shown) => {
      const client = await newClient(own, { idTokenSignedResponseAlg: 'EdDSA' });
      const user = await newUser(own);
      const before = await tokensFor(own, client, user);
      await changed(own, client, { status: 'disabled' });
      own.advance(HOUR);
      assert.deepEqual(await shown(), ['EdDSA', 'RS256']);
      await changed(own, client, { status: 'active', idTokenSignedResponseAlg: null });
      own.advance(HOUR);
      assert.deepEqual(await shown(), ['RS256']);
      await changed(own, client, { idTokenSignedResponseAlg: 'EdDSA' });
      assert.deepEqual(await shown(), ['EdDSA', 'RS256']);
      assert.equal(kidOf((await tokensFor(own, client, user)).id_token), kidOf(before.id_token));
    }));

  test('a key that is not published any more still proves a hint', () =>
    alone(async (own, shown) => {
      const client = await newClient(own, { idTokenSignedResponseAlg: 'EdDSA' });
      const user = await newUser(own);
      const mine = await signedIn(own, user);
      const { id_token } = await tokensFor(own, client, user, {}, { browser: mine });
      await changed(own, client, { idTokenSignedResponseAlg: 'RS256' });
      own.advance(HOUR);
      assert.deepEqual(await shown(), ['RS256']);
      const answer = await mine.get(`/oidc/logout?${new URLSearchParams({ id_token_hint: id_token })}`);
      assert.match(answer.text, /You are signed out/);
    }));
});

test('OpenID Connect Discovery §3: distinct kids, public parameters alone, the sizes of RFC 7518 and RFC 8037', async () => {
  const { keys } = await jwks();
  assert.equal(new Set(keys.map(({ kid }) => kid)).size, keys.length);
  const members = {
    RS256: ['alg', 'e', 'kid', 'kty', 'n', 'use'],
    ES256: ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
    EdDSA: ['alg', 'crv', 'kid', 'kty', 'use', 'x'],
  };
  for (const key of keys) {
    assert.deepEqual(Object.keys(key).sort(), members[key.alg as Alg], 'nothing private, nothing symmetric');
    assert.equal(key.use, 'sig');
    assert.match(key.kid ?? '', /^[A-Za-z0-9_-]{22}$/);
    if (key.alg === 'RS256') assert.equal(Buffer.from(key.n ?? '', 'base64url').length, 256);
    if (key.alg === 'ES256') assert.equal(key.crv, 'P-256');
    if (key.alg === 'EdDSA') assert.equal(key.crv, 'Ed25519');
  }
});

for (const alg of ALGS) {
  const hash = { RS256: 'sha256', ES256: 'sha256', EdDSA: 'sha512' }[alg];

  describe(`ID tokens signed with ${alg}`, () => {
    test('jose verifies them by the key set; at_hash is of the hash of the algorithm (Core §3.1.3.6)', async () => {
      const tokens = await tokensFor(server, clientOf(alg), user, { nonce: 'n' }, { browser });
      assert.deepEqual(Object.keys(parts(tokens.id_token).header).sort(), ['alg', 'kid', 'typ']);
      const { payload } = await verify(tokens.id_token, alg);
      assert.equal(payload['nonce'], 'n');
      const digest = createHash(hash).update(tokens.access_token).digest();
      assert.equal(payload['at_hash'], digest.subarray(0, digest.length / 2).toString('base64url'));
      const renewed = await refresh(server, clientOf(alg), tokens.refresh_token);
      assert.equal(renewed.status, 200);
      assert.equal((await verify(renewed.body.id_token, alg)).payload['nonce'], undefined);
    });

    test('access and refresh tokens stay the server’s own, under HS256', async () => {
      const tokens = await tokensFor(server, clientOf(alg), user, {}, { browser });
      for (const token of [tokens.access_token, tokens.refresh_token])
        assert.equal(parts(token).header['alg'], 'HS256');
      assert.equal((await userinfo(server, tokens.access_token)).status, 200);
      assert.equal((await userinfo(server, tokens.id_token)).status, 401, 'JW-10');
    });

    test('rotation: published an hour before it signs, the old one until its last token has expired', async () => {
      const old = await fresh(alg);
      const before = await kids(alg);
      const [next] = await rotate(alg);
      assert.ok(next !== undefined && next.signsFrom === server.now() + HOUR);
      assert.deepEqual((await rotate(alg))[0]?.kid, next.kid, 'one that waits is the next');
      assert.deepEqual((await kids(alg)).sort(), [...before, next.kid].sort());
      server.advance(HOUR - 1);
      const last = await fresh(alg);
      assert.equal(kidOf(last.id_token), kidOf(old.id_token));
      server.advance(1);
      const first = await fresh(alg);
      assert.equal(kidOf(first.id_token), next.kid);
      await server.restart();
      for (const { id_token } of [last, first]) await verify(id_token, alg);
      server.advance(30 * MINUTE - 2000);
      await verify(last.id_token, alg);
      server.advance(31 * MINUTE);
      assert.deepEqual(await kids(alg), [next.kid], 'computed from the clock: nothing had to run');
      await tend(null);
      const statuses = async () => {
        const pairs = await withData(server, ({ database, clock }) =>
          listKeyPairs(database, readAlgorithmsInUse, clock()),
        );
        return [first, last].map(({ id_token }) => pairs.find(({ kid }) => kid === kidOf(id_token))?.status);
      };
      assert.deepEqual(await statuses(), ['signs', 'expired']);
      server.advance(30 * DAY);
      await tend(null);
      assert.deepEqual(await statuses(), ['signs', undefined], 'no session is left that it signed for');
      assert.equal(kidOf((await fresh(alg)).id_token), next.kid);
    });

    test('keys drop: gone from the next answer on, and another key signs at once', async () => {
      const old = await fresh(alg);
      const kid = kidOf(old.id_token);
      assert.equal(await drop(kid), true);
      assert.equal(await drop(kid), false);
      const now = await fresh(alg);
      assert.notEqual(kidOf(now.id_token), kid);
      assert.ok(!(await kids(alg)).includes(kid));
      await assert.rejects(verify(old.id_token, alg), errors.JWKSNoMatchingKey);
      await verify(now.id_token, alg);
      assert.equal(
        (await userinfo(server, old.access_token)).status,
        200,
        'an ID token’s key is nothing to an access token',
      );
    });

    test('keys drop: where a successor is published already, that one signs; the successor itself may be dropped', async () => {
      const kid = kidOf((await fresh(alg)).id_token);
      const [waiting] = await rotate(alg);
      assert.equal(await drop(waiting?.kid ?? ''), true);
      assert.equal(kidOf((await fresh(alg)).id_token), kid);
      const [next] = await rotate(alg);
      assert.equal(await drop(kid), true);
      assert.equal(kidOf((await fresh(alg)).id_token), next?.kid);
      assert.deepEqual(await kids(alg), [next?.kid]);
    });

    test('rotated by itself when as old as a key may become, by one of many who find it due', async () => {
      const before = await kids(alg);
      await tend(90 * DAY);
      assert.deepEqual(await kids(alg), before, 'not due');
      server.advance(90 * DAY);
      await Promise.all([tend(90 * DAY), tend(90 * DAY), tend(90 * DAY)]);
      assert.equal((await kids(alg)).length, 2);
      await tend(90 * DAY);
      assert.equal((await kids(alg)).length, 2, 'its successor waits');
      server.advance(3 * HOUR);
      assert.equal((await kids(alg)).length, 1);
    });
  });
}

test('confidential clients without a wish keep HS256, and may change the algorithm at any time', async () => {
  const client = await newClient(server);
  const own = await signedIn(server, user);
  const tokens = await tokensFor(server, client, user, {}, { browser: own });
  assert.deepEqual(parts(tokens.id_token).header, { alg: 'HS256', typ: 'JWT' });
  const changed = await admin(server, 'PATCH', `/clients/${client.clientId}`, { idTokenSignedResponseAlg: 'ES256' });
  assert.equal(changed.body.idTokenSignedResponseAlg, 'ES256');
  const next = await refresh(server, client, tokens.refresh_token);
  assert.equal(parts(next.body.id_token).header['alg'], 'ES256');
});

test('a token that waits for a first key is signed by it, and only one is made by many at once', async () => {
  const other = await startServer();
  try {
    const client = await newClient(other, { idTokenSignedResponseAlg: 'RS256' });
    const person = await newUser(other);
    const own = await signedIn(other, person);
    await tokensFor(other, client, person, {}, { browser: own });
    await query(other, 'DELETE FROM id_token_key');
    await other.restart();
    const all = await Promise.all([1, 2, 3, 4].map(() => tokensFor(other, client, person, {}, { browser: own })));
    assert.equal(new Set(all.map(({ id_token }) => kidOf(id_token))).size, 1);
    assert.equal((await query(other, "SELECT kid FROM id_token_key WHERE alg = 'RS256'")).length, 1);
  } finally {
    await other.close();
  }
});

test('ST-02, decisions §7: another root secret seals them anew, and a wrong one opens nothing', async () => {
  const [first, second] = [randomSecret(), randomSecret()];
  const open = (own: TestServer, secret: string, previous?: string) =>
    withData(own, ({ database }) =>
      openKeys(
        database,
        { current: Buffer.from(secret), previous: previous === undefined ? [] : [Buffer.from(previous)] },
        own.now,
      ),
    );
  const own = await startServer({ TESSERA_SECRET: first });
  try {
    const shown = (await (await fetch(`${own.baseUrl}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
    const published = async (keys: Keys) => ({
      keys: (await keys.published(readAlgorithmsInUse)).map(({ publicJwk }) => publicJwk),
    });
    await assert.rejects(open(own, second), { name: 'WrongSecret' });
    await open(own, second, first);
    const anew = await withData(own, async ({ database }) =>
      published(await openKeys(database, { current: Buffer.from(second), previous: undefined }, own.now)),
    );
    assert.deepEqual(anew, shown);
    await assert.rejects(open(own, first), { name: 'WrongSecret' });
  } finally {
    await own.close();
  }
});

test('ST-02: private keys lie sealed in the database', async () => {
  const texts = await storedTexts(server);
  assert.doesNotMatch(texts, /PRIVATE KEY|"d":/);
  assert.match(texts, /"kty":"OKP"/);
});
