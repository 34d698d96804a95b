// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SECOND } from '../../platform/clock.ts';
import { acceptedSteps, inGroups, parseRecoveryCode, parseTotpCode, RECOVERY_CODE_ALPHABET } from './codes.ts';

// PW-10: the current step and those beside it, each once.
const steps: [title: string, lastStep: number, accepted: readonly number[]][] = [
  ['nothing was accepted before', 0, [99, 100, 101]],
  ['the step before was', 99, [100, 101]],
  ['the current step was', 100, [101]],
  ['a device that is ahead was', 101, []],
  ['the clock of the server was ahead', 500, []],
];
for (const [title, lastStep, accepted] of steps) {
  test(`steps: ${title}`, () => {
    for (const ms of [0, 1, 30 * SECOND - 1])
      assert.deepEqual(acceptedSteps(100 * 30 * SECOND + ms, lastStep), accepted);
  });
}

const totp: [typed: string, code: string | undefined][] = [
  ['012345', '012345'],
  [' 012 345 ', '012345'],
  ['012-345', '012345'],
  ['\u200e012\u200b345\u202c', '012345'],
  ['０１２３４５', '012345'],
  ['12345', undefined],
  ['0123456', undefined],
  ['01234a', undefined],
  ['٠١٢٣٤٥', undefined],
  ['1e5000', undefined],
  ['+12345', undefined],
  ['', undefined],
];
for (const [typed, code] of totp) {
  test(`a code of an authenticator app: “${typed}”`, () => assert.equal(parseTotpCode(typed), code));
}

const recovery: [typed: string, code: string | undefined][] = [
  ['0123-4567-89ab', '0123456789ab'],
  ['0123 4567 89AB', '0123456789ab'],
  ['\ufeff0123\u20114567\u00a089ab\u200b', '0123456789ab'],
  ['o123-4567-89ab', '0123456789ab'],
  ['0I23-4567-89ab', '0123456789ab'],
  ['0L23456789ab', '0123456789ab'],
  ['0123-4567-89a', undefined],
  ['0123-4567-89abc', undefined],
  ['0123-4567-89au', undefined],
  ['0123-4567-89a\0', undefined],
  ['012345', undefined],
];
for (const [typed, code] of recovery) {
  test(`a recovery code: ${JSON.stringify(typed)}`, () => assert.equal(parseRecoveryCode(typed), code));
}

test('each character of a recovery code is worth five bits', () =>
  assert.equal(new Set(RECOVERY_CODE_ALPHABET).size, 32));

test('groups of four', () => assert.equal(inGroups('abcdefghij', ' '), 'abcd efgh ij'));
