// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatUserCode, readUserCode } from './user-code.ts';

test('RFC 8628 §6.1: a user code is read in any case, with or without separators', () => {
  for (const typed of ['BCDF-GHJK', 'bcdfghjk', ' BCDF GHJK ', 'bcdf–ghjk', 'B.C.D.F-G H J K']) {
    assert.equal(readUserCode(typed), 'BCDFGHJK', typed);
  }
  assert.equal(readUserCode(formatUserCode('WDJBMJHT')), 'WDJBMJHT');
});

test('anything else is no user code', () => {
  for (const typed of ['', 'BCDF-GHJ', 'BCDF-GHJKL', 'ABCD-EFGH', '1234-5678', 'BCDF/GHJK', 'ВCDFGHJK']) {
    assert.equal(readUserCode(typed), undefined, typed);
  }
});
