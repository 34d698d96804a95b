// store: SQLite
/** Measurements; `npm test` leaves them to `npm run test:all`. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadAtRate } from './load.ts';
import type { Recording } from './recording.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'tessera-bench-test-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('a server that stalls pays for everybody who was due meanwhile, not only for whom it kept waiting', async () => {
  let first = true;
  const server = createServer((socket) => {
    const answer = () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    socket.on('error', () => {});
    socket.on('data', () => {
      if (first) setTimeout(answer, 100);
      else answer();
      first = false;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const driver = { next: () => 'GET / HTTP/1.1\r\n\r\n', answered: () => true };
  const { requests, p50 } = await loadAtRate(port, 1, { perSecond: 1000, seconds: 0.1 }, driver);
  server.close();
  assert.equal(requests, 100);
  // The one in the middle was due after 50 of the 100 milliseconds.
  assert.ok(p50 > 40, `half of them waited less than ${p50} ms`);
});

test('the benchmark runs, and says what it measured', () => {
  const work = ['--quick', '--people', '200', '--seconds', '0.05', '--results', folder];
  const chosen = ['--only', 'userinfo,refresh,code,profile', '--against', 'bare,sqlite,peer'];
  const { status, stdout, stderr } = spawnSync(process.execPath, ['lab/bench/run.ts', ...work, ...chosen], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  const recording = JSON.parse(readFileSync(join(folder, 'latest.json'), 'utf8')) as Recording;
  const measured = recording.results.map(({ work, target, connections }) => `${work} ${target} ${connections}`);
  for (const row of [
    'UserInfo Tessera, SQLite 128',
    'UserInfo node-oidc-provider, in memory 32',
    'Refresh with rotation Tessera, SQLite 32',
    'Refresh with rotation, people at random node-oidc-provider, in memory 32',
    'Code exchange node-oidc-provider, in memory 32',
  ]) {
    assert.ok(measured.includes(row), row);
  }
  for (const { summary } of recording.results) assert.ok(summary.perSecond.median > 0 && summary.p999.median > 0);
  assert.deepEqual(
    recording.profiles.map(({ work }) => work),
    ['UserInfo', 'Refresh with rotation'],
  );
  assert.match(stdout, /\| Code exchange \| 32 \| Tessera, SQLite \|/);
  assert.match(readFileSync(join(folder, 'latest.svg'), 'utf8'), /<desc [^>]*>UserInfo: Tessera, SQLite [\d,]+;/);
});
