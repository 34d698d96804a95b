// store: SQLite
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly license?: string }>>;
}

/** Licences whose terms Apache-2.0 can be given along with: notices to keep, nothing to open. */
const COMPATIBLE = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0'];

test('every package of a production installation may be given along under Apache-2.0', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  const ours = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev);
  assert.ok(ours.length > 50);
  for (const [path, { license }] of ours) {
    const manifest = join(ROOT, path, 'package.json');
    // Those of other systems are not installed; the lock repeats what their manifests say.
    const said = existsSync(manifest)
      ? (JSON.parse(readFileSync(manifest, 'utf8')) as (typeof packages)[string]).license
      : license;
    assert.ok(COMPATIBLE.includes(said ?? ''), `${path}: ${said}`);
  }
});

/** Starts a server on a database in memory, and tells which packages and which modules of the runtime it loaded. */
const OBSERVE = `
  import { registerHooks } from 'node:module';
  const packages = new Set();
  registerHooks({
    load(url, context, next) {
      const [, name] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url) ?? [];
      if (name !== undefined) packages.add(name);
      return next(url, context);
    },
  });
  const { start } = await import('./src/app.ts');
  const { readConfig } = await import('./src/settings/config.ts');
  const { randomSecret } = await import('./src/platform/crypto/secrets.ts');
  const data = { TESSERA_DATABASE_URL: 'sqlite::memory:', TESSERA_SECRET: randomSecret() };
  const tessera = await start(readConfig({ ...data, TESSERA_PORT: '0', TESSERA_LOG_LEVEL: 'silent' }));
  await tessera.close();
  console.log(JSON.stringify({ packages: [...packages], runtime: process.moduleLoadList }));
`;

test('a start loads nothing that only some requests or settings need', async () => {
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', OBSERVE], { cwd: ROOT });
  const { packages, runtime } = JSON.parse((await run).stdout) as Record<'packages' | 'runtime', string[]>;
  assert.ok(packages.includes('fastify') && packages.includes('kysely'), 'it tells what it loads');
  for (const later of [
    '@napi-rs/image',
    '@opentelemetry/api',
    '@opentelemetry/sdk-trace',
    '@simplewebauthn/server',
    '@zxcvbn-ts/language-common',
    'libphonenumber-js',
    'nodemailer',
    'otpauth',
    'pg',
    'prom-client',
    'uqr',
  ]) {
    assert.ok(!packages.includes(later), later);
  }
  // What it has of its own in their place.
  for (const never of ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler']) {
    assert.ok(!packages.includes(never), never);
  }
  // All of fetch: src/platform/http/node-http.ts says why.
  assert.ok(!runtime.includes('NativeModule internal/deps/undici/undici'));
});
