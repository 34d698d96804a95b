// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, mock, test } from 'node:test';
import { promisify } from 'node:util';
import { maintainKeys } from '../../src/keys/keys.ts';
import { listSigningKeys } from '../../src/keys/signing-keys.ts';
import { readConfig } from '../../src/settings/config.ts';
import { newClient, newUser, refresh, tokensFor, userinfo } from '../support/flow.ts';
import { parts, withData } from '../support/forged-token.ts';
import { DAY, HOUR, MINUTE } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());

async function tessera(...args: string[]) {
  const { stdout } = await promisify(execFile)(process.execPath, ['bin/tessera.js', '--json', ...args], {
    cwd: new URL('../..', import.meta.url),
    env: { PATH: process.env['PATH'] ?? '', ...server.environment },
  });
  return JSON.parse(stdout);
}
const published = async (of = server): Promise<string[]> => {
  const answer = await fetch(`${of.baseUrl}/.well-known/jwks.json`);
  return ((await answer.json()) as { keys: { kid: string; alg: string }[] }).keys.map(
    ({ alg, kid }) => `${alg} ${kid}`,
  );
};

test('tessera keys list, rotate, rotate --alg and drop cover the keys of ID tokens', async () => {
  for (const alg of ['ES256', 'EdDSA']) await newClient(server, { idTokenSignedResponseAlg: alg });
  await published();
  const before = await tessera('keys', 'list');
  assert.deepEqual(
    before.map(({ alg, signs, status }: Record<string, string>) => [alg, signs, status]).sort(),
    [
      ['ES256', 'ID tokens', 'signs'],
      ['EdDSA', 'ID tokens', 'signs'],
      ['HS256', 'access and refresh tokens', 'signs'],
      ['RS256', 'ID tokens', 'signs'],
    ],
    'nothing of a key’s material',
  );
  for (const key of before) {
    assert.deepEqual(Object.keys(key), ['kid', 'signs', 'alg', 'status', 'createdAt', 'signsFrom', 'retiredAt']);
  }

  const one = await tessera('keys', 'rotate', '--alg', 'ES256');
  assert.deepEqual(Object.keys(one), ['idTokenKeys'], 'one algorithm leaves the others alone');
  const all = await tessera('keys', 'rotate');
  assert.equal(all.status, 'signs');
  assert.deepEqual(
    all.idTokenKeys.map(({ alg }: { alg: string }) => alg),
    ['RS256', 'ES256', 'EdDSA'],
  );
  assert.equal(all.idTokenKeys[1].kid, one.idTokenKeys[0].kid);
  assert.equal((await published()).length, 6);

  const [waiting] = all.idTokenKeys;
  await tessera('keys', 'drop', waiting.kid, '--yes');
  assert.ok(!(await published()).includes(`RS256 ${waiting.kid}`));
  await assert.rejects(tessera('keys', 'drop', waiting.kid, '--yes'), /There is no key/);
  await assert.rejects(tessera('keys', 'rotate', '--alg', 'HS256'), /--alg must be one of RS256, ES256, EdDSA/);
});

test('a key of access and refresh tokens is followed when it is old, and removed when it verifies no more', async () => {
  // Commands go by the real clock; here all goes by the server's.
  const own = await startServer();
  try {
    const client = await newClient(own);
    const tokens = await tokensFor(own, client, await newUser(own));
    const keys = () => withData(own, ({ database }) => listSigningKeys(database));
    const tend = (period: number | null) =>
      withData(own, ({ database, secret, clock }) => maintainKeys(database, secret, clock(), period));
    const current = parts(tokens.access_token).header['kid'];
    own.advance(30 * DAY - 1);
    await tend(30 * DAY);
    assert.deepEqual(
      (await keys()).map(({ kid }) => kid),
      [current],
      'not due',
    );
    own.advance(1);
    const fresh = await tokensFor(own, client, await newUser(own));
    await Promise.all([tend(30 * DAY), tend(30 * DAY), tend(30 * DAY)]);
    const [next, ...older] = await keys();
    assert.deepEqual(
      older.map(({ kid, retiredAt }) => [kid, retiredAt]),
      [[current, own.now()]],
      'one of three made it',
    );
    assert.equal((await userinfo(own, fresh.access_token)).status, 200);
    const renewed = await refresh(own, client, fresh.refresh_token);
    assert.equal(parts(renewed.body.access_token).header['kid'], next?.kid);
    own.advance(8 * DAY);
    await tend(null);
    assert.deepEqual(
      (await keys()).map(({ kid }) => kid),
      [next?.kid],
    );
  } finally {
    await own.close();
  }
});

test('TESSERA_KEY_ROTATION: 90 days without it, days, or off', () => {
  const read = (value?: string) => readConfig(value === undefined ? {} : { TESSERA_KEY_ROTATION: value }).keyRotation;
  assert.deepEqual([read(), read('30d'), read('off')], [90 * DAY, 30 * DAY, null]);
  for (const value of ['0d', '30', '1h', '-1d', 'never', '99999d']) {
    assert.throws(
      () => read(value),
      /^ConfigError: TESSERA_KEY_ROTATION must be a number of days such as 90d, or off\.$/,
    );
  }
});

for (const [setting, after] of [
  ['30d', 2],
  ['off', 1],
] as const) {
  test(`housekeeping of a server with TESSERA_KEY_ROTATION=${setting} looks after the keys`, async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    let own: TestServer | undefined;
    try {
      own = await startServer({ TESSERA_KEY_ROTATION: setting });
      assert.equal((await published(own)).length, 1);
      own.advance(30 * DAY);
      mock.timers.tick(MINUTE);
      mock.timers.reset();
      // The end of the old process waits for what its housekeeping began.
      await own.restart();
      assert.equal((await published(own)).length, after);
      own.advance(3 * HOUR);
      assert.equal((await published(own)).length, 1);
    } finally {
      mock.timers.reset();
      await own?.close();
    }
  });
}
