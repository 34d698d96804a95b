// store: SQLite
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { tessera } from '../operator/command.ts';
import { admin } from '../support/flow.ts';
import { startServer } from '../support/server.ts';
import type { Tricks } from '../support/upstream-provider.ts';
import { newUpstream, type TestUpstream } from './people.ts';

const server = await startServer({});
let upstream: TestUpstream;
before(async () => {
  upstream = await newUpstream(server);
});
after(async () => {
  await upstream.provider[Symbol.asyncDispose]();
  await server.close();
});

interface Step {
  readonly step: string;
  readonly level: string;
  readonly found: string;
}

async function steps(tricks: Tricks = {}, id = upstream.id): Promise<readonly Step[]> {
  upstream.provider.tricks = tricks;
  const { status, body } = await admin(server, 'POST', `/upstreams/${id}/test`, {});
  upstream.provider.tricks = {};
  assert.equal(status, 200, JSON.stringify(body));
  return body.steps;
}

const WHOLE: Tricks = {
  metadata: (known) => ({
    ...known,
    code_challenge_methods_supported: ['S256'],
    backchannel_logout_supported: true,
  }),
};

test('a provider that is whole has three steps, and is asked each time', async () => {
  for (let time = 0; time < 2; time++) {
    upstream.provider.asked.length = 0;
    const found = await steps(WHOLE);
    assert.deepEqual(
      found.map(({ step, level }) => [step, level]),
      [
        ['metadata', 'ok'],
        ['keys', 'ok'],
        ['client', 'ok'],
      ],
    );
    assert.deepEqual(upstream.provider.asked, ['/.well-known/openid-configuration', '/jwks', '/token']);
  }
});

test('what a provider does not offer is told', async () => {
  const warnings = (await steps()).filter(({ level }) => level === 'warning').map(({ found }) => found);
  assert.equal(warnings.length, 2);
  assert.match(warnings.join(' '), /PKCE.*back-channel logout/s);
});

test('a wrong secret is told apart from a provider that does not answer', async () => {
  const path = `/upstreams/${upstream.id}`;
  await admin(server, 'PATCH', path, { clientSecret: 'wrong' });
  const last = (await steps(WHOLE)).at(-1);
  await admin(server, 'PATCH', path, { clientSecret: upstream.provider.clientSecret });
  assert.deepEqual([last?.step, last?.level], ['client', 'problem']);
  assert.match(last?.found ?? '', /Check the client ID and the secret/);
  assert.ok(!JSON.stringify(last).includes('wrong'));
});

const problems: readonly (readonly [string, Tricks, string, RegExp])[] = [
  [
    'another issuer',
    { metadata: (known) => ({ ...known, issuer: 'https://other.example' }) },
    'metadata',
    /names the issuer "https:\/\/other\.example", and "http:\/\/.*" is configured here/,
  ],
  ['no keys', { ...WHOLE, keys: () => ({ keys: [] }) }, 'keys', /no key/],
  ['keys that are none', { ...WHOLE, keys: () => 'keys' }, 'keys', /no JSON Web Key Set/],
  ['a provider that is gone', { answer: (_path, request) => request.destroy() !== undefined }, 'metadata', /closed/],
];
for (const [name, tricks, step, reason] of problems) {
  test(`${name} is a problem of the ${step}`, async () => {
    const found = (await steps(tricks)).find(({ level }) => level === 'problem');
    assert.equal(found?.step, step);
    assert.match(found?.found ?? '', reason);
  });
}

test('an upstream that does not exist has no test', async () => {
  assert.equal((await admin(server, 'POST', '/upstreams/1/test', {})).status, 404);
});

test('tessera upstream test exits with 1 where it finds a problem', async () => {
  upstream.provider.tricks = { metadata: (known) => ({ ...known, issuer: 'https://other.example' }) };
  const env = { ...server.environment, TESSERA_OUTGOING_ALLOW: '127.0.0.0/8' };
  const found = await tessera(['upstream', 'test', upstream.name], { env });
  upstream.provider.tricks = {};
  assert.equal(found.code, 1, found.stderr);
  assert.match(found.stdout, /https:\/\/other\.example/);
  assert.equal((await tessera(['upstream', 'test', upstream.name], { env })).code, 0);
});
