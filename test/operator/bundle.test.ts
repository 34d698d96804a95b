// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { assets } from '../../src/pages/assets.ts';
import { ownDatabase } from '../support/postgres-database.ts';
import { serve, tessera } from './command.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('the bundle', { skip: !existsSync(join(ROOT, 'node_modules/esbuild')) && 'esbuild is not installed' }, () => {
  const clone = mkdtempSync(join(tmpdir(), 'tessera-bundle-'));
  const command = join(clone, 'bin/tessera.js');
  const source = join(clone, 'src/cli/main.ts');
  /** Makes one that says so when it runs. */
  const makeBundle = () => {
    execFileSync(process.execPath, [join(clone, 'bin/make-bundle.js')]);
    appendFileSync(join(clone, 'build/main.js'), "console.error('bundle');\n");
  };
  // What is compiled would be kept beside the packages, for a program that is gone after the test.
  const uncached = { NODE_DISABLE_COMPILE_CACHE: '1' };
  const run = (env = {}) => tessera(['--version'], { command, env: { ...uncached, ...env } });

  before(() => {
    for (const part of ['bin', 'src', 'package.json']) cpSync(join(ROOT, part), join(clone, part), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
    appendFileSync(source, "if (process.env['FAIL']) throw new Error('on purpose');\n");
    makeBundle();
  });
  after(() => rmSync(clone, { recursive: true, force: true }));

  test('runs in the place of the sources', async () => {
    assert.deepEqual(await run(), { code: 0, stdout: `${manifest.version}\n`, stderr: 'bundle\n' });
  });

  test('serves what the sources serve', async () => {
    const database = await ownDatabase();
    try {
      const env = { ...uncached, TESSERA_DATA_DIR: join(clone, 'data'), ...database?.environment };
      const server = await serve({ command, env });
      for (const { path, body } of Object.values(assets)) {
        const response = await fetch(server.baseUrl + path);
        assert.deepEqual(Buffer.from(await response.arrayBuffer()), body);
      }
      for (const path of ['/health/ready', '/.well-known/openid-configuration', '/login', '/openapi.json']) {
        assert.equal((await fetch(server.baseUrl + path)).status, 200, path);
      }
      assert.deepEqual(await server.stop(), { code: 0, signal: null });
    } finally {
      await database?.drop();
    }
  });

  test('stack traces name the sources, if they are asked to', async () => {
    const { stderr } = await run({ FAIL: '1', NODE_OPTIONS: '--enable-source-maps' });
    const line = readFileSync(source, 'utf8').split('\n').length - 1;
    assert.match(stderr, /Error: on purpose/);
    assert.ok(stderr.includes(`${source}:${line}:`), stderr);
  });

  test('is not used after a source has changed, until it is made again', async () => {
    appendFileSync(source, '// Another line.\n');
    assert.deepEqual(await run(), { code: 0, stdout: `${manifest.version}\n`, stderr: '' });
    makeBundle();
    assert.equal((await run()).stderr, 'bundle\n');
    // The same size, within the same second.
    const { atimeMs, mtimeMs } = statSync(source);
    utimesSync(source, atimeMs / 1000, mtimeMs / 1000 + 0.01);
    assert.equal((await run()).stderr, '');
  });

  test('is left as it is, under a server that runs from it, where it is current; and replaced as a whole where it is not', () => {
    makeBundle();
    const main = join(clone, 'build/main.js');
    const { ino } = statSync(main);
    execFileSync(process.execPath, [join(clone, 'bin/make-bundle.js')]);
    assert.match(readFileSync(main, 'utf8'), /console\.error\('bundle'\);\n$/);
    appendFileSync(source, '// One more line.\n');
    execFileSync(process.execPath, [join(clone, 'bin/make-bundle.js')]);
    assert.notEqual(statSync(main).ino, ino);
    assert.deepEqual(
      readdirSync(clone).filter((name) => name.startsWith('build')),
      ['build'],
    );
  });

  test('is not used where its record was not written whole', async () => {
    makeBundle();
    const record = join(clone, 'build/made-of.json');
    truncateSync(record, statSync(record).size - 1);
    assert.deepEqual(await run(), { code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });
});
