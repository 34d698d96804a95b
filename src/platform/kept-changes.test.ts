// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedSince, changeOf, changesSince, type KeptChange, keepChange, putBack } from './kept-changes.ts';

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

test('of very many changes, what somebody else changed between them is put back to, not what was there before that', () => {
  let kept = keepChange([], change(1, { size: 1, books: [] }, { size: 2, books: ['a'] }));
  kept = keepChange(kept, change(2, { size: 7, books: ['a', 'other'] }, { size: 8, books: ['a', 'other', 'b'] }));
  for (let at = 3; at <= 20; at++) kept = keepChange(kept, change(at, { size: at + 5 }, { size: at + 6 }));
  assert.deepEqual(putBack({ size: 26, books: ['a', 'other', 'b'] }, kept), { size: 7, books: ['other'] });
});

const DAY = 86_400_000;

test('of very many changes those become one that lie together, so that none of long before counts as one of them', () => {
  for (const [gap, since] of [
    [1000, 60 * DAY],
    [2 * DAY, 10 * DAY],
  ] as const) {
    let kept = keepChange([], change(0, { size: 0 }, { size: 1 }));
    kept = keepChange(kept, change(DAY, { size: 1 }, { size: 2 }));
    for (let n = 0; n < 50; n++) kept = keepChange(kept, change(since + n * gap, { size: 2 + n }, { size: 3 + n }));
    const found = changesSince(kept, since);
    assert.deepEqual(putBack({ size: 52, books: [] }, found), { size: 2 });
    assert.deepEqual(changedSince({ size: 52, books: [] }, found), []);
    assert.deepEqual(putBack({ size: 52, books: [] }, changesSince(kept, 0)), { size: 0 });
    assert.ok(kept.length <= 11);
  }
});

test('a burst of changes of one field does not make those of another one old', () => {
  let kept = keepChange([], change(0, { books: [] }, { books: ['own'] }));
  for (let n = 1; n < 50; n++) kept = keepChange(kept, change(20 * DAY + n, { size: n }, { size: n + 1 }));
  assert.deepEqual(putBack({ size: 50, books: ['own'] }, changesSince(kept, 20 * DAY)), { size: 1 });
});

test('what can no longer be told apart from an earlier change stays, and is unclear', () => {
  let kept = keepChange([], change(10, { size: 1 }, { size: 2 }));
  for (let n = 0; n < 15; n++) kept = keepChange(kept, change(11 + n * 5, { size: 2 + n }, { size: 3 + n }));
  const found = changesSince(kept, 11);
  // The first of these is one with the change before: it stays, and what came after it is undone.
  const back = putBack({ size: 17, books: [] }, found);
  assert.ok((back.size ?? 0) > 2);
  assert.deepEqual(changedSince({ size: 17, books: [] }, found), ['size']);
});

test('a value that somebody else gave again stays, though a maker had changed it to that and back', () => {
  const changes = [change(1, { size: 1 }, { size: 2 }), change(2, { size: 2 }, { size: 1 })];
  assert.deepEqual(putBack({ size: 2, books: [] }, changes), {});
  assert.deepEqual(changedSince({ size: 2, books: [] }, changes), ['size']);
});

test('changes that become one still tell of each part that any of them told of', () => {
  let kept: readonly KeptChange[] = [];
  const apps = Array.from({ length: 30 }, (_, index) => `app${index}`);
  for (const [at, app] of apps.entries()) {
    kept = keepChange(kept, { at, fields: { allowed: { before: { [app]: [] }, after: { [app]: ['write'] } } } });
  }
  const now = { allowed: Object.fromEntries(apps.map((app) => [app, ['write']])) };
  assert.deepEqual(putBack(now, kept), { allowed: Object.fromEntries(apps.map((app) => [app, []])) });
});

test('of an object each part is put back by itself, and of the list in it each member', () => {
  const [own, thief, later] = [{ kid: 'own' }, { kid: 'thief' }, { kid: 'later' }];
  const change = (before: unknown, after: unknown): readonly KeptChange[] => [
    { at: 1, fields: { keys: { before, after } } },
  ];
  const added = change({ keys: [own] }, { keys: [own, thief] });
  assert.deepEqual(putBack({ keys: { keys: [own, thief] } }, added), { keys: { keys: [own] } });
  assert.deepEqual(putBack({ keys: { keys: [own, thief, later] } }, added), { keys: { keys: [own, later] } });
  assert.deepEqual(putBack({ keys: { keys: [later] } }, added), {}, 'the key was replaced since');
  assert.deepEqual(putBack({ keys: { keys: [thief, later] } }, change(null, { keys: [thief] })), {
    keys: { keys: [later] },
  });
  assert.deepEqual(putBack({ keys: { keys: [thief] } }, change(null, { keys: [thief] })), { keys: null });
});
