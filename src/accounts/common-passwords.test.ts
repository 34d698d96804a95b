import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCommonPassword } from './common-passwords.ts';

const names = ['ada.l', 'countess@example.com'];

// NIST SP 800-63B-4 §3.1.1.2.
const cases: readonly (readonly [title: string, candidate: string, common: boolean])[] = [
  ['a common one', 'password1', true],
  ['a common one in another case', 'PassWord1', true],
  ['the name of the service with digits', 'Tessera-2026!', true],
  ['the username with digits', '2026ada.l2026', true],
  ['the email address', 'countess@example.com', true],
  ['the local part of the email address with symbols', '**Countess**', true],
  ['a few unrelated words', 'quartz lamp river seven', false],
  ['a phrase that contains the username', 'ada.l owns a quartz lamp', false],
];

for (const [title, candidate, common] of cases) {
  test(`a password that is ${title} is ${common ? 'rejected' : 'accepted'}`, async () => {
    assert.equal(await isCommonPassword(candidate, names), common);
  });
}
