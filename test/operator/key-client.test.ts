// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sweep } from '../../src/operations/housekeeping/housekeeping.ts';
import { DAY } from '../../src/platform/clock.ts';
import { tokenForm } from '../support/api-call.ts';
import { type AppKey, appKey, keyApp, proofOf } from '../support/assertion.ts';
import { withData } from '../support/forged-token.ts';
import { MINUTE, query } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { tessera as run } from './command.ts';

let server: TestServer;
let key: AppKey;
let folder: string;
before(async () => {
  server = await startServer();
  key = await appKey();
  folder = mkdtempSync(join(tmpdir(), 'tessera-keys-'));
});
after(async () => {
  rmSync(folder, { recursive: true });
  await server.close();
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Runs a command; answers what it printed, or what it complained of. */
async function client(...args: string[]) {
  const { code, stdout, stderr } = await run(['--json', 'client', ...args], { env: server.environment });
  return code === 0 ? JSON.parse(stdout) : stderr;
}

const APP = ['create', '--name', 'Service', '--redirect-uri', 'https://service.example.com/cb'] as const;
const WITH_KEY = [...APP, '--token-endpoint-auth-method', 'private_key_jwt'] as const;

test('tessera client create --jwks-file: no secret, and the key is let in; update replaces file and address by each other', async () => {
  const jwks = file('jwks.json', JSON.stringify({ keys: [key.jwk] }));
  const made = await client(...WITH_KEY, '--jwks-file', jwks);
  assert.deepEqual([made.tokenEndpointAuthMethod, made.idTokenSignedResponseAlg], ['private_key_jwt', null]);
  assert.deepEqual([made.jwks, made.jwksUri, made.secrets], [{ keys: [key.jwk] }, null, []]);
  assert.equal('clientSecret' in made, false);
  const proof = await proofOf(server, made.clientId, key);
  const answer = await tokenForm(server, { grant_type: 'refresh_token', refresh_token: 'x', ...proof });
  assert.equal(answer.body.error, 'invalid_grant');

  const uri = 'https://service.example.com/jwks.json';
  const moved = await client('update', made.clientId, '--jwks-uri', uri);
  assert.deepEqual([moved.jwks, moved.jwksUri], [null, uri]);
  const back = await client('update', made.clientId, '--jwks-file', jwks);
  assert.deepEqual([back.jwks, back.jwksUri], [{ keys: [key.jwk] }, null]);
  const signed = await client('update', made.clientId, '--userinfo-signed-response-alg', 'ES256');
  assert.deepEqual([signed.userinfoSignedResponseAlg, signed.jwks], ['ES256', { keys: [key.jwk] }]);
  assert.match(await client('rotate-secret', made.clientId), /authenticates with its key/);
  const freed = await client('update', made.clientId, '--token-endpoint-auth-method', '', '--jwks-file', '');
  assert.equal(typeof freed, 'object', String(freed));
  assert.deepEqual([freed.tokenEndpointAuthMethod, freed.jwks, freed.jwksUri], [null, null, null]);
  assert.match((await client('rotate-secret', made.clientId)).clientSecret, /^tcs_/);
});

test('what is wrong is named by its flag, and no text of a private key is repeated', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'mine' };
  const cases: [string[], RegExp][] = [
    [[...WITH_KEY], /needs the public keys/],
    [[...WITH_KEY, '--jwks-file', join(folder, 'none.json')], /--jwks-file.*cannot be read/s],
    [[...WITH_KEY, '--jwks-file', file('key.pem', pem)], /--jwks-file.*this is PEM, and a private key/s],
    [[...WITH_KEY, '--jwks-file', file('private.json', JSON.stringify({ keys: [jwk] }))], /must be a public key: take/],
    [[...WITH_KEY, '--jwks-file', file('list.json', '[]')], /--jwks-file must be/],
    [[...WITH_KEY, '--jwks-uri', 'http://service.example.com/'], /must use https/],
    [[...APP, '--token-endpoint-auth-method', 'client_secret_jwt'], /--token-endpoint-auth-method must be one of/],
    [[...APP, '--userinfo-signed-response-alg', 'HS256'], /--userinfo-signed-response-alg must be one of/],
  ];
  for (const [args, words] of cases) {
    const complaint = await client(...args);
    assert.match(complaint, words);
    assert.doesNotMatch(complaint, /PRIVATE/);
    assert.ok(!complaint.includes(String(jwk.d)));
  }
});

test('housekeeping forgets an assertion when it could not be used any more, and not before', async () => {
  const { clientId } = await keyApp(server, { jwks: { keys: [key.jwk] } });
  const kept = async () => (await query(server, 'SELECT hash FROM client_assertion')).length;
  const sweepAll = () => withData(server, ({ database }) => sweep(database, server.now()));
  server.advance(DAY);
  await sweepAll();
  assert.equal(await kept(), 0);
  const proof = await proofOf(server, clientId, key, { exp: Math.floor(server.now() / 1000) + 300 });
  const present = () => tokenForm(server, { grant_type: 'refresh_token', refresh_token: 'x', ...proof });
  assert.equal((await present()).status, 400);
  // Its own five minutes, and five for a node whose clock is behind.
  for (const step of [0, 5 * MINUTE, 5 * MINUTE]) {
    server.advance(step);
    await sweepAll();
    assert.equal(await kept(), 1);
    assert.equal((await present()).status, 401);
  }
  server.advance(30_000);
  await sweepAll();
  assert.equal(await kept(), 0);
  assert.equal((await present()).status, 401);
});
