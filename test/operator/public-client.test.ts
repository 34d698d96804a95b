// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());

async function tessera(...args: string[]) {
  const { stdout } = await promisify(execFile)(process.execPath, ['bin/tessera.js', '--json', ...args], {
    cwd: new URL('../..', import.meta.url),
    env: { PATH: process.env['PATH'] ?? '', ...server.environment },
  });
  return JSON.parse(stdout);
}
const APP = ['--name', 'Phone app', '--redirect-uri', 'com.example.app:/cb'] as const;

test('tessera client create --type public: no secret; the algorithm may be changed, but not to HS256', async () => {
  const made = await tessera('client', 'create', ...APP, '--type', 'public');
  assert.deepEqual([made.type, made.idTokenSignedResponseAlg, made.requirePkce], ['public', null, true]);
  assert.equal('clientSecret' in made, false);
  const changed = await tessera('client', 'update', made.clientId, '--id-token-signed-response-alg', 'EdDSA');
  assert.equal(changed.idTokenSignedResponseAlg, 'EdDSA');
  const leftOut = await tessera('client', 'update', made.clientId, '--id-token-signed-response-alg', '');
  assert.equal(leftOut.idTokenSignedResponseAlg, null);
  for (const [args, words] of [
    [['update', made.clientId, '--id-token-signed-response-alg', 'HS256'], /must be RS256, ES256 or EdDSA/],
    [['update', made.clientId, '--id-token-signed-response-alg', 'RS384'], /--id-token-signed-response-alg must be/],
    [['update', made.clientId, '--no-require-pkce'], /must be true for a public client/],
    [['rotate-secret', made.clientId], /has no secret/],
    [['create', ...APP, '--type', 'native'], /--type must be confidential or public/],
    [['create', ...APP], /for public clients only/],
  ] as const) {
    await assert.rejects(tessera('client', ...args), words);
  }
});
