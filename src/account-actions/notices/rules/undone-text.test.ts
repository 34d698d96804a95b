// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goesOnSentences, NOTHING_UNDONE, undoneSentences } from './undone-text.ts';

const NOTHING = NOTHING_UNDONE;

test('who has an account again is told of every way in that was removed, another provider included', () => {
  assert.deepEqual(undoneSentences(NOTHING), []);
  assert.deepEqual(undoneSentences({ ...NOTHING, passkeys: 1, identities: 2 }), [
    'This was added recently, and was removed: a passkey.',
    'Other providers are disconnected. If you signed in with one, connect it again on the Security page of your account.',
  ]);
});

test('who renewed something that is as it was before reads how to come back with what is newer', () => {
  const both = { app: true, codes: true };
  const saidOf = (of: Partial<typeof both>) => {
    const facts = { app: false, codes: false, ...of };
    return undoneSentences({ ...NOTHING, removed: facts, restored: facts }).at(-1);
  };
  assert.match(saidOf({ app: true }) ?? '', /^If you replaced it yourself and have only the new one, /);
  assert.match(saidOf({ codes: true }) ?? '', /^If you renewed them yourself and have only the new ones, /);
  assert.equal(saidOf(both), saidOf({ codes: true }));
});

test('rights of others that were raised, and those that were taken away, are counted', () => {
  assert.deepEqual(undoneSentences({ ...NOTHING, rights: 2, lostRights: 1 }), [
    '2 roles, memberships and assignments of others that were raised are as they were before.',
    'A role, a membership or an assignment of somebody else was taken away or made less. If that was wrong, ask an operator to give it again.',
  ]);
});

test('what another operator let go on is counted', () => {
  const letGo = { made: 2, invitations: 0, apps: ['1'], upstreams: 0, settings: 0, access: 0, rights: 0, accounts: [] };
  assert.deepEqual(undoneSentences({ ...NOTHING, letGo: { ...letGo, made: 0, apps: [] } }), []);
  assert.deepEqual(undoneSentences({ ...NOTHING, letGo }), [
    'This was made with your account before an operator took a role of yours away. The operator let it go on, and it does: 2 admin keys or roles that were given and what was done to these apps: 1. Tell an operator of this service what was not you.',
  ]);
});

test('what goes on of what was made with an account is counted, and its apps are named by their ids', () => {
  assert.deepEqual(
    goesOnSentences({
      made: 0,
      invitations: 0,
      apps: [],
      upstreams: 0,
      settings: 0,
      access: 0,
      rights: 0,
      accounts: [],
    }),
    [],
  );
  assert.deepEqual(
    goesOnSentences({
      made: 1,
      invitations: 2,
      apps: ['1', '2'],
      upstreams: 1,
      settings: 0,
      access: 2,
      rights: 0,
      accounts: ['3'],
    }),
    [
      'This was made with your account in the days before, and goes on: an admin key or a role that was given, 2 invitations, what was done to these apps: 1, 2, what was done to another provider, 2 assignments to apps and memberships that were given and what was done to these accounts: 3. End what is not yours.',
    ],
  );
});
