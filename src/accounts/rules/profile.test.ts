// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeProfile, colorFor, newProfile, splitEmail } from './profile.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const ada = newProfile(
  { username: 'ada', displayName: 'Ada', email: 'Ada@example.com', emailVerified: true },
  '7',
  now,
);

test('a new profile has the documented defaults', () => {
  assert.deepEqual(ada, {
    username: 'ada',
    email: 'Ada@example.com',
    emailVerified: true,
    displayName: 'Ada',
    about: '',
    language: 'en',
    theme: null,
    website: null,
    location: null,
    birthDate: null,
    phone: null,
    socialLinks: [],
    avatarColor: colorFor('7'),
    picture: null,
  });
});

test('a new email address is unverified, the same address in another case is not', () => {
  assert.equal(changeProfile(ada, { email: 'new@example.com' }, now).emailVerified, false);
  assert.equal(changeProfile(ada, { email: 'ADA@example.com' }, now).emailVerified, true);
  assert.equal(changeProfile(ada, { email: 'new@example.com', emailVerified: true }, now).emailVerified, true);
});

test('a birth date must be in the past', () => {
  for (const later of [now, now + 86_399_999]) {
    assert.throws(() => changeProfile(ada, { birthDate: '2026-01-01' }, later), /birthDate must be in the past/);
  }
  assert.equal(changeProfile(ada, { birthDate: '2025-12-31' }, now).birthDate, '2025-12-31');
});

test('a password is not part of the profile', () => {
  assert.ok(!('password' in changeProfile(ada, { password: 'correct horse' }, now)));
});

test('an email address is split at its last at sign', () => {
  assert.deepEqual(splitEmail('ada.l@example.com'), { username: 'ada.l', domain: 'example.com' });
});

test('a language tag is stored as BCP 47 writes it', () => {
  assert.equal(changeProfile(ada, { language: 'ZH-hant' }, now).language, 'zh-Hant');
  assert.equal(changeProfile(ada, { about: 'new' }, now).language, 'en');
});
