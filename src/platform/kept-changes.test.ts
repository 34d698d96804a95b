// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  changeOf,
  changesSince,
  fieldsLeft,
  isGiven,
  type KeptChange,
  keepChange,
  openedSince,
  putBack,
  withoutOpenings,
} from './kept-changes.ts';
import type { Settings } from './settings.ts';
import { added, addedByName, addedToSome, bound, ordered, restriction, shown } from './undo.ts';

interface Shelf {
  readonly size: number;
  readonly books: readonly string[];
}
const change = (at: number, before: Partial<Shelf>, after: Partial<Shelf>): KeptChange =>
  changeOf({ size: 0, books: [], ...before }, { size: 0, books: [], ...after }, ['size', 'books'], at);

const keep = (kept: readonly KeptChange[], one: KeptChange): readonly KeptChange[] => keepChange(kept, one, {});

test('what several makers changed one after the other is put back to what was there before the first', () => {
  const changes = [change(2, { size: 20 }, { size: 30 }), change(1, { size: 10 }, { size: 20 })];
  assert.deepEqual(putBack({ size: 30, books: [] }, changes), { size: 10 });
  assert.deepEqual(putBack({ size: 30, books: [] }, changes.slice(0, 1)), { size: 20 });
});

test('without a table, what somebody else changed since stays, but of a list what was added goes and what was removed is there again', () => {
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
  for (let at = 1; at <= 100; at++) kept = keep(kept, change(at, { size: at }, { size: at + 1 }));
  assert.equal(kept.length, 10);
  assert.deepEqual(putBack({ size: 101, books: [] }, kept), { size: 1 });
  // What is joined counts as of the later change, so that none is left out for its age.
  assert.equal(kept[0]?.at, 91);
});

test('of very many changes, what somebody else changed between them is put back to, not what was there before that', () => {
  let kept = keep([], change(1, { size: 1, books: [] }, { size: 2, books: ['a'] }));
  kept = keep(kept, change(2, { size: 7, books: ['a', 'other'] }, { size: 8, books: ['a', 'other', 'b'] }));
  for (let at = 3; at <= 20; at++) kept = keep(kept, change(at, { size: at + 5 }, { size: at + 6 }));
  assert.deepEqual(putBack({ size: 26, books: ['a', 'other', 'b'] }, kept), { size: 7, books: ['other'] });
});

const DAY = 86_400_000;

test('of very many changes those become one that lie together, so that none of long before counts as one of them', () => {
  for (const [gap, since] of [
    [1000, 60 * DAY],
    [2 * DAY, 10 * DAY],
  ] as const) {
    let kept = keep([], change(0, { size: 0 }, { size: 1 }));
    kept = keep(kept, change(DAY, { size: 1 }, { size: 2 }));
    for (let n = 0; n < 50; n++) kept = keep(kept, change(since + n * gap, { size: 2 + n }, { size: 3 + n }));
    const found = changesSince(kept, since);
    assert.deepEqual(putBack({ size: 52, books: [] }, found), { size: 2 });
    assert.deepEqual(fieldsLeft({ size: 52, books: [] }, found), []);
    assert.deepEqual(putBack({ size: 52, books: [] }, changesSince(kept, 0)), { size: 0 });
    assert.ok(kept.length <= 11);
  }
});

test('a burst of changes of one field does not make those of another one old', () => {
  let kept = keep([], change(0, { books: [] }, { books: ['own'] }));
  for (let n = 1; n < 50; n++) kept = keep(kept, change(20 * DAY + n, { size: n }, { size: n + 1 }));
  assert.deepEqual(putBack({ size: 50, books: ['own'] }, changesSince(kept, 20 * DAY)), { size: 1 });
});

test('what can no longer be told apart from an earlier change stays, and is unclear', () => {
  let kept = keep([], change(10, { size: 1 }, { size: 2 }));
  for (let n = 0; n < 15; n++) kept = keep(kept, change(11 + n * 5, { size: 2 + n }, { size: 3 + n }));
  const found = changesSince(kept, 11);
  // The first of these is one with the change before: it stays, and what came after it is undone.
  const back = putBack({ size: 17, books: [] }, found);
  assert.ok((back.size ?? 0) > 2);
  assert.deepEqual(fieldsLeft({ size: 17, books: [] }, found), ['size']);
});

test('a value that somebody else gave again stays, though a maker had changed it to that and back', () => {
  const changes = [change(1, { size: 1 }, { size: 2 }), change(2, { size: 2 }, { size: 1 })];
  assert.deepEqual(putBack({ size: 2, books: [] }, changes), {});
  assert.deepEqual(fieldsLeft({ size: 2, books: [] }, changes), ['size']);
});

test('changes that become one still tell of each part that any of them told of', () => {
  let kept: readonly KeptChange[] = [];
  const apps = Array.from({ length: 30 }, (_, index) => `app${index}`);
  for (const [at, app] of apps.entries()) {
    kept = keep(kept, { at, fields: { allowed: { before: { [app]: [] }, after: { [app]: ['write'] } } } });
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

const KINDS = {
  shown,
  added,
  'added to some': addedToSome,
  'added by name': addedByName,
  ordered: ordered('none', 'some', 'all'),
  bound,
  restriction,
} as const;
const read = (about: string) => ({ name: 'read', about });
const write = (about: string) => ({ name: 'write', about });

/** Of each kind: how makers changed it, one change after the other, what it is now, what is left of it, and whether something stays. */
type Row = readonly [
  changes: readonly (readonly [before: unknown, after: unknown])[],
  now: unknown,
  undone: unknown,
  stays?: 'stays',
];
const ROWS: Readonly<Record<keyof typeof KINDS, readonly Row[]>> = {
  shown: [
    [[['a', 'b']], 'b', 'a'],
    [[['a', 'b']], 'c', 'c', 'stays'],
  ],
  added: [
    [[[['a'], ['a', 'b']]], ['a', 'b'], ['a']],
    [[[['a', 'b'], ['a']]], ['a'], ['a'], 'stays'],
    [
      [
        [
          ['a', 'b'],
          ['a', 'c'],
        ],
      ],
      ['a', 'c'],
      ['a'],
      'stays',
    ],
    [[[['a'], ['b']]], ['b'], [], 'stays'],
    [
      [
        [
          ['a', 'b'],
          ['b', 'a'],
        ],
      ],
      ['b', 'a'],
      ['b', 'a'],
    ],
    [[[['a'], ['a', 'b']]], ['a', 'b', 'c'], ['a', 'c']],
    [[[['a', 'b'], ['a']]], ['a', 'b'], ['a', 'b']],
    [
      [
        [['a'], ['a', 'b']],
        [['a', 'b'], ['a']],
      ],
      ['a'],
      ['a'],
    ],
    [
      [
        [['a', 'b'], ['a']],
        [['a'], ['a', 'b']],
      ],
      ['a', 'b'],
      ['a', 'b'],
      'stays',
    ],
    [[[null, ['b']]], ['b'], null],
    [[[null, ['b']]], ['b', 'c'], ['c']],
    [[[{}, { x: 1 }]], { x: 1 }, {}],
    [[[{ x: 1 }, {}]], {}, {}, 'stays'],
    [
      [
        [
          { x: 1, y: 1 },
          { x: 2, y: 1 },
        ],
      ],
      { x: 2, y: 1 },
      { y: 1 },
      'stays',
    ],
    [[[{}, { x: 1 }]], { x: 1, y: 1 }, { y: 1 }],
    [[[null, { x: 1 }]], { x: 1 }, null],
    [[[{ list: ['a'] }, { list: ['a', 'b'] }]], { list: ['a', 'b', 'c'] }, { list: ['a', 'c'] }],
    [[[{ list: ['a'] }, { list: ['b'] }]], { list: ['b'] }, { list: [] }, 'stays'],
    [[[null, 'a']], 'a', null],
    [[['a', 'b']], 'b', null, 'stays'],
    [[['a', null]], null, null, 'stays'],
    [[['a', 'b']], 'c', 'c', 'stays'],
    [
      [
        ['a', null],
        [null, 'a'],
      ],
      'a',
      'a',
      'stays',
    ],
    [
      [
        [['a'], ['b']],
        [['b'], ['a']],
      ],
      ['a'],
      ['a'],
      'stays',
    ],
    [
      [
        [['a'], ['b']],
        [['b'], ['c']],
        [['c'], ['a', 'd']],
      ],
      ['a', 'd', 'e'],
      ['a', 'e'],
      'stays',
    ],
    [
      [
        [['a', 'b'], ['b']],
        [['c'], ['a', 'b']],
      ],
      ['a', 'b'],
      [],
      'stays',
    ],
    [
      [
        [{ x: 1 }, { x: 2 }],
        [
          { x: 2, y: 1 },
          { x: 1, y: 2 },
        ],
      ],
      { x: 1, y: 2 },
      { x: 1 },
      'stays',
    ],
    [
      [
        [{ list: ['a'] }, { list: [] }],
        [{ other: [] }, { other: ['b'] }],
        [{ list: [] }, { list: ['a'] }],
      ],
      { list: ['a'], other: ['b'] },
      { list: ['a'], other: [] },
      'stays',
    ],
  ],
  'added to some': [
    [[[['a'], null]], null, ['a']],
    [[[null, ['a']]], ['a'], ['a'], 'stays'],
    [[[['a'], ['a', 'b']]], ['a', 'b'], ['a']],
    [[[['a', 'b'], ['a']]], ['a'], ['a'], 'stays'],
    [[[['a'], null]], ['a', 'b'], ['a'], 'stays'],
    [[[['a', 'c'], null]], ['a', 'b'], ['a'], 'stays'],
    [[[['a'], null]], ['b'], [], 'stays'],
    [
      [
        [['a'], null],
        [
          ['a', 'b'],
          ['a', 'b', 'c'],
        ],
      ],
      ['a', 'b', 'c'],
      ['a'],
      'stays',
    ],
    [[[['a'], null]], [], [], 'stays'],
    [[[['a'], ['b']]], null, null, 'stays'],
    [
      [
        [null, ['a']],
        [['a'], ['a', 'b']],
      ],
      ['a', 'b'],
      ['a', 'b'],
      'stays',
    ],
  ],
  'added by name': [
    [[[[read('x')], [read('x'), write('y')]]], [read('x'), write('y')], [read('x')]],
    [[[[read('x'), write('y')], [read('x')]]], [read('x')], [read('x')], 'stays'],
    [[[[read('x')], [read('y')]]], [read('y')], [read('x')]],
    [[[[read('x')], [read('y')]]], [read('y'), write('z')], [read('x'), write('z')]],
    [[[[read('x')], [read('y')]]], [read('z')], [read('z')], 'stays'],
    [[[null, [read('x')]]], [read('x')], null],
    [[[[read('x')], null]], null, null, 'stays'],
  ],
  ordered: [
    [[['none', 'all']], 'all', 'none'],
    [[['all', 'none']], 'none', 'none', 'stays'],
    [[['none', 'all']], 'some', 'some', 'stays'],
    [
      [
        ['some', 'all'],
        ['all', 'none'],
      ],
      'none',
      'none',
      'stays',
    ],
    [
      [
        ['none', 'all'],
        ['all', 'some'],
      ],
      'some',
      'none',
    ],
    [
      [
        ['all', 'none'],
        ['none', 'all'],
      ],
      'all',
      'all',
      'stays',
    ],
    [
      [
        ['some', 'none'],
        ['none', 'all'],
      ],
      'all',
      'some',
      'stays',
    ],
    [
      [
        ['all', 'some'],
        ['none', 'all'],
      ],
      'all',
      'none',
    ],
    [
      [
        ['none', 'some'],
        ['all', 'some'],
      ],
      'some',
      'some',
      'stays',
    ],
  ],
  bound: [
    [[[60, 90]], 90, 60],
    [[[60, null]], null, 60],
    [[[90, 60]], 60, 60, 'stays'],
    [[[null, 60]], 60, 60, 'stays'],
    [[[60, null]], 90, 90, 'stays'],
  ],
  restriction: [
    [[['1', null]], null, '1'],
    [[['1', '2']], '2', '1'],
    [[[null, '1']], '1', '1', 'stays'],
    [[['1', null]], '2', '2', 'stays'],
    [
      [
        [null, '1'],
        ['1', null],
      ],
      null,
      null,
      'stays',
    ],
    [
      [
        ['1', '2'],
        ['2', null],
      ],
      null,
      '1',
    ],
    [
      [
        [null, '2'],
        ['1', null],
      ],
      null,
      '1',
    ],
  ],
};

const inTurn = (pairs: Row[0]): readonly KeptChange[] =>
  pairs.map(([before, after], at) => ({ at, fields: { field: { before, after } } }));

for (const [kind, rows] of Object.entries(ROWS)) {
  const table: Settings = { field: KINDS[kind as keyof typeof KINDS] };
  for (const [pairs, now, undone, stays] of rows) {
    test(`${kind}: ${JSON.stringify(pairs)} leaves ${JSON.stringify(undone)} of ${JSON.stringify(now)}`, () => {
      const changes = inTurn(pairs);
      assert.deepEqual({ field: now, ...putBack({ field: now }, changes, table) }, { field: undone });
      assert.deepEqual(fieldsLeft({ field: now }, changes, table), stays === undefined ? [] : ['field']);
      // Undone once, nothing of it is undone again, whatever somebody sets.
      const rest = withoutOpenings(changes, { since: 0, until: 10 }, ['field'], table);
      assert.deepEqual([...openedSince(rest, table)], []);
      for (const value of [undone, now, ...pairs.flat()]) {
        assert.deepEqual(putBack({ field: value }, rest, table), {});
      }
    });
  }
}

test('what was opened and closed again is known with its time, also in a burst of changes that became one', () => {
  const table: Settings = { size: ordered(1, 2), books: shown };
  let kept: readonly KeptChange[] = [];
  for (let at = 5; at <= 40; at++) {
    const [before, after] = at % 2 === 1 ? [1, 2] : [2, 1];
    kept = keepChange(kept, change(at, { size: before, books: [`${at}`] }, { size: after, books: [] }), table);
  }
  assert.deepEqual([...openedSince(kept, table)], [['size', 5]]);
  assert.deepEqual([...openedSince(changesSince(kept, 0, 41), table)], [['size', 5]]);
  assert.deepEqual([...openedSince(changesSince(kept, 6), table)], [['size', 0]]);
  const rest = withoutOpenings(kept, { since: 0, until: 41 }, ['size'], table);
  assert.deepEqual([...openedSince(rest, table)], []);
});

test('what somebody else closed is not given again where a burst of changes became one, and what is as it was before stays', () => {
  const table: Settings = { size: ordered(1, 2), books: added };
  for (const [first, left] of [
    [{ books: ['a', 'evil', 'other'] }, { books: ['a'] }],
    [{ books: ['a'] }, {}],
  ] as const) {
    let kept = keepChange([], change(0, { books: ['a', 'evil'] }, first), table);
    kept = keepChange(kept, change(1, { books: ['a'] }, { books: ['a', 'evil'] }), table);
    for (let n = 2; n < 30; n++) {
      const [odd, even] = [{ books: ['a', 'evil'] }, { books: ['a', 'evil', 'b'] }];
      kept = keepChange(kept, n % 2 === 0 ? change(n * 10, odd, even) : change(n * 10, even, odd), table);
    }
    assert.deepEqual(putBack({ size: 0, books: ['a', 'evil'] }, kept, table), left);
  }
});

test('what a key gave a field is told from what the field had before, though a burst of its changes became one', () => {
  const change = (at: number, before: string | null, after: string | null): KeptChange => ({
    ...{ at, fields: { only: { before, after } } },
  });
  const removed = change(5, 'evil', null);
  let kept = [0, 10].reduce<readonly KeptChange[]>((all, at) => keep(all, change(at, null, 'evil')), []);
  for (let at = 200; at <= 1000; at += 100) {
    kept = keep(kept, at % 200 === 0 ? change(at, 'evil', null) : change(at, null, 'evil'));
  }
  assert.ok((kept[0]?.at ?? 0) > removed.at, 'the first of them lasts longer than the change of another key');
  assert.equal(isGiven([removed, ...kept], 'only', 'evil'), true);
  const back = [change(1, 'own', null), change(2, null, 'own')];
  for (const value of ['own', 'other']) assert.equal(isGiven(back, 'only', value), false);
});
