// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CredentialState, clientStatusOf, judgeClientToken, judgeSession, summarizeRevocation } from './rules.ts';

// Every combination of what `judge` looks at is in test/model/verdict.test.ts.

const NOW = 1000;
const account = { bannedAt: null, bannedUntil: null, suspendedAt: null, generation: 'a' };
const live: CredentialState = {
  account,
  client: { status: 'active', generation: 'c' },
  grant: { revokedAt: null },
  family: { endsAt: NOW + 1, deadAt: null },
};
const inherited = { accountGeneration: 'a', clientGeneration: 'c' };

test('a token of a client ends with its time, its revocation, and its client', () => {
  const token = { endsAt: NOW + 1, deadAt: null };
  const cases: [Parameters<typeof judgeClientToken>[0], typeof token | { endsAt: number; deadAt: number }, string][] = [
    [live.client, token, 'live'],
    [live.client, { ...token, endsAt: NOW }, 'invalid'],
    [live.client, { ...token, deadAt: 1 }, 'invalid'],
    [{ status: 'disabled', generation: 'c' }, token, 'invalid'],
    [{ status: 'active', generation: 'later' }, token, 'invalid'],
    [null, token, 'invalid'],
  ];
  for (const [client, of, kind] of cases) assert.equal(judgeClientToken(client, of, 'c', NOW).kind, kind);
});

test('a session ends with the generation of its account', () => {
  assert.equal(judgeSession(account, 'a', NOW).kind, 'live');
  assert.equal(judgeSession(account, 'before', NOW).kind, 'invalid');
  assert.equal(judgeSession(null, 'a', NOW).kind, 'invalid');
});

test('a summary counts the families that were live before, names their apps once, and tells those still live', () => {
  const revoked = { ...live, grant: { revokedAt: NOW } };
  const ended = { ...revoked, family: { endsAt: NOW, deadAt: null } };
  const found = [
    { app: 'B', state: revoked, inherited },
    { app: 'A', state: revoked, inherited },
    { app: 'A', state: revoked, inherited },
    { app: 'C', state: ended, inherited },
  ];
  const before = (state: CredentialState) => ({ ...state, grant: { revokedAt: null } });
  assert.deepEqual(summarizeRevocation(found, before, NOW), { families: 3, apps: ['A', 'B'], live: 0 });
  assert.equal(summarizeRevocation([{ app: 'A', state: live, inherited }], before, NOW).live, 1);
});

test('a client with a status that this version does not know is disabled', () => {
  assert.deepEqual(['active', 'assigned', 'disabled', 'other', null].map(clientStatusOf), [
    ...['active', 'active'],
    ...['disabled', 'disabled', 'disabled'],
  ]);
});
