// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type UndoneFacts, undoneSentences } from './notice-text.ts';

const NOTHING: UndoneFacts = {
  ...{ removed: { app: false, codes: false }, restored: { app: false, codes: false } },
  ...{
    passkeys: 0,
    passkeysRestored: 0,
    identities: 0,
    apps: 0,
    made: 0,
    registered: 0,
    secrets: 0,
    redirected: [],
    left: undefined,
  },
};

test('who has an account again is told of every way in that was removed, another provider included', () => {
  assert.deepEqual(undoneSentences(NOTHING), []);
  assert.deepEqual(undoneSentences({ ...NOTHING, passkeys: 1, identities: 2 }), [
    'This was added in the time before, and was removed: a passkey.',
    'Nobody signs in to it with another provider any more. If you did, connect the provider again on the Security page of your account.',
  ]);
});
