// store: SQLite
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { start } from '../../src/app.ts';
import { readConfig } from '../../src/settings/config.ts';
import { serve, tessera } from '../operator/command.ts';
import { refusedStart } from '../operator/refused-start.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-start-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let counter = 0;
const fresh = (): string => join(folder, `case${++counter}`);
const refusal = (env: Readonly<Record<string, string>>) => refusedStart({ TESSERA_DATA_DIR: fresh(), ...env }, folder);

test('a start says where it listens, where the data lies, and how to register a first app', async () => {
  const dataDir = fresh();
  const server = await serve({ env: { TESSERA_DATA_DIR: dataDir }, cwd: folder });
  try {
    assert.match(server.baseUrl, /^http:\/\/localhost:[1-9]\d+$/, 'port 0 takes a free one, and says which');
    assert.ok(server.greeting.includes(`sqlite:${join(dataDir, 'tessera.db')}`));
    const hints = [...server.greeting.matchAll(/npx tessera (.+)/g)].map((match) => match[1] ?? '');
    assert.equal(hints.length, 1);
    assert.equal((await fetch(`${server.baseUrl}/health/ready`)).status, 200);
    for (const hint of hints) {
      const args = [...hint.matchAll(/"([^"]+)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '');
      const made = await tessera(args, { cwd: folder, input: 'a first password' });
      assert.equal(made.code, 0, `${hint}: ${made.stderr}`);
      assert.doesNotMatch(made.stderr, /Created a new database/, 'it found the data of the server');
    }
  } finally {
    assert.deepEqual(await server.stop(), { code: 0, signal: null });
  }
});

test('the secret and the database are readable by their owner alone, and so is the folder that was made for them', async () => {
  const dataDir = fresh();
  const server = await serve({ env: { TESSERA_DATA_DIR: dataDir } });
  try {
    assert.equal(statSync(dataDir).mode & 0o777, 0o700);
    const names = readdirSync(dataDir);
    assert.ok(names.includes('secret') && names.includes('tessera.db') && names.includes('tessera.db-wal'));
    for (const name of names) assert.equal(statSync(join(dataDir, name)).mode & 0o777, 0o600, name);
    assert.match(readFileSync(join(dataDir, 'secret'), 'utf8'), /^[A-Za-z0-9_-]{43}\n$/);
  } finally {
    await server.stop();
  }
});

test('a data folder that cannot be one, a secret that cannot be read, a file that is no database', async () => {
  const file = fresh();
  writeFileSync(file, 'a file');
  const [dirSecret, badSecret, noDatabase] = [fresh(), fresh(), fresh()];
  mkdirSync(join(dirSecret, 'secret'), { recursive: true });
  mkdirSync(badSecret);
  writeFileSync(join(badSecret, 'secret'), 'too short\n');
  mkdirSync(noDatabase);
  writeFileSync(join(noDatabase, 'tessera.db'), 'This is no database. '.repeat(500));
  const answers = await Promise.all([
    refusal({ TESSERA_DATA_DIR: join(file, 'below') }),
    refusal({ TESSERA_SECRET_FILE: join(folder, 'missing') }),
    refusal({ TESSERA_DATA_DIR: dirSecret }),
  ]);
  answers.push(await refusal({ TESSERA_DATA_DIR: '/proc/tessera/data' }));
  answers.push(await refusal({ TESSERA_DATA_DIR: badSecret }));
  answers.push(await refusal({ TESSERA_DATA_DIR: noDatabase }));
  const expected = [
    /below.tessera.db cannot be opened.*TESSERA_DATA_DIR/,
    /TESSERA_SECRET_FILE names .*missing, which does not exist/,
    /secret cannot be read.*TESSERA_SECRET_FILE/,
    /\/proc\/tessera\/.*TESSERA_DATA_DIR/,
    /secret is not usable: it must be at least 43 random characters/,
    /tessera\.db cannot be opened.*TESSERA_DATA_DIR or TESSERA_DATABASE_URL/,
  ];
  for (const [n, pattern] of expected.entries()) assert.match(answers[n] ?? '', pattern);
});

test('the secret from a file; the embedded one is made once, and the same at every start', async () => {
  const dataDir = fresh();
  const settings = { TESSERA_DATA_DIR: dataDir, TESSERA_LOG_LEVEL: 'silent', TESSERA_PORT: '0' };
  await (await start(readConfig(settings))).close();
  const made = readFileSync(join(dataDir, 'secret'), 'utf8');
  await (await start(readConfig(settings))).close();
  assert.equal(readFileSync(join(dataDir, 'secret'), 'utf8'), made);
  const other = fresh();
  await (await start(readConfig({ ...settings, TESSERA_DATA_DIR: other }))).close();
  assert.notEqual(readFileSync(join(other, 'secret'), 'utf8'), made, 'another database has another one');
  const file = join(folder, 'secret-of-another-place');
  writeFileSync(file, made);
  rmSync(join(dataDir, 'secret'));
  await (await start(readConfig({ ...settings, TESSERA_SECRET_FILE: file }))).close();
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name.startsWith('secret')),
    [],
  );
});

test('a database whose secret is gone is refused, and no other secret takes its place', async () => {
  const dataDir = fresh();
  const settings = { TESSERA_DATA_DIR: dataDir, TESSERA_LOG_LEVEL: 'silent', TESSERA_PORT: '0' };
  await (await start(readConfig(settings))).close();
  const secret = readFileSync(join(dataDir, 'secret'), 'utf8');
  rmSync(join(dataDir, 'secret'));
  for (let attempt = 0; attempt < 2; attempt++) {
    await assert.rejects(start(readConfig(settings)), /The secret is gone: .*secret does not exist.*[Rr]estore it/s);
    assert.ok(!existsSync(join(dataDir, 'secret')));
  }
  writeFileSync(join(dataDir, 'secret'), secret, { mode: 0o600 });
  await (await start(readConfig(settings))).close();
});
