// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { offered, poolsFor, type Room, roomWarnings } from './room.ts';

const usual: Room = { most: 100, reserved: 3, role: undefined, database: undefined };

const cases: [
  string,
  Partial<Room>,
  number,
  { count: number; readers: number; writers: number },
  RegExp | undefined,
][] = [
  ['one process', {}, 1, { count: 97, readers: 5, writers: 10 }, undefined],
  ['as many as there is room for', {}, 5, { count: 97, readers: 5, writers: 10 }, undefined],
  [
    'eight processes',
    {},
    8,
    { count: 97, readers: 3, writers: 7 },
    /offers 97 connections \(max_connections is 100, of which 3 are reserved\), and 8 processes use up to 128: each gets 11 .* → Raise the limit to 131, .*max_connections = 134.*TESSERA_PROCESSES=5/,
  ],
  [
    'a role with three connections',
    { role: 3 },
    1,
    { count: 3, readers: 1, writers: 1 },
    /offers 3 connections \(the user has a limit of 3\), and one process uses up to 16: each gets 3 instead of 16\. → .*ALTER ROLE <user> CONNECTION LIMIT 19;\)\.$/,
  ],
  ['a role with two', { role: 2 }, 1, { count: 2, readers: 1, writers: 1 }, /too few: requests will get 503/],
  ['a database with a limit', { database: 10 }, 1, { count: 10, readers: 2, writers: 4 }, /ALTER DATABASE .* LIMIT 19/],
  ['a limit beyond what there is', { role: 500 }, 1, { count: 97, readers: 5, writers: 10 }, undefined],
  ['more reserved than there is', { most: 3 }, 1, { count: 0, readers: 1, writers: 1 }, /max_connections is 3/],
];
for (const [about, room, processes, expected, said] of cases) {
  test(`connections: ${about}`, () => {
    const whole = { ...usual, ...room };
    assert.deepEqual({ count: offered(whole).count, ...poolsFor(whole, processes) }, expected);
    const [warning] = roomWarnings(whole, processes);
    if (said === undefined) assert.equal(warning, undefined);
    else assert.match(`${warning?.found} → ${warning?.remedy}`, said);
  });
}
