// store: PostgreSQL
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from 'pg';
import { record } from '../../src/audit/audit.ts';
import { listEvents, searchEvents } from '../../src/audit/search-store.ts';
import type { Database, Step, TableParts } from '../../src/platform/database/database.ts';
import { postgresBuilder } from '../../src/platform/database/postgres/dialect.ts';
import { compile } from '../../src/platform/database/statement.ts';
import { divideTrail, indexParts, onDividableDatabases, untilFree } from '../support/audit-parts.ts';

// The index by account that each part of the audit trail has: what a search finds by it, and what it reads.

const origin = { actor: { type: 'system', id: null }, address: null, requestId: null } as const;

let database: Database;
let parts: TableParts;
let beside: Client;
await onDividableDatabases((own) => {
  ({ database, parts, beside } = own);
});

/** Adds events of accounts 1 to 100 in turn. */
const addMany = (events: number) =>
  beside.query(
    `INSERT INTO audit_event (at, type, outcome, actor_type, account_id, details)
      SELECT n, CASE WHEN n % 1000 < 100 THEN 'sign_out' ELSE 'token.refreshed' END, 'success', 'user', n % 100 + 1, '{}'
      FROM generate_series(1, ${events}) AS n`,
  );

/** Events of a day after all others. */
const addLate = (events: number) =>
  beside.query(
    `INSERT INTO audit_event (at, type, outcome, actor_type, details)
      SELECT 86400000 + n, 'sign_out', 'success', 'user', '{}' FROM generate_series(1, ${events}) AS n`,
  );

test('the events of an account are the same whichever parts have an index by account, in both orders and page by page', async () => {
  for (let part = 0; part < 3; part++) {
    await addMany(3000);
    await divideTrail(database);
  }
  await addMany(3000);
  const idsOf = async (order: 'asc' | 'desc', limit: number, filter: object) => {
    const ids: string[] = [];
    for (let after = '0'; ; ) {
      const page = await listEvents(database, { after, limit, order, filter: { userId: '7', ...filter } });
      ids.push(...page.map(({ id }) => id));
      after = page.at(-1)?.id ?? '';
      if (page.length < limit) return ids;
    }
  };
  const found = async () => ({
    all: await idsOf('asc', 200, {}),
    newest: await idsOf('desc', 17, {}),
    few: await idsOf('asc', 5, { type: 'sign_out' }),
    none: await idsOf('desc', 5, { type: 'sign_in' }),
    since: await idsOf('asc', 200, { since: new Date(1500).toISOString() }),
  });
  const before = await found();
  assert.deepEqual([before.all.length, before.few.length, before.none.length], [120, 12, 0]);
  assert.deepEqual(before.newest, before.all.toReversed());
  for (let indexed = 1; indexed <= 3; indexed++) {
    const [bare] = (await database.read(() => parts.list())).filter(({ isIndexed }) => !isIndexed);
    await parts.index(bare ?? assert.fail());
    assert.deepEqual(await found(), before);
  }
  assert.equal((await database.read(() => parts.list())).filter(({ isIndexed }) => isIndexed).length, 3);
});

test('a search of an account that has many events examines a thousand at a time, and finds the one that matches', async () => {
  await database.commit(() => record({ at: 1, type: 'account.created', origin, accountId: '1' }));
  await beside.query(
    `INSERT INTO audit_event (at, type, outcome, actor_type, account_id, details)
      SELECT n, 'token.refreshed', 'success', 'user', 1, '{}' FROM generate_series(1, 4999) AS n`,
  );
  await divideTrail(database);
  await indexParts(database);
  let reads = 0;
  const read: Database['read'] = (work) => {
    reads++;
    return database.read(work);
  };
  const filter = { userId: '1', type: 'account.created' } as const;
  const [found] = await listEvents({ ...database, read }, { after: '0', limit: 1, order: 'desc', filter });
  assert.equal(found?.id, '1');
  // What is outside of all parts, the parts, the oldest event, and for each thousand its end and the events.
  assert.equal(reads, 3 + 2 * 5);
});

test('a search by account goes by the index of each part, and reads no part from one end to the other', async () => {
  for (let part = 0; part < 3; part++) {
    await addMany(5000);
    await divideTrail(database);
  }
  await addMany(5000);
  await indexParts(database);
  await beside.query('ANALYZE');
  const asked: Step[] = [];
  const read: Database['read'] = (work) =>
    database.read(function* watched() {
      const steps = work();
      let next = steps.next();
      while (!next.done) {
        asked.push(next.value);
        next = steps.next(yield next.value);
      }
      return next.value;
    });
  await listEvents({ ...database, read }, { after: '0', limit: 200, order: 'asc', filter: { userId: '7' } });
  const names = (await database.read(() => parts.list())).map(
    ({ through }) => `audit_event_by_account_and_id_through_${through}`,
  );
  let plans = 0;
  for (const { statement, params } of asked) {
    const { sql, bind } = compile(statement, postgresBuilder);
    if (!sql.includes('"account_id" =') || sql.includes('recursive')) continue;
    plans++;
    for (const mode of ['force_generic_plan', 'force_custom_plan']) {
      await beside.query(`SET plan_cache_mode = ${mode}`);
      const { rows } = await beside.query({
        name: `${mode} ${plans}`,
        text: `EXPLAIN ${sql}`,
        values: [...bind(params)],
      });
      const plan = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
      assert.doesNotMatch(plan, /Seq Scan on audit_event_through/);
      for (const name of names) assert.match(plan, new RegExp(name));
    }
  }
  assert.equal(plans, 2);
  const newest = asked.filter(({ statement }) =>
    compile(statement, postgresBuilder).sql.includes('only "audit_event"'),
  );
  assert.ok(newest.length > 0);
  for (const { statement, params } of newest) {
    const { sql, bind } = compile(statement, postgresBuilder);
    const { rows } = await beside.query(`EXPLAIN ${sql}`, [...bind(params)]);
    assert.doesNotMatch(JSON.stringify(rows), /_through_/);
  }
});

test('a search by time finds the same in parts and outside of them, from every side of their borders', async () => {
  const minute = 60_000;
  for (let part = 0; part < 4; part++) {
    await beside.query(
      `INSERT INTO audit_event (at, type, outcome, actor_type, details)
        SELECT (${part} * 40 + n) * ${minute}, 'sign_out', 'success', 'user', '{}' FROM generate_series(1, 40) AS n`,
    );
    if (part < 3) await divideTrail(database);
  }
  const { rows } = await beside.query('SELECT id, at FROM audit_event ORDER BY id');
  const events = rows.map(({ id, at }: { id: string; at: string }) => ({ id, at: Number(at) }));
  const check = async (from: number, to: number) => {
    const filter = { since: new Date(from * minute).toISOString(), until: new Date(to * minute).toISOString() };
    const expected = events.filter(({ at }) => at >= from * minute && at < to * minute).map(({ id }) => id);
    for (const order of ['asc', 'desc'] as const) {
      const ids: string[] = [];
      for (let after: string | undefined = '0'; after !== undefined; ) {
        const page = await listEvents(database, { after, limit: 30, order, filter });
        ids.push(...page.map(({ id }) => id));
        after = page.length < 30 ? undefined : page.at(-1)?.id;
      }
      assert.deepEqual(ids, order === 'asc' ? expected : expected.toReversed(), `${from} to ${to}, ${order}`);
    }
  };
  const instants = [0, 1, 39, 40, 41, 42, 60, 80, 81, 100, 119, 120, 121, 122, 131, 135, 160, 161, 200];
  for (const from of instants) for (const to of instants) if (from <= to) await check(from, to);
  await divideTrail(database);
  for (const from of [0, 100, 121, 160, 161]) await check(from, 200);
});

test('the newest events, and those since lately, are read without a look into each part', async () => {
  for (let part = 0; part < 3; part++) {
    await addMany(100);
    if (part < 2) await divideTrail(database);
  }
  const asked: string[] = [];
  const read: Database['read'] = (work) =>
    database.read(function* watched() {
      const steps = work();
      let next = steps.next();
      while (!next.done) {
        asked.push(compile(next.value.statement, postgresBuilder).sql);
        next = steps.next(yield next.value);
      }
      return next.value;
    });
  const search = { after: '0', limit: 20, filter: {} } as const;
  await listEvents({ ...database, read }, { ...search, order: 'desc' });
  const inParts = () => asked.splice(0).filter((sql) => !/ from only "audit_event"/.test(sql));
  assert.deepEqual(inParts(), []);
  const since = new Date(30 * 60_000).toISOString();
  await addLate(20);
  await listEvents({ ...database, read }, { ...search, order: 'asc', filter: { since } });
  assert.deepEqual(inParts(), []);
});

test('events that are divided off during a search are found, once', async () => {
  let events = 0;
  for (const order of ['asc', 'desc'] as const) {
    for (const filter of [{ userId: '7' }, {}, { since: new Date(0).toISOString() }]) {
      for (const before of [1, 2, 3]) {
        await addMany(100);
        events += 100;
        let reads = 0;
        const read: Database['read'] = async (work) => {
          const result = await database.read(work);
          reads++;
          if (reads === before) await divideTrail(database);
          return result;
        };
        const found = await listEvents({ ...database, read }, { after: '0', limit: 5000, order, filter });
        assert.equal(found.length, 'userId' in filter ? events / 100 : events);
        assert.equal(new Set(found.map(({ id }) => id)).size, found.length);
      }
    }
  }
});

test('a part that is dropped during a search is left out, and everything else is found', async () => {
  for (const order of ['asc', 'desc'] as const) {
    for (let part = 0; part < 2; part++) {
      await addMany(100);
      await divideTrail(database);
    }
    const listed = await database.read(() => parts.list());
    const [oldest] = listed;
    let isDropped = false;
    const read: Database['read'] = async (work) => {
      const result = await database.read(work);
      if (!isDropped && Array.isArray(result) && result.length === listed.length && 'through' in result[0]) {
        isDropped = true;
        await untilFree(() => database.commit(() => parts.drop(oldest ?? assert.fail())));
      }
      return result;
    };
    const found = await listEvents({ ...database, read }, { after: '0', limit: 1000, order, filter: {} });
    assert.deepEqual([isDropped, found.length], [true, 100 * (listed.length - 1)]);
  }
});

test('one request examines so many events and no more, and the next one goes on after them', async () => {
  await addMany(1);
  await beside.query('ALTER TABLE audit_event ALTER id RESTART WITH 900000');
  await addMany(1);
  const filter = { type: 'sign_out', address: '192.0.2.1' } as const;
  const first = { order: 'asc', after: '0', limit: 10, filter } as const;
  const found = await searchEvents(database, first);
  assert.deepEqual(found, { items: [], next: '200000' });
  for (const order of ['asc', 'desc'] as const) {
    let pages = 0;
    for (let after: string | undefined = '0'; after !== undefined; pages++) {
      after = (await searchEvents(database, { ...first, order, after })).next;
    }
    assert.equal(pages, 5);
    const all = await listEvents(database, { ...first, order, filter: {} });
    assert.deepEqual(
      all.map(({ id }) => id),
      order === 'asc' ? ['1', '900000'] : ['900000', '1'],
    );
  }
  // By account, whose events are looked up by block, all of that is within one request.
  const { next } = await searchEvents(database, { ...first, filter: { userId: '9' } });
  assert.equal(next, undefined);
});

test('an index of a part whose build was broken off is built again', async () => {
  await addMany(1);
  await divideTrail(database);
  await indexParts(database);
  await beside.query(
    "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'audit_event_by_account_and_id_through_1'::regclass",
  );
  assert.deepEqual(
    (await database.read(() => parts.list())).map(({ isIndexed }) => isIndexed),
    [false],
  );
  await indexParts(database);
});
