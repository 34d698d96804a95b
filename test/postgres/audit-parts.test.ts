// store: PostgreSQL
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Client } from 'pg';
import { listActivity, NEWEST_ACTIVITY } from '../../src/audit/activity-store.ts';
import { record } from '../../src/audit/audit.ts';
import { eraseReasons } from '../../src/audit/erase-store.ts';
import { listEvents } from '../../src/audit/search-store.ts';
import { readBacklog, startHousekeeping, sweep } from '../../src/operations/housekeeping/housekeeping.ts';
import { DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { type Database, StoreUnavailable, type TableParts } from '../../src/platform/database/database.ts';
import { divideTrail, indexParts, onDividableDatabases } from '../support/audit-parts.ts';

// The audit trail in parts: what a statement sees, what goes when, and who waits for it.

const origin = { actor: { type: 'system', id: null }, address: null, requestId: null } as const;
const KEPT = 400 * DAY;

let database: Database;
let parts: TableParts;
let beside: Client;
await onDividableDatabases((own) => {
  ({ database, parts, beside } = own);
});

const add = (at: number, accountId: string | null = null) =>
  database.commit(() => record({ at, type: 'sign_out', origin, accountId }));
/** As if a million events had been recorded. */
const skipMillion = () =>
  beside.query(
    "SELECT setval(pg_get_serial_sequence('audit_event', 'id'), nextval(pg_get_serial_sequence('audit_event', 'id')) + 1000000)",
  );
const divide = () => divideTrail(database);
const throughs = async () => (await database.read(() => parts.list())).map(({ through }) => through);
const times = async (filter = {}) =>
  (await listEvents(database, { after: '0', limit: 200, order: 'asc', filter: { type: 'sign_out', ...filter } })).map(
    ({ at }) => Date.parse(at),
  );

test('a division changes nothing that a statement sees: all events, by id, account and time, and ids that go on', async () => {
  await add(1000, '7');
  await database.commit(() =>
    record({ at: 1001, type: 'account.banned', origin, accountId: '7', details: { reason: 'spam' } }),
  );
  await divide();
  await add(2000, '7');
  await divide();
  await add(3000, '7');
  assert.deepEqual(await throughs(), ['2', '3']);
  const all = await listEvents(database, { after: '0', limit: 10, order: 'asc', filter: {} });
  assert.deepEqual(
    all.map(({ id }) => id),
    ['1', '2', '3', '4'],
  );
  const newest = await listEvents(database, { after: '4', limit: 2, order: 'desc', filter: { userId: '7' } });
  assert.deepEqual(
    newest.map(({ id }) => id),
    ['3', '2'],
  );
  const activity = await database.read(() => listActivity({ accountId: '7', before: NEWEST_ACTIVITY, limit: 10 }));
  assert.deepEqual(
    activity.map(({ id }) => id),
    ['4', '3', '2', '1'],
  );
  await database.commit(() => eraseReasons('7'));
  const [banned] = await listEvents(database, { after: '1', limit: 1, order: 'asc', filter: {} });
  assert.deepEqual(banned?.details, { reason: null, erased: ['reason'] });
});

test('where nothing was recorded since the last division, another one changes nothing, and the ids go on', async () => {
  await divide();
  assert.deepEqual(await throughs(), []);
  await add(1000);
  await add(2000);
  await divide();
  await divide();
  assert.deepEqual(await throughs(), ['2']);
  await add(3000);
  const all = await listEvents(database, { after: '0', limit: 10, order: 'asc', filter: {} });
  assert.deepEqual(
    all.map(({ id }) => id),
    ['1', '2', '3'],
  );
});

test('every index of the table is one of each part, and rights, settings and later columns are those of all', async () => {
  const role = `reader_${process.pid}_${Date.now()}`;
  await beside.query(
    `CREATE ROLE ${role}; GRANT SELECT ON audit_event TO ${role}; GRANT INSERT ON audit_event TO PUBLIC`,
  );
  await beside.query('ALTER TABLE audit_event SET (autovacuum_vacuum_scale_factor = 0.02)');
  const facts = async () => {
    const { rows } = await beside.query(
      `SELECT relacl::text[] AS rights, reloptions AS settings, relreplident AS identity,
        (SELECT array_agg(attname || ' ' || attnotnull || ' ' || attidentity::text ORDER BY attnum) FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0) AS columns,
        (SELECT array_agg(pg_get_indexdef(indexrelid) ORDER BY indexrelid::regclass::text) FROM pg_index WHERE indrelid = pg_class.oid) AS indexes
       FROM pg_class WHERE oid = 'audit_event'::regclass`,
    );
    return rows[0] as Record<string, unknown>;
  };
  const before = await facts();
  await add(1);
  await divide();
  assert.deepEqual(await facts(), before);
  const { rows } = await beside.query(
    "SELECT count(*)::int AS count FROM pg_index WHERE indrelid = 'audit_event_through_1'::regclass AND indisvalid",
  );
  assert.equal(rows[0]?.count, (before['indexes'] as string[]).length);
  await beside.query('ALTER TABLE audit_event ADD COLUMN later TEXT');
  await beside.query('SELECT later FROM audit_event_through_1');
  await beside.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
});

test('every statement of an earlier version runs on a divided trail', async () => {
  await add(1);
  await divide();
  const file = new URL('../../lab/releases/0.2.0/statements.postgres.sql', import.meta.url);
  const statements = readFileSync(file, 'utf8')
    .split(';\n')
    .filter((text) => text.includes('"audit_event"'));
  assert.ok(statements.length > 5);
  for (const [index, text] of statements.entries()) await beside.query(`PREPARE s${index} AS ${text}`);
});

test('while the trail is divided, nothing that is recorded fails, is lost or gets an id twice', async () => {
  let recording = true;
  let recorded = 0;
  const writers = Array.from({ length: 16 }, async () => {
    while (recording) {
      await add(1);
      recorded++;
    }
  });
  for (let division = 0; division < 5; division++) {
    const enough = recorded + 50;
    while (recorded < enough) await nextTurn();
    await divide();
  }
  recording = false;
  await Promise.all(writers);
  const { rows } = await beside.query('SELECT count(*)::int AS count, count(DISTINCT id)::int AS ids FROM audit_event');
  assert.deepEqual(rows[0], { count: recorded, ids: recorded });
  assert.equal((await throughs()).length, 5);
});

test('whoever holds the table keeps a division from it, which then changes nothing and is tried again', async () => {
  await add(1);
  await beside.query('BEGIN');
  await beside.query('SELECT 1 FROM audit_event');
  await assert.rejects(
    database.commit(() => parts.divide()),
    StoreUnavailable,
  );
  assert.deepEqual(await throughs(), []);
  await beside.query('COMMIT');
  await divide();
  assert.deepEqual(await throughs(), ['1']);
});

test('a user who does not own the table divides nothing', async () => {
  assert.equal(await database.read(() => parts.mayDivide()), true);
  const role = `owner_${process.pid}_${Date.now()}`;
  await beside.query(`CREATE ROLE ${role}; ALTER TABLE audit_event OWNER TO ${role}`);
  assert.equal(await database.read(() => parts.mayDivide()), false);
  await beside.query(`ALTER TABLE audit_event OWNER TO CURRENT_USER; DROP ROLE ${role}`);
});

/** Runs housekeeping at an instant, once. */
async function housekeep(context: { mock: typeof import('node:test').mock }, now: number, kept: number | null = KEPT) {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const passed = Promise.withResolvers<void>();
  const stop = startHousekeeping({
    database: { ...database, sharedTime: async () => null },
    clock: () => now,
    interval: MINUTE,
    settings: { events: kept, steps: null },
    afterSweep: async () => passed.resolve(),
    failed: (error) => passed.reject(error),
  });
  context.mock.timers.tick(MINUTE);
  await passed.promise;
  await stop();
  context.mock.timers.reset();
}

test('housekeeping has each part indexed by account: that of before this version, and the new one', async (context) => {
  await add(0);
  await divide();
  await skipMillion();
  await add(32 * DAY);
  await skipMillion();
  await add(33 * DAY);
  const states = async () => (await database.read(() => parts.list())).map(({ isIndexed }) => isIndexed);
  assert.deepEqual(await states(), [false]);
  await housekeep(context, 64 * DAY);
  while (!(await states())[0]) await nextTurn();
  assert.deepEqual(await states(), [true, false], 'one at a time, the oldest first');
  await housekeep(context, 64 * DAY + MINUTE);
  while (!(await states())[1]) await nextTurn();
});

test('housekeeping divides the trail when it has a month of many events, and not before, nor a small or an endless one', async (context) => {
  await add(0);
  await housekeep(context, 32 * DAY);
  assert.deepEqual(await throughs(), [], 'few events');
  await skipMillion();
  await add(32 * DAY);
  await housekeep(context, 33 * DAY, null);
  assert.deepEqual(await throughs(), [], 'nothing is ever removed');
  await housekeep(context, 34 * DAY);
  assert.equal((await throughs()).length, 1);
  // What is being built keeps the next division waiting.
  await indexParts(database);
  await add(35 * DAY);
  await skipMillion();
  await add(60 * DAY);
  await housekeep(context, 65 * DAY);
  assert.equal((await throughs()).length, 1, 'not a month yet');
  await housekeep(context, 66 * DAY);
  assert.equal((await throughs()).length, 2);
});

test('a part goes as a whole when all of it is due, which is recorded; what is due of a newer one stays until then', async () => {
  for (const at of [0, 20 * DAY]) await add(at);
  await divide();
  for (const at of [31 * DAY, 60 * DAY]) await add(at);
  await divide();
  await add(61 * DAY);
  const backlog = async (now: number) =>
    (await readBacklog({ database, clock: () => now }, { events: KEPT, steps: null })).get('audit_event');
  assert.equal(await sweep(database, KEPT + 20 * DAY, KEPT), 0);
  assert.deepEqual(await times(), [0, 20 * DAY, 31 * DAY, 60 * DAY, 61 * DAY]);
  assert.equal(await backlog(KEPT + 20 * DAY), 0);
  const due = KEPT + 20 * DAY + HOUR;
  assert.equal(await sweep(database, due, KEPT), 0);
  // It reaches over twenty days: as many hours as it waits minutes.
  assert.equal(await backlog(due + 8 * HOUR), 0);
  assert.equal(await backlog(due + 9 * HOUR), HOUR);
  assert.equal(await sweep(database, due + 8 * HOUR - 1, KEPT), 0);
  assert.equal((await times()).length, 5);
  assert.equal(await sweep(database, due + 8 * HOUR, KEPT), 2);
  assert.deepEqual(await times(), [31 * DAY, 60 * DAY, 61 * DAY]);
  assert.deepEqual(await throughs(), ['4']);
  const filter = { type: 'events.trimmed' };
  const [trimmed] = await listEvents(database, { after: '0', limit: 10, order: 'asc', filter });
  assert.deepEqual(trimmed?.details, { events: 2, throughId: '2' });
});

test('of a part that reaches over much more than a month, the oldest events go one by one, and the rest as a whole', async () => {
  for (const at of [0, 100 * DAY, 199 * DAY, 200 * DAY]) await add(at);
  await divide();
  await add(201 * DAY);
  assert.equal(await sweep(database, KEPT + 50 * DAY, KEPT), 1);
  assert.deepEqual(await times(), [100 * DAY, 199 * DAY, 200 * DAY, 201 * DAY]);
  assert.equal(await sweep(database, KEPT + 150 * DAY, KEPT), 1);
  assert.equal(await sweep(database, KEPT + 200 * DAY, KEPT), 0, 'what is left is less than a month');
  assert.equal(await sweep(database, KEPT + 200 * DAY + HOUR, KEPT), 0);
  assert.equal(await sweep(database, KEPT + 201 * DAY, KEPT), 2);
  assert.deepEqual(await times(), [201 * DAY]);
  assert.deepEqual(await throughs(), []);
});

test('an empty part goes', async () => {
  await add(0);
  await divide();
  await beside.query('DELETE FROM audit_event');
  await add(MINUTE);
  assert.equal(await sweep(database, KEPT + 1, KEPT), 1);
  assert.deepEqual(await throughs(), []);
});

test('a part that somebody reads is dropped later, and everything else that is due goes', async (context) => {
  await add(0);
  await divide();
  await indexParts(database);
  await beside.query('BEGIN');
  await beside.query('SELECT 1 FROM audit_event');
  await housekeep(context, KEPT + HOUR);
  assert.deepEqual(await times(), [0]);
  await beside.query('COMMIT');
  await housekeep(context, KEPT + 2 * HOUR);
  assert.deepEqual(await times(), []);
});

test('a clock that is set wrong drops no part before it was wrong for a minute for each hour of it, also across restarts', async () => {
  for (const at of [0, 31 * DAY]) await add(at);
  await divide();
  await add(32 * DAY);
  const wrong = 1000 * DAY;
  for (const wait of [0, HOUR, 12 * HOUR]) await sweep(database, wrong + wait, KEPT);
  assert.deepEqual(await times(), [0, 31 * DAY, 32 * DAY]);
  // It is set right, and later wrong again.
  await sweep(database, 33 * DAY, KEPT);
  await sweep(database, wrong + DAY, KEPT);
  assert.deepEqual(await times(), [0, 31 * DAY, 32 * DAY]);
  await sweep(database, wrong + DAY + 13 * HOUR, KEPT);
  assert.deepEqual(await times(), [32 * DAY]);
});
