// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeOf, type KeptChange, keepChange, putBack } from './kept-changes.ts';

interface Shelf {
  readonly size: number;
  readonly books: readonly string[];
}
const change = (at: number, before: Partial<Shelf>, after: Partial<Shelf>): KeptChange =>
  changeOf({ size: 0, books: [], ...before }, { size: 0, books: [], ...after }, ['size', 'books'], at);

test('what several makers changed one after the other is put back to what was there before the first', () => {
  const changes = [change(2, { size: 20 }, { size: 30 }), change(1, { size: 10 }, { size: 20 })];
  assert.deepEqual(putBack({ size: 30, books: [] }, changes), { size: 10 });
  assert.deepEqual(putBack({ size: 30, books: [] }, changes.slice(0, 1)), { size: 20 });
});

test('what somebody else changed since stays, but of a list what was added goes and what was removed is there again', () => {
  assert.deepEqual(putBack({ size: 40, books: [] }, [change(1, { size: 10 }, { size: 20 })]), {});
  const swapped = change(1, { books: ['a', 'b'] }, { books: ['b', 'c'] });
  assert.deepEqual(putBack({ size: 0, books: ['b', 'c', 'd'] }, [swapped]), { books: ['b', 'd', 'a'] });
  assert.deepEqual(putBack({ size: 0, books: ['b', 'c'] }, [swapped]), { books: ['a', 'b'] });
});

test('a field that was put back already does not differ', () => {
  assert.deepEqual(putBack({ size: 10, books: [] }, [change(1, { size: 10 }, { size: 20 })]), {});
  assert.deepEqual(putBack({ size: 10, books: [] }, []), {});
});

test('of very many changes the oldest become one, and what was there first is kept', () => {
  let kept: readonly KeptChange[] = [];
  for (let at = 1; at <= 100; at++) kept = keepChange(kept, change(at, { size: at }, { size: at + 1 }));
  assert.equal(kept.length, 10);
  assert.deepEqual(putBack({ size: 101, books: [] }, kept), { size: 1 });
  // What is joined counts as of the later change, so that none is left out for its age.
  assert.equal(kept[0]?.at, 91);
});
