// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { start } from '../../src/app.ts';
import { openKeys } from '../../src/keys/keys.ts';
import { rotateSigningKey } from '../../src/keys/signing-keys.ts';
import { readConfig } from '../../src/settings/config.ts';
import { newClient, newUser, tokensFor, userinfo } from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

let rows: { kid: string; sealed: string }[];
const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const tokens = await tokensFor(server, client, await newUser(server));
const origin = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;
await withData(server, (core) => rotateSigningKey(core.database, core.secret, origin, server.now()));
const stored = await query(server, 'SELECT kid, sealed FROM signing_key ORDER BY created_at');
rows = stored.map((row) => ({ kid: String(row['kid']), sealed: String(row['sealed']) }));
assert.equal(rows.length, 2);

const put = (kid: string, sealed: string) =>
  query(server, 'UPDATE signing_key SET sealed = ? WHERE kid = ?', sealed, kid);

/** Opens the key set as another process does when it starts. */
const open = () =>
  withData(server, ({ database, secret }) => openKeys(database, { current: secret, previous: undefined }, server.now));

function flipped(sealed: string, byte: number): string {
  const bytes = Buffer.from(sealed, 'base64url');
  bytes[byte] = (bytes[byte] ?? 0) ^ 1;
  return bytes.toString('base64url');
}

const [FIRST, SECOND] = [0, 1] as const;
const changes: Readonly<Record<string, () => Promise<unknown>>> = {
  'swapped between two rows': async () => {
    await put(rows[FIRST]?.kid ?? '', rows[SECOND]?.sealed ?? '');
    await put(rows[SECOND]?.kid ?? '', rows[FIRST]?.sealed ?? '');
  },
  'copied from one row to the other': () => put(rows[SECOND]?.kid ?? '', rows[FIRST]?.sealed ?? ''),
  'with one bit of the nonce changed': () => put(rows[SECOND]?.kid ?? '', flipped(rows[SECOND]?.sealed ?? '', 0)),
  'with one bit of the text changed': () => put(rows[SECOND]?.kid ?? '', flipped(rows[SECOND]?.sealed ?? '', 20)),
  'with one bit of the tag changed': () => put(rows[SECOND]?.kid ?? '', flipped(rows[SECOND]?.sealed ?? '', 59)),
  'cut short': () => put(rows[SECOND]?.kid ?? '', (rows[SECOND]?.sealed ?? '').slice(0, -4)),
  empty: () => put(rows[SECOND]?.kid ?? '', ''),
};
for (const [name, change] of Object.entries(changes)) {
  test(`ST-02: a sealed key ${name} opens nothing, and no server starts on it`, async () => {
    await change();
    try {
      await assert.rejects(open(), { name: 'WrongSecret' });
    } finally {
      for (const { kid, sealed } of rows) await put(kid, sealed);
    }
    assert.equal((await open()).keySet().version.length, 22);
  });
}

test('ST-02: the server itself refuses to start, and says why', async () => {
  await changes['swapped between two rows']?.();
  try {
    const config = readConfig({ ...server.environment, TESSERA_PORT: '0' });
    // One that starts against all expectation is closed: it would keep the run from ending.
    const starting = start(config, server.now).then((started) => started.close());
    await assert.rejects(starting, /does not open the signing keys/);
  } finally {
    for (const { kid, sealed } of rows) await put(kid, sealed);
  }
  assert.equal((await userinfo(server, tokens.access_token)).status, 200, 'put back, all is as before');
});
