import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { HOUR } from '../clock.ts';
import { openSqlite } from '../database/sqlite/open.ts';
import { type Ids, leasedIds } from './ids.ts';
import { isSnowflake, nextTick, SNOWFLAKE_EPOCH, snowflake } from './snowflake.ts';

const BEGINNING = Date.parse('2026-03-01T12:00:00Z');
const folder = mkdtempSync(join(tmpdir(), 'tessera-ids-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const partsOf = (id: string) => ({
  instant: Number(BigInt(id) >> 22n) + SNOWFLAKE_EPOCH,
  node: Number((BigInt(id) >> 12n) & 1023n),
  sequence: Number(BigInt(id) & 4095n),
});

async function many(ids: Ids, count: number): Promise<string[]> {
  const made: string[] = [];
  for (let n = 0; n < count; n++) made.push(await ids.next());
  return made;
}

function assertRising(ids: readonly string[]): void {
  for (const [n, id] of ids.entries()) {
    if (n > 0) assert.ok(BigInt(id) > BigInt(ids[n - 1] ?? 0), `${id} after ${ids[n - 1]}`);
  }
}

test('decisions §1: 41 bits of milliseconds since 2024, 10 of node, 12 of sequence', () => {
  assert.equal(new Date(SNOWFLAKE_EPOCH).toISOString(), '2024-01-01T00:00:00.000Z');
  assert.equal(snowflake(SNOWFLAKE_EPOCH, 0, 1), '1');
  assert.equal(snowflake(SNOWFLAKE_EPOCH + 1, 0, 0), String(2 ** 22));
  assert.deepEqual(partsOf(snowflake(BEGINNING, 1023, 4095)), { instant: BEGINNING, node: 1023, sequence: 4095 });
  assert.equal(snowflake(SNOWFLAKE_EPOCH + 2 ** 41 - 1, 1023, 4095), String(2n ** 63n - 1n));
});

for (const [text, expected] of [
  ['1', true],
  ['9223372036854775807', true],
  ['9223372036854775808', false],
  ['0', false],
  ['01', false],
  ['-1', false],
  ['1.0', false],
  ['1e5', false],
  [' 1', false],
  ['1\n', false],
  ['', false],
  ['٣', false],
] as const) {
  test(`${JSON.stringify(text)} is ${expected ? 'an' : 'no'} id`, () => assert.equal(isSnowflake(text), expected));
}

test('nextTick: a full millisecond borrows from the next, and a backward step never repeats', () => {
  assert.deepEqual(nextTick({ instant: 5, sequence: 9 }, 6), { instant: 6, sequence: 0 });
  assert.deepEqual(nextTick({ instant: 5, sequence: 9 }, 5), { instant: 5, sequence: 10 });
  assert.deepEqual(nextTick({ instant: 5, sequence: 9 }, 1), { instant: 5, sequence: 10 });
  assert.deepEqual(nextTick({ instant: 5, sequence: 4095 }, 5), { instant: 6, sequence: 0 });
  assert.deepEqual(nextTick({ instant: 5, sequence: 4095 }, 1), { instant: 6, sequence: 0 });
});

test('ids rise and never repeat: within a millisecond, over a full one, and while the clock steps back an hour', async () => {
  let now = BEGINNING;
  const database = await openSqlite(':memory:');
  const ids = leasedIds(database, () => now);
  const made = await many(ids, 5000);
  now -= HOUR;
  made.push(...(await many(ids, 100)));
  now += 3 * HOUR;
  made.push(...(await many(ids, 10)));
  now -= 2 * HOUR;
  made.push(...(await many(ids, 10)));
  assertRising(made);
  assert.equal(partsOf(made[5109] ?? '').instant, BEGINNING + 2 * HOUR);
  await database.close();
});

test('many at once share one lease', async () => {
  const database = await openSqlite(':memory:');
  const ids = leasedIds(database, () => BEGINNING);
  const made = await Promise.all(Array.from({ length: 200 }, () => ids.next()));
  assert.equal(new Set(made).size, 200);
  assert.equal(new Set(made.map((id) => partsOf(id).node)).size, 1);
  await database.close();
});

test('two processes on one database have different node numbers, also after their leases were renewed', async () => {
  let now = BEGINNING;
  const path = join(folder, 'two.db');
  const databases = [await openSqlite(path), await openSqlite(path)] as const;
  const [one, two] = databases.map((database) => leasedIds(database, () => now)) as [Ids, Ids];
  const made: string[] = [];
  for (let round = 0; round < 6; round++) {
    const [left, right] = [await many(one, 3), await many(two, 3)];
    assert.notEqual(partsOf(left[0] ?? '').node, partsOf(right[0] ?? '').node);
    made.push(...left, ...right);
    now += HOUR / 4;
  }
  assert.equal(new Set(made).size, made.length);
  await Promise.all(databases.map((database) => database.close()));
});

test('a node number passes on only after its last id’s time: released, it is free; held, not before its lease ends', async () => {
  let now = BEGINNING;
  const database = await openSqlite(':memory:');
  const start = () => leasedIds(database, () => now);
  const first = start();
  const before = await many(first, 4097);
  await first.release();
  const second = start();
  const during = await many(second, 3);
  assert.equal(partsOf(during[0] ?? '').node, 1, 'the first ran a millisecond ahead, so its number is not free yet');
  now += 2;
  const third = start();
  const again = await many(third, 3);
  assert.equal(partsOf(again[0] ?? '').node, 0);
  const all = [...before, ...during, ...again];
  assert.equal(new Set(all).size, all.length);
  assert.equal(partsOf((await many(start(), 1))[0] ?? '').node, 2, 'both are held');
  now += HOUR;
  assert.equal(
    partsOf((await many(start(), 1))[0] ?? '').node,
    0,
    'a process that died gives its number back by the clock',
  );
  await database.close();
});

test('a process whose lease has passed on takes another number', async () => {
  let now = BEGINNING;
  const database = await openSqlite(':memory:');
  const [slow, quick] = [leasedIds(database, () => now), leasedIds(database, () => now)];
  const early = await slow.next();
  now += 2 * HOUR;
  const taken = await quick.next();
  assert.equal(partsOf(taken).node, partsOf(early).node);
  const late = await slow.next();
  assert.notEqual(partsOf(late).node, partsOf(taken).node);
  await database.close();
});
