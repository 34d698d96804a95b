// store: SQLite
/** What `tessera doctor` finds of the providers through which people sign in. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Finding } from '../../src/operations/doctor/finding.ts';
import { UpstreamProvider } from '../support/upstream-provider.ts';
import { tesseraHere as tessera } from './command-here.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'tessera-doctor-upstreams-'));
const env = { TESSERA_BASE_URL: 'http://127.0.0.1:9', TESSERA_DATA_DIR: dataDir };
const providers: UpstreamProvider[] = [];
before(async () => {
  assert.equal((await tessera(['migrate'], { env })).code, 0);
});
after(async () => {
  for (const provider of providers) await provider[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true });
});

async function register(name: string, secret?: string): Promise<UpstreamProvider> {
  const provider = await UpstreamProvider.start();
  providers.push(provider);
  const create = ['upstream', 'create', '--name', name, '--issuer', provider.issuer, '--client-id', provider.clientId];
  const made = await tessera([...create, '--client-secret-stdin'], { env, input: secret ?? provider.clientSecret });
  assert.equal(made.code, 0, made.stderr);
  return provider;
}

async function found(): Promise<readonly string[]> {
  const { stdout } = await tessera(['doctor', '--json'], { env });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return findings.filter(({ check }) => check === 'upstreams').map(({ level, found: text }) => `${level}: ${text}`);
}

test('providers that answer are told in one line', async () => {
  for (const name of ['first', 'second']) await register(name);
  const lines = await found();
  assert.deepEqual(lines.slice(1), [
    'ok: Each provider answers, publishes keys, and accepts this server: first, second.',
  ]);
});

test('each that nobody can sign in through is a problem, and all are asked at the same time', async () => {
  await register('of-another-secret', 'not the secret');
  (await register('without-keys')).tricks = { keys: () => ({ keys: [] }) };
  const names = ['silent-1', 'silent-2', 'silent-3'];
  const silent = await Promise.all(names.map((name) => register(name)));
  // None of these answers before all were asked: in turn, the first would be given up.
  let asked = 0;
  const waiting: (() => void)[] = [];
  for (const provider of silent) {
    provider.tricks = {
      answer(_path, _request, response) {
        asked++;
        waiting.push(() => response.writeHead(503).end());
        if (asked === silent.length) for (const answer of waiting) answer();
        return true;
      },
    };
  }
  (await register('never-answers')).tricks = { answer: () => true };
  const lines = await found();
  for (const name of names) {
    assert.ok(
      lines.some((line) => line.startsWith(`problem: Nobody can sign in through ${name}: `) && /status 503/.test(line)),
      lines.join('\n'),
    );
  }
  for (const [name, reason] of [
    ['of-another-secret', /Check the client ID and the secret/],
    ['without-keys', /publishes no key/],
    ['never-answers', /no answer within/],
  ] as const) {
    assert.ok(
      lines.some((line) => line.startsWith(`problem: Nobody can sign in through ${name}: `) && reason.test(line)),
      lines.join('\n'),
    );
  }
  assert.ok(!lines.some((line) => /through (first|second):/.test(line)), 'the others are as they were');
});
