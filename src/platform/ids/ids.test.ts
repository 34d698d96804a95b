// store: SQLite
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Random } from '../../../test/support/random.ts';
import { toCurrentSchema } from '../../migrations/timeline.ts';
import { HOUR, MINUTE, SECOND } from '../clock.ts';
import { StoreUnavailable, type Work } from '../database/database.ts';
import { openSqlite } from '../database/sqlite/open.ts';
import { type Host, thisHost } from './host.ts';
import { type Ids, isSnowflake, leasedIds, nextTick, SNOWFLAKE_EPOCH, snowflake } from './ids.ts';

const BEGINNING = Date.parse('2026-03-01T12:00:00Z');
const folder = mkdtempSync(join(tmpdir(), 'tessera-ids-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const partsOf = (id: string) => ({
  instant: Number(BigInt(id) >> 22n) + SNOWFLAKE_EPOCH,
  node: Number((BigInt(id) >> 12n) & 1023n),
  sequence: Number(BigInt(id) & 4095n),
});

/** A process that no other one can tell to have ended. */
const elsewhere = (): Host => ({ self: undefined, hasEnded: () => false, uptime: () => 0, stopwatch: () => 0 });

let machines = 0;
/** A machine whose time passes when a test lets it. */
function simulatedMachine() {
  const machine = `machine ${machines++}`;
  const dead = new Set<number>();
  let uptime = 5000;
  let pid = 0;
  return {
    pass(milliseconds: number) {
      uptime += milliseconds;
    },
    start(): Host & { die(): void } {
      const self = { machine, pid: ++pid, started: 'then' };
      const born = uptime;
      return {
        self,
        hasEnded: (other) => other.machine === machine && dead.has(other.pid),
        uptime: () => Math.floor(uptime / 10) * 10,
        stopwatch: () => uptime - born,
        die: () => void dead.add(self.pid),
      };
    },
  };
}

/** The 22nd field of proc_pid_stat(5), for a program whose name has no spaces. */
const startOf = (pid: number | undefined): string => readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ')[21] ?? '';

async function many(ids: Ids, count: number): Promise<string[]> {
  const made: string[] = [];
  for (let n = 0; n < count; n++) made.push(await ids.next());
  return made;
}

function assertRising(ids: readonly string[]): void {
  let previous = 0n;
  for (const [n, id] of ids.entries()) {
    const current = BigInt(id);
    // Of close to a million ids: no message is built for those that rise.
    if (current <= previous) assert.fail(`${id} after ${ids[n - 1]}`);
    previous = current;
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
  const database = await openSqlite(':memory:', toCurrentSchema);
  const ids = leasedIds(database, () => now, elsewhere());
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
  const database = await openSqlite(':memory:', toCurrentSchema);
  const ids = leasedIds(database, () => BEGINNING);
  const made = await Promise.all(Array.from({ length: 200 }, () => ids.next()));
  assert.equal(new Set(made).size, 200);
  assert.equal(new Set(made.map((id) => partsOf(id).node)).size, 1);
  await database.close();
});

test('two processes on one database have different node numbers, also after their leases were renewed', async () => {
  let now = BEGINNING;
  const path = join(folder, 'two.db');
  const databases = [await openSqlite(path, toCurrentSchema), await openSqlite(path, toCurrentSchema)] as const;
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

test('a node number passes on for instants past all ids of its last holder: released, at once; held, when its lease ends', async () => {
  let now = BEGINNING;
  const database = await openSqlite(':memory:', toCurrentSchema);
  const start = () => leasedIds(database, () => now, elsewhere());
  const first = start();
  const before = await many(first, 4097);
  await first.release();
  const during = await many(start(), 3);
  assert.deepEqual(partsOf(during[0] ?? ''), { instant: BEGINNING + 2, node: 0, sequence: 0 }, 'the first ran ahead');
  assertRising([...before, ...during]);
  assert.equal(partsOf((await many(start(), 1))[0] ?? '').node, 1, 'the first number is held');
  now += HOUR;
  assert.equal(partsOf((await many(start(), 1))[0] ?? '').node, 0, 'it comes free by the clock');
  await database.close();
});

test('a process whose lease has passed on takes another number', async () => {
  let now = BEGINNING;
  const database = await openSqlite(':memory:', toCurrentSchema);
  const [slow, quick] = [leasedIds(database, () => now, elsewhere()), leasedIds(database, () => now, elsewhere())];
  const early = await slow.next();
  now += 2 * HOUR;
  const taken = await quick.next();
  assert.equal(partsOf(taken).node, partsOf(early).node);
  const late = await slow.next();
  assert.notEqual(partsOf(late).node, partsOf(taken).node);
  await database.close();
});

test('a lease that is kept is renewed before any id needs it, and not before it is due', async () => {
  let now = BEGINNING;
  const database = await openSqlite(':memory:', toCurrentSchema);
  let commits = 0;
  const commit = <T>(work: () => Work<T>): Promise<T> => {
    commits++;
    return database.commit(work);
  };
  const counted = { ...database, commit };
  const ids = leasedIds(counted, () => now, elsewhere());
  await ids.ensureLease();
  assert.equal(commits, 1, 'a number is taken before it is needed');
  for (let tenSeconds = 0; tenSeconds < 60; tenSeconds++) {
    await ids.ensureLease();
    const kept: number = commits;
    await ids.next();
    assert.equal(commits, kept, 'no id waits for the database');
    now += 10 * SECOND;
  }
  assert.equal(commits, 20, 'one every half a minute');
  await ids.release();
  assert.equal(await ids.countLeases(), 0);
  await ids.ensureLease();
  await ids.renew();
  assert.equal(await ids.countLeases(), 0, 'a process that ends takes none any more');
  await database.close();
});

test('with all node numbers leased the error tells the operator what to do, and a freed number is used again', async () => {
  let now = BEGINNING;
  const database = await openSqlite(':memory:', toCurrentSchema);
  const others = Array.from({ length: 1024 }, () => leasedIds(database, () => now, elsewhere()));
  for (const other of others) await other.ensureLease();
  const ids = leasedIds(database, () => now, elsewhere());
  await assert.rejects(ids.next(), (error) => {
    assert.ok(error instanceof StoreUnavailable);
    assert.match(error.message, /^All 1024 node numbers .* are leased.* Stop nodes .* `tessera doctor`/);
    return true;
  });
  await assert.rejects(ids.renew(), StoreUnavailable);
  await others[700]?.release();
  await ids.ensureLease();
  assert.equal(partsOf(await ids.next()).node, 700);
  now += 2 * MINUTE;
  assert.equal(await ids.countLeases(), 0);
  await database.close();
});

test('260 processes that die one after the other on one machine leave no more than two leases', async () => {
  const machine = simulatedMachine();
  let now = BEGINNING;
  const database = await openSqlite(':memory:', toCurrentSchema);
  const made: string[] = [];
  for (let life = 0; life < 260; life++) {
    const process = machine.start();
    const ids = leasedIds(database, () => now, process);
    made.push(...(await many(ids, 5)));
    assert.ok((await ids.countLeases()) <= 2, `${await ids.countLeases()} are held in life ${life}`);
    process.die();
    machine.pass(100);
    now += 100;
  }
  assert.equal(new Set(made).size, made.length);
  assert.ok(partsOf(made.at(-1) ?? '').instant - now < 2 * SECOND, 'the ids keep near the clock');
  await database.close();
});

test('a process that lives, or may live, keeps its lease from the next one on its machine', async () => {
  const machine = simulatedMachine();
  const database = await openSqlite(':memory:', toCurrentSchema);
  const ids = () => leasedIds(database, () => BEGINNING, machine.start());
  const [first, second] = [partsOf(await ids().next()), partsOf(await ids().next())];
  assert.deepEqual([first.node, second.node], [0, 1]);
  const dying = machine.start();
  await leasedIds(database, () => BEGINNING, dying).next();
  dying.die();
  const stranger = leasedIds(database, () => BEGINNING, elsewhere());
  assert.equal(partsOf(await stranger.next()).node, 3, 'a process elsewhere cannot tell that the third has died');
  assert.equal(partsOf(await ids().next()).node, 2);
  await database.close();
});

test('an id that a clock far ahead gave to a process that died is not given again', async () => {
  const machine = simulatedMachine();
  const database = await openSqlite(':memory:', toCurrentSchema);
  let now = BEGINNING;
  const first = machine.start();
  const ids = leasedIds(database, () => now, first);
  const made = await many(ids, 2);
  now += MINUTE;
  made.push(...(await many(ids, 2)));
  first.die();
  now -= MINUTE;
  const later = leasedIds(database, () => now, machine.start());
  made.push(await later.next());
  now += MINUTE;
  made.push(...(await many(later, 2)));
  assert.equal(new Set(made).size, made.length);
  await database.close();
});

// The property that everything rests on: the leases of a number cover instants that do not overlap.
for (let seed = 1; seed <= 8; seed++) {
  test(`no id is made twice by processes that die, stall and restart while their clocks jump (seed ${seed})`, async () => {
    const random = new Random(seed);
    const database = await openSqlite(':memory:', toCurrentSchema);
    const machines = [simulatedMachine(), simulatedMachine(), undefined];
    const offsets = machines.map(() => 0);
    let time = BEGINNING;
    const start = () => {
      const at = random.below(machines.length);
      const process = machines[at]?.start() ?? { ...elsewhere(), die() {} };
      return { process, ids: leasedIds(database, () => time + (offsets[at] ?? 0), process) };
    };
    let running = Array.from({ length: 4 }, start);
    const made: string[] = [];
    for (let step = 0; step < 250; step++) {
      const chosen = random.below(running.length);
      const one = running[chosen] ?? start();
      const act = random.weighted({ make: 8, keep: 2, crash: 3, stop: 1, jump: 1, pass: 4 });
      if (act === 'make') made.push(...(await many(one.ids, random.pick([1, 3, 5000]) ?? 1)));
      if (act === 'keep') await one.ids.ensureLease();
      if (act === 'jump')
        offsets[random.below(offsets.length)] = (random.below(5) - 2) * (random.pick([3, 900, 90 * SECOND]) ?? 0);
      if (act === 'stop') await one.ids.release();
      if (act === 'crash') one.process.die();
      if (act === 'crash' || act === 'stop') running = running.with(chosen, start());
      const passing = act === 'pass' ? (random.pick([1, 5, 400, 50 * SECOND]) ?? 0) : 0;
      time += passing;
      for (const machine of machines) machine?.pass(passing);
    }
    assert.equal(new Set(made).size, made.length);
    await database.close();
  });
}

test('this machine tells a process that runs from one that has ended, and from a later one of its number', async () => {
  const host = thisHost();
  if (process.platform !== 'linux' || host.self === undefined) return assert.equal(host.self, undefined);
  assert.equal(host.self.pid, process.pid);
  assert.equal(host.hasEnded(host.self), false);
  assert.equal(host.hasEnded({ ...host.self, started: '1' }), true, 'its number was given again');
  assert.equal(host.hasEnded({ ...host.self, machine: 'another', started: '1' }), false);
  const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 60_000)']);
  const ended = once(child, 'exit');
  const other = { ...host.self, pid: child.pid ?? 0, started: startOf(child.pid) };
  assert.equal(host.hasEnded(other), false);
  child.kill('SIGKILL');
  await ended;
  assert.equal(host.hasEnded(other), true);
  const before = host.uptime();
  assert.ok(host.uptime() >= before && before > 0);
});
