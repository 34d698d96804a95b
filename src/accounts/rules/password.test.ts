// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type WeakPassword, weakPassword } from './password.ts';

const ADA = { username: 'ada.l', displayName: 'Ada Lovelace', email: 'countess@analytical.example.com' };
const ZOE = { username: 'zoe', displayName: 'Zoë Ångström', email: 'zoe1815@example.com' };

const isCommon = (password: string): boolean => ['password1', 'iloveyou1'].includes(password);

// NIST SP 800-63B-4 §3.1.1.2.
const cases: readonly (readonly [title: string, password: string, names: object, weak: WeakPassword | undefined])[] = [
  ['a common one', 'password1', ADA, 'common'],
  ['a common one in another case', 'PassWord1', ADA, 'common'],
  ['the word itself with digits', '!Password_2026', ADA, 'common'],
  ['the name of the service with digits', 'Tessera-2026!', ADA, 'name'],
  ['the username with digits', '2026ada.l2026', ADA, 'name'],
  ['the email address', ADA.email, ADA, 'name'],
  ['the local part of the email address with symbols', '**Countess**', ADA, 'name'],
  ['the domain of the email address', 'analytical7', ADA, 'name'],
  ['the display name with digits', 'Ada Lovelace 1815', ADA, 'name'],
  ['a word of the display name', 'Lovelace!!1', ADA, 'name'],
  ['the display name without spaces', 'adalovelace', ADA, 'name'],
  ['a repeated name', 'zoezoezoe', ZOE, 'name'],
  ['a repeated name with symbols', 'zoe-zoe-zoe', ZOE, 'name'],
  ['a name spelled out', 'z.o.e.z.o.e.z.o.e', ZOE, 'name'],
  ['a reversed name', 'ecalevol1', ADA, 'name'],
  ['a name with look-alike digits', 'L0v3l4c3', ADA, 'name'],
  ['a name without its marks', 'Angstrom1', ZOE, 'name'],
  ['a name with its marks', 'ångström1', ZOE, 'name'],
  ['the letters of the email address', 'zoe 2026 zoe', ZOE, 'name'],
  ['a name and a common one', 'zoepassword1', ZOE, 'name'],
  ['a name and a repetition', 'zoe!!!!!!!!!!', ZOE, 'name'],
  ['a name and a short word', 'zoequartz', ZOE, 'name'],
  ['one character', 'ÿÿÿÿÿÿÿÿÿÿÿÿ', ADA, 'simple'],
  ['eight spaces', '        ', ADA, 'simple'],
  ['a repeated short word', 'lamplamplamp', ADA, 'simple'],
  ['a word twice', 'quartzquartz', ADA, 'simple'],
  ['the digits', '1234567890', ADA, 'simple'],
  ['the alphabet backward', 'hgfedcba', ADA, 'simple'],
  ['a row of the keyboard and digits', 'asdfghjk123', ADA, 'simple'],
  ['runs of few characters', 'aaaaabbbbb', ADA, 'simple'],
  ['a few unrelated words', 'quartz lamp river seven', ADA, undefined],
  ['a phrase that contains the username', 'ada.l owns a quartz lamp', ADA, undefined],
  ['a phrase that contains a name of three letters', 'shadazzle-lamp9', ADA, undefined],
  ['a phrase with a sequence in it', 'lamp 1234 river', ADA, undefined],
  ['a phrase twice', 'quartz lamp quartz lamp ', ADA, undefined],
  ['eight random characters', 'xK9#q2v_', ADA, undefined],
  ['a language without case', '量子のランプは川にある', ADA, undefined],
  ['accepted where no names are given', 'lovelace lamp', {}, undefined],
];

for (const [title, password, names, weak] of cases) {
  test(`a password that is ${title} is ${weak === undefined ? 'accepted' : `rejected: ${weak}`}`, () => {
    assert.equal(weakPassword(password, names, isCommon), weak);
  });
}

test('no password takes long to check', () => {
  // The longest one with the most repetitions, and the longest names.
  const names = { username: 'a'.repeat(32), displayName: 'a '.repeat(32), email: `${'a.'.repeat(30)}a@example.com` };
  assert.equal(weakPassword('a'.repeat(256), names, isCommon), 'name');
  assert.equal(weakPassword(`${'a'.repeat(255)}b`, {}, isCommon), 'simple');
});
