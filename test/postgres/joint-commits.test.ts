// store: PostgreSQL
/** Units of work that arrive together share a transaction. Each must end as if it had been alone. */
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { openNetwork } from '../../lab/faults/network.ts';
import { record } from '../../src/audit/audit.ts';
import { lockCode, spendCode } from '../../src/credentials/code-store.ts';
import { lockFamily, readFamily, revokeFamily, rotateFamily } from '../../src/credentials/token-family-store.ts';
import { createKeySet } from '../../src/keys/store.ts';
import { takeTogether } from '../../src/limits/limits.ts';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import {
  type Database,
  type DatabaseMeter,
  StoreUnavailable,
  type Work,
} from '../../src/platform/database/database.ts';
import { connections, deadline } from '../../src/platform/database/postgres/connections.ts';
import { openPostgres } from '../../src/platform/database/postgres/open.ts';
import { reaperPool, servicePool } from '../../src/platform/database/postgres/pools.ts';
import { openPrimary } from '../../src/platform/database/postgres/primary.ts';
import { reaper } from '../../src/platform/database/postgres/reaper.ts';
import { many } from '../../src/platform/database/statement.ts';
import { type Fixture, family, fixture, NOW } from '../store/rows.ts';
import { startPostgres } from '../support/postgres.ts';
import { ownDatabase } from '../support/postgres-database.ts';

const started = process.env['TESSERA_TEST_POSTGRES'] === undefined ? await startPostgres() : undefined;
if (started !== undefined) process.env['TESSERA_TEST_POSTGRES'] = started.url;

const ORIGIN = { actor: { type: 'system', id: null }, address: null, requestId: null } as const;
const LIMITED = { name: 'token', origin: ORIGIN } as const;

let own: NonNullable<Awaited<ReturnType<typeof ownDatabase>>>;
/** A node that has run these units before, so that it knows their statements, and how many units its commits had. */
let node: Database;
const sizes: number[] = [];
let retried = 0;
const meter: DatabaseMeter = {
  committed: (units) => void sizes.push(units),
  retried: () => void retried++,
  shared() {},
};
/** Another connection to the same database. */
let other: Client;

before(async () => {
  const made = await ownDatabase();
  assert.ok(made !== undefined);
  own = made;
  node = await openPostgres(own.url, toCurrentSchema, meter);
  await node.commit(() => createKeySet({ kid: 'kid', sealed: 'sealed' }, 'version', NOW));
  await warm(node, sizes);
  other = new Client({ connectionString: own.url });
  await other.connect();
});
after(async () => {
  await other.end();
  await node.close();
  await own.drop();
  await started?.stop();
});

let nextId = 1000n;
function make(): Promise<Fixture> {
  nextId += 10n;
  return fixture(node, nextId);
}
const makeSome = (count: number): Promise<Fixture[]> => Promise.all(Array.from({ length: count }, make));

/** Reads and locks a family, and writes it and an event: as a refresh does. */
function* rotate(of: Fixture): Work<number | undefined> {
  const found = yield* lockFamily(of);
  if (found === undefined || found.state.family?.deadAt != null) return undefined;
  const sequence = found.family.sequence + 1;
  const token = { jti: `${of.familyId} ${sequence}`, kid: 'kid', issuedAt: NOW, expiresAt: NOW + 1000 };
  const predecessorJti = found.family.currentToken.jti;
  yield* rotateFamily({ ...token, familyId: of.familyId, predecessorJti, lastNetwork: null, now: NOW });
  yield* record({ at: NOW, type: 'token.refreshed', origin: ORIGIN, details: { familyId: of.familyId } });
  return sequence;
}

const LIMIT = { count: 30, windowMs: 60_000 };
const count = (bucket: string): Work<number> => takeTogether(bucket, LIMIT, NOW, LIMITED);

function* countAndRotate(bucket: string, of: Fixture): Work<number | undefined> {
  return (yield* count(bucket)) > 0 ? undefined : yield* rotate(of);
}

/** Runs units until the statements of them all are known, and they share transactions. */
async function warm(database: Database, committed: readonly number[]): Promise<void> {
  const people = await Promise.all([100n, 110n].map((from) => fixture(database, from)));
  const together = async (unit: (of: Fixture, n: number) => Work<unknown>): Promise<void> => {
    const before = committed.length;
    await Promise.all(people.map((of, n) => database.commit(() => unit(of, n))));
    if (!committed.slice(before).includes(2)) await together(unit);
  };
  await together(rotate);
  await together(function* spend(of, n): Work<void> {
    yield* count(`warm ${n}`);
    yield* lockCode({ hash: of.code });
  });
}

async function sequencesOf(families: readonly Fixture[]): Promise<(number | undefined)[]> {
  return Promise.all(families.map(async (of) => (await node.read(() => readFamily(of)))?.family.sequence));
}

async function eventsOf(families: readonly Fixture[]): Promise<number[]> {
  const sql = `SELECT count(*)::int AS events FROM audit_event WHERE details::json ->> 'familyId' = $1`;
  const found: number[] = [];
  for (const { familyId } of families) {
    const { rows } = await other.query<{ events: number }>(sql, [familyId]);
    found.push(rows[0]?.events ?? 0);
  }
  return found;
}

const of = <T>(value: T, times: number): T[] => Array.from({ length: times }, () => value);

test('units of one turn share a transaction, and each gets its own answer', async () => {
  const families = await makeSome(20);
  const before = sizes.length;
  const answers = await Promise.all(families.map((one) => node.commit(() => rotate(one))));
  assert.deepEqual(answers, of(2, 20));
  assert.ok(Math.max(...sizes.slice(before)) > 1, sizes.slice(before).join());
  assert.deepEqual(await sequencesOf(families), of(2, 20));
  assert.deepEqual(await eventsOf(families), of(1, 20));
});

test('units of one turn for the same row come one after the other', async () => {
  const families = await makeSome(3);
  const units = families.flatMap((one) => of(one, 5));
  const answers = await Promise.all(units.map((one) => node.commit(() => rotate(one))));
  for (const n of families.keys()) assert.deepEqual(answers.slice(5 * n, 5 * n + 5).toSorted(), [2, 3, 4, 5, 6]);
  assert.deepEqual(await eventsOf(families), of(5, 3));
});

test('a unit that throws, reads what it wrote, or takes a rare step leaves the others alone', async () => {
  const families = await makeSome(6);
  const [first, second, third, ...rest] = families;
  assert.ok(first && second && third);
  const results = await Promise.allSettled([
    node.commit(function* fail(): Work<void> {
      yield* rotate(first);
      throw new Error('no');
    }),
    node.commit(function* again(): Work<number | undefined> {
      yield* rotate(second);
      return (yield* readFamily(second))?.family.sequence;
    }),
    node.commit(function* revoke(): Work<boolean> {
      const found = yield* lockFamily(third);
      yield* revokeFamily({ familyId: third.familyId, reason: 'token revoked', now: NOW });
      return found !== undefined;
    }),
    ...rest.map((one) => node.commit(() => rotate(one))),
  ]);
  assert.deepEqual(
    results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.message)),
    ['no', 2, true, 2, 2, 2],
  );
  assert.deepEqual(await sequencesOf(families), [1, 2, 1, 2, 2, 2]);
  assert.deepEqual(await eventsOf(families), [0, 1, 0, 1, 1, 1]);
});

const listClientIds = many((db, _p: object) => db.selectFrom('client').select('id'));

test('a unit that reads by no value leaves the others alone', async () => {
  const families = await makeSome(6);
  const clients = (await node.read(() => listClientIds({}))).length;
  function* listAfterLock(of: Fixture): Work<number> {
    yield* lockFamily(of);
    return (yield* listClientIds({})).length;
  }
  const retriedBefore = retried;
  for (let round = 1; round <= 2; round++) {
    const units = families.map((one, n) => node.commit<unknown>(() => (n < 3 ? listAfterLock(one) : rotate(one))));
    assert.deepEqual(await Promise.all(units), [...of(clients, 3), ...of(round + 1, 3)]);
  }
  assert.equal(retried, retriedBefore);
});

test('if a unit breaks a constraint, only that one fails, and the others happen once', async () => {
  const families = await makeSome(6);
  const [taken] = families;
  assert.ok(taken);
  const results = await Promise.allSettled([
    ...families.map((one) => node.commit(() => rotate(one))),
    node.commit(function* insertAgain(): Work<void> {
      yield* count('constraint');
      yield* family(taken.familyId, taken, 'another');
    }),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    [...of('fulfilled', 6), 'rejected'],
  );
  assert.deepEqual(await sequencesOf(families), of(2, 6));
  assert.deepEqual(await eventsOf(families), of(1, 6));
});

test('a unit whose row another transaction has locked waits alone, and sees what became of it', async () => {
  const [locked, ...rest] = await makeSome(8);
  assert.ok(locked);
  await other.query('BEGIN');
  await other.query(`UPDATE token_family SET dead_at = 1, dead_reason = 'revoked' WHERE id = $1`, [locked.familyId]);
  const waiting = node.commit(() => rotate(locked));
  // The others of its turn have their answers while it waits.
  assert.deepEqual(await Promise.all(rest.map((one) => node.commit(() => rotate(one)))), of(2, 7));
  await other.query('COMMIT');
  assert.equal(await waiting, undefined);
  assert.deepEqual(await eventsOf([locked, ...rest]), [0, ...of(1, 7)]);
});

test('units that wait for the same row use one connection, and leave the others to the rest', async () => {
  const [locked, ...rest] = await makeSome(4);
  assert.ok(locked);
  await other.query('BEGIN');
  await other.query('SELECT FROM token_family WHERE id = $1 FOR UPDATE', [locked.familyId]);
  // More than there are connections.
  const waiting = of(locked, 30).map((one) => node.commit(() => rotate(one)));
  assert.deepEqual(await Promise.all(rest.map((one) => node.commit(() => rotate(one)))), of(2, 3));
  await other.query('COMMIT');
  const answers = (await Promise.all(waiting)).map(Number);
  assert.deepEqual(
    answers.toSorted((a, b) => a - b),
    answers.map((_, n) => n + 2),
  );
});

test('a caller that comes too late does not cost a connection', async (t) => {
  const primary = openPrimary(own.url, { acceptsLoss: false });
  const reaping = reaper(reaperPool(primary));
  const writers = connections(servicePool(primary, 1), primary, reaping);
  t.after(async () => {
    await Promise.all([writers.close(), reaping.close()]);
    await primary.close();
  });
  const askProcess = (until: number) =>
    writers.lend(until, async (ask) => (await ask({ text: 'SELECT pg_backend_pid() AS pid' })).rows);
  const before = await askProcess(deadline());
  await assert.rejects(askProcess(performance.now() - 1), StoreUnavailable);
  assert.deepEqual(await askProcess(deadline()), before);
  assert.equal(writers.failures(), 0);
});

test('a write that is certain is not taken for granted', async () => {
  const codes = await makeSome(4);
  const [spent, ...rest] = codes;
  assert.ok(spent);
  const spend = ({ code: hash, familyId }: Fixture) => spendCode({ hash, familyId, now: NOW });
  function* withLock(one: Fixture): Work<boolean> {
    yield* lockCode({ hash: one.code });
    return yield* spend(one);
  }
  assert.equal(await node.commit(() => withLock(spent)), true);
  const units = [spent, ...rest].map((one) => node.commit(() => withLock(one)));
  assert.deepEqual(await Promise.all(units), [false, true, true, true]);
});

test('of requests that arrive together, at several nodes, exactly as many as the limit are within it', async (t) => {
  const second = await openPostgres(own.url, toCurrentSchema);
  t.after(() => second.close());
  const takeAll = (bucket: string, times: number) =>
    Promise.all(Array.from({ length: times }, (_, n) => (n % 2 === 0 ? node : second).commit(() => count(bucket))));
  for (let round = 0; round < 10; round++) {
    const bucket = `limit ${round}`;
    const waits = await takeAll(bucket, 100);
    assert.equal(waits.filter((seconds) => seconds === 0).length, LIMIT.count);
    assert.ok(waits.every((seconds) => seconds === 0 || seconds === 60));
  }
  const { rows } = await other.query(`SELECT count(*)::int AS events FROM audit_event WHERE type = 'limit.exceeded'`);
  assert.deepEqual(rows, [{ events: 10 }]);
});

test('a unit above its limit writes nothing of what it would have written within it', async () => {
  const families = await makeSome(LIMIT.count + 10);
  const before = sizes.length;
  const answers = await Promise.all(families.map((one) => node.commit(() => countAndRotate('above', one))));
  assert.ok(Math.max(...sizes.slice(before)) > LIMIT.count, sizes.slice(before).join());
  assert.deepEqual(answers, [...of(2, LIMIT.count), ...of(undefined, 10)]);
  assert.deepEqual(await sequencesOf(families), [...of(2, LIMIT.count), ...of(1, 10)]);
  assert.deepEqual(await eventsOf(families), [...of(1, LIMIT.count), ...of(0, 10)]);
});

test('units above their limit share a transaction, although they would need the same row', async () => {
  const one = await make();
  await Promise.all(Array.from({ length: LIMIT.count }, () => node.commit(() => count('flood'))));
  const before = sizes.length;
  const answers = await Promise.all(Array.from({ length: 40 }, () => node.commit(() => countAndRotate('flood', one))));
  assert.deepEqual(answers, of(undefined, 40));
  assert.deepEqual(sizes.slice(before), [40]);
});

test('a request that is counted, and then leaves its transaction, is counted once', async () => {
  const families = await makeSome(10);
  // Each family twice: the second unit leaves when the first one has locked the row.
  const units = [...families, ...families].map((one) => node.commit(() => countAndRotate('counted once', one)));
  assert.deepEqual((await Promise.all(units)).toSorted(), [...of(2, 10), ...of(3, 10)]);
  const { rows } = await other.query(`SELECT count::int FROM rate_count WHERE bucket = 'counted once'`);
  assert.deepEqual(rows, [{ count: 20 }]);
});

test('if another transaction holds a count, the others of its turn do not wait until it ends', async () => {
  const [held, ...rest] = await makeSome(8);
  assert.ok(held);
  await node.commit(() => count('held'));
  await other.query('BEGIN');
  await other.query(`UPDATE rate_count SET count = count + 1 WHERE bucket = 'held'`);
  const waiting = node.commit(() => countAndRotate('held', held));
  const others = rest.map((one, n) => node.commit(() => countAndRotate(`free ${n}`, one)));
  assert.deepEqual(await Promise.all(others), of(2, 7));
  await other.query('COMMIT');
  assert.equal(await waiting, 2);
  const { rows } = await other.query(`SELECT count::int FROM rate_count WHERE bucket = 'held'`);
  assert.deepEqual(rows, [{ count: 3 }]);
});

test('units that wait for the same count wait for it together, so that others have the connections', async () => {
  const [spare, ...families] = await makeSome(21);
  assert.ok(spare);
  await node.commit(() => count('awaited'));
  await other.query('BEGIN');
  await other.query(`UPDATE rate_count SET count = count + 1 WHERE bucket = 'awaited'`);
  const waiting = families.map((one) => node.commit(() => countAndRotate('awaited', one)));
  const waitForCount = async (): Promise<number> => {
    const { rows } = await other.query<{ waiting: number }>(
      `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows[0]?.waiting ?? 0;
  };
  // Longer than a joint transaction waits.
  await wait(1000);
  assert.equal(await waitForCount(), 1);
  assert.equal(await node.commit(() => countAndRotate('not awaited', spare)), 2);
  await other.query('COMMIT');
  assert.deepEqual(await Promise.all(waiting), of(2, 20));
  const { rows } = await other.query(`SELECT count::int FROM rate_count WHERE bucket = 'awaited'`);
  assert.deepEqual(rows, [{ count: 22 }]);
});

test('if the answer to the commit is lost, all units are told that it may have happened, and none runs again', async (t: TestContext) => {
  const network = await openNetwork({ url: own.url });
  const committed: number[] = [];
  const far = await openPostgres(network.through(own.url), toCurrentSchema, {
    ...meter,
    committed: (n) => void committed.push(n),
  });
  t.after(async () => {
    await far.close();
    await network.close();
  });
  for (let together = false; !together; together = committed.includes(2)) {
    const two = await makeSome(2);
    await Promise.all(two.map((one) => far.commit(() => rotate(one))));
  }
  const families = await makeSome(12);
  let cut = 0;
  network.cutAfterCommit(() => cut++ === 0);
  const results = await Promise.allSettled(families.map((one) => far.commit(() => rotate(one))));
  network.cutAfterCommit(() => false);
  const lost = families.filter((_, n) => results[n]?.status === 'rejected');
  assert.ok(lost.length > 1, 'units shared the transaction');
  for (const result of results) assert.ok(result.status === 'fulfilled' || result.reason instanceof StoreUnavailable);
  await nextTurn();
  // The server had committed: each happened once.
  assert.deepEqual(await sequencesOf(families), of(2, 12));
  assert.deepEqual(await eventsOf(families), of(1, 12));
});
