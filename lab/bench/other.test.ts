// store: SQLite
/** `npm run bench -- --url`: a server that is already running, known by two addresses. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { newClient, newUser, refresh, tokensFor } from '../../test/support/flow.ts';
import { startServer } from '../../test/support/server.ts';
import { startPeer } from './peer.ts';
import { peerClient, refreshTokenOf } from './peer-people.ts';
import type { Recording } from './recording.ts';
import { stop } from './subject.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'tessera-bench-other-'));
after(() => rmSync(folder, { recursive: true, force: true }));

async function bench(...args: readonly string[]) {
  const quick = ['--quick', '--people', '128', '--seconds', '0.05', '--against', 'bare', '--results', folder];
  const child = spawn(process.execPath, ['lab/bench/run.ts', ...quick, ...args], { cwd: root });
  const texts = [child.stdout, child.stderr].map(async (stream) => Buffer.concat(await stream.toArray()).toString());
  const [code] = await once(child, 'exit');
  const [stdout = '', stderr = ''] = await Promise.all(texts);
  return { code, stdout, stderr };
}

function tokenFile(name: string, tokens: readonly string[]): string {
  const file = join(folder, name);
  writeFileSync(file, tokens.join('\n'));
  return file;
}

const measured = () =>
  (JSON.parse(readFileSync(join(folder, 'latest.json'), 'utf8')) as Recording).results.map(
    ({ work, target, connections }) => `${work}, ${target}, ${connections}`,
  );

test('Tessera itself: its refresh tokens are followed and kept, and what does not answer as expected is explained', async (t) => {
  const server = await startServer();
  t.after(() => server.close());
  const client = await newClient(server);
  const tokens: string[] = [];
  for (let n = 0; n < 2; n++) tokens.push((await tokensFor(server, client, await newUser(server))).refresh_token);
  const file = tokenFile('tessera', tokens);
  const at = `${server.baseUrl}/api/v2/oauth`;
  const own = ['--client-id', client.clientId, '--client-secret', client.clientSecret, '--json', '--name', 'this one'];
  const given = ['--refresh-tokens', file, ...own];

  const { code, stdout, stderr } = await bench('--url', `${at}/token`, '--userinfo', `${at}/userinfo`, ...given);
  assert.equal(code, 0, stderr);
  // There are chains for one connection only.
  assert.deepEqual(measured(), [
    'UserInfo, this one, 1',
    'UserInfo, this one, 32',
    'UserInfo, this one, 128',
    'Refresh with rotation, this one, 1',
  ]);
  assert.match(stdout, /\| Refresh with rotation \| 1 \| this one \|/);
  assert.match(stderr, /no refresh with 32 connections, as it has 2 refresh tokens/);
  const kept = readFileSync(file, 'utf8').trim().split('\n');
  assert.equal(kept.length, 2);
  for (const token of kept) assert.equal((await refresh(server, client, token)).status, 200);

  const wrong: readonly (readonly [RegExp, ...string[]])[] = [
    [/answered refresh token 1 with 4\d\d: .*get new tokens/s, '--url', `${at}/token`, '--userinfo', `${at}/userinfo`],
    [/must be a URL that begins with http:/, '--url', 'https://id.example.com/token', '--userinfo', `${at}/userinfo`],
  ];
  for (const [message, ...args] of wrong) {
    const refused = await bench(...args, '--refresh-tokens', tokenFile('dead', tokens), ...own);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, message);
    assert.doesNotMatch(refused.stderr, /\n {4}at /);
  }
  const missing = ['--access-tokens', tokenFile('access', ['none'])];
  const elsewhere = await bench('--url', `${at}/token`, '--userinfo', `${at}/userinfo`, ...missing);
  assert.match(elsewhere.stderr, /userinfo answered the access token none… with 401.*scope openid/s);
  const gone = createServer().listen(0, '127.0.0.1');
  await once(gone, 'listening');
  const address = gone.address();
  await once(gone.close(), 'close');
  const port = typeof address === 'object' ? address?.port : 0;
  const silent = await bench('--url', `${at}/token`, '--userinfo', `http://127.0.0.1:${port}/userinfo`, ...missing);
  assert.match(silent.stderr, /Nothing answers at http:.*ECONNREFUSED.*Check --userinfo/);
});

for (const database of [undefined, join(folder, 'peer.db')]) {
  test(`node-oidc-provider, ${database === undefined ? 'in memory' : 'on SQLite'}: form, and tokens of its own`, async (t) => {
    const peer = await startPeer(128, { folder, database, tokenAnswerBytes: 0 });
    t.after(() => stop(peer));
    const { id, secret } = peerClient(0);
    const at = `http://127.0.0.1:${peer.port}`;
    const tokens = ['--refresh-tokens', tokenFile('peer', [refreshTokenOf(0), refreshTokenOf(100)])];
    const { code, stderr } = await bench(
      ...['--url', `${at}/token`, '--userinfo', `${at}/userinfo`, ...tokens],
      ...['--client-id', id, '--client-secret', secret, '--pid', String(peer.process.pid)],
    );
    assert.equal(code, 0, stderr);
    assert.ok(measured().includes(`Refresh with rotation, 127.0.0.1:${peer.port}, 1`));
  });
}
