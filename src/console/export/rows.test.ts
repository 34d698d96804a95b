// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvCell, endedOf, headerOf, rowOf } from './rows.ts';

test('a cell that a spreadsheet would take for a formula becomes a text', () => {
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '=cmd|"/c calc"!A1']) {
    assert.match(csvCell(text), /^"?'/, text);
  }
  for (const text of ['a=b', 'x', '1', '']) assert.equal(csvCell(text), text);
  // A number is one.
  assert.equal(csvCell(-1), '-1');
});

test('RFC 4180: commas, quotes and line breaks are quoted', () => {
  assert.equal(csvCell('a,b'), '"a,b"');
  assert.equal(csvCell('say "x"'), '"say ""x"""');
  assert.equal(csvCell('a\nb'), '"a\nb"');
  assert.equal(csvCell(null), '');
});

test('rows are lines of both formats, and an end before the last row is a line that no program takes for a row', () => {
  const columns = ['id', 'details'];
  assert.equal(headerOf('csv', columns), 'id,details\r\n');
  assert.equal(headerOf('jsonl', columns), '');
  const row = { id: '1', details: { a: '=1' } };
  assert.equal(rowOf('csv', columns, row), '1,"{""a"":""=1""}"\r\n');
  assert.deepEqual(JSON.parse(rowOf('jsonl', columns, row)), row);
  assert.equal(endedOf('csv', 'the role ended'), 'NOT COMPLETE: the role ended\r\n');
  assert.deepEqual(JSON.parse(endedOf('jsonl', 'x')), { notComplete: 'x' });
});
