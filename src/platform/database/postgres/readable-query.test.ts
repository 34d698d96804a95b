// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueryResult } from 'pg';
import { listOf, ReadableQuery } from './readable-query.ts';

const [INT8, TEXT, FLOAT8] = [20, 25, 701];

const answer = (columns: readonly (readonly [name: string, type: number])[], rows: readonly unknown[]) =>
  ({ rows, fields: columns.map(([name, dataTypeID]) => ({ name, dataTypeID })) }) as unknown as QueryResult;

test('ids stay decimal strings, other integers become numbers, and null stays null', () => {
  const columns = [
    ['id', INT8],
    ['client_id', INT8],
    ['created_at', INT8],
    ['name', TEXT],
    ['share', FLOAT8],
  ] as const;
  const query = new ReadableQuery('one', 'SELECT');
  assert.deepEqual(query.rowsOf(answer(columns, [['1', '9007199254740993', '2', '3', '0.5'], Array(5).fill(null)])), [
    { id: '1', client_id: '9007199254740993', created_at: 2, name: '3', share: 0.5 },
    { id: null, client_id: null, created_at: null, name: null, share: null },
  ]);
});

test('a column that another answer gives another type, name or place is read again', () => {
  const query = new ReadableQuery('one', 'SELECT');
  assert.deepEqual(query.rowsOf(answer([['n', TEXT]], [['1']])), [{ n: '1' }]);
  assert.deepEqual(query.rowsOf(answer([['n', INT8]], [['1']])), [{ n: 1 }]);
  assert.deepEqual(query.rowsOf(answer([['id', INT8]], [['1']])), [{ id: '1' }]);
  assert.deepEqual(
    query.rowsOf(
      answer(
        [
          ['a', TEXT],
          ['id', INT8],
        ],
        [['x', '1']],
      ),
    ),
    [{ a: 'x', id: '1' }],
  );
});

test('a list is the text of an array, whatever its values hold', () => {
  assert.equal(listOf(['a', null, 1, 2n, -0.5, true]), '{"a",NULL,1,2,-0.5,true}');
  assert.equal(listOf(['NULL', '', 'a,b', '{}', 'say "x" \\ y']), '{"NULL","","a,b","{}","say \\"x\\" \\\\ y"}');
  assert.equal(listOf([Uint8Array.of(0, 255)]), '{"\\\\x00ff"}');
});
