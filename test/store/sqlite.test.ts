// store: SQLite
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { findAccount } from '../../src/accounts/store.ts';
import { readTokenHolder } from '../../src/credentials/token-family-store.ts';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import { sqliteBuilder } from '../../src/platform/database/sqlite/dialect.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open.ts';
import { compile } from '../../src/platform/database/statement.ts';
import { planOf, planProblem } from '../support/plan-checker.ts';
import { storeContract } from './contract.ts';
import { removalStatements } from './removal-statements.ts';
import { account } from './rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-store-'));
after(() => rmSync(folder, { recursive: true, force: true }));

storeContract('SQLite in a file', async () => {
  const path = join(folder, 'contract.db');
  return {
    database: await openSqlite(path, toCurrentSchema),
    reopen: () => openSqlite(path, toCurrentSchema),
    dispose: async () => {},
  };
});

storeContract('SQLite in memory', async () => {
  const database = await openSqlite(':memory:', toCurrentSchema);
  return { database, reopen: undefined, dispose: () => database.close() };
});

test('units of one turn share a commit: when one has settled, all have', async () => {
  const database = await openSqlite(join(folder, 'shared.db'), toCurrentSchema);
  let settled = 0;
  const units = Array.from({ length: 50 }, (_, n) => database.commit(() => account(String(n + 1))));
  for (const unit of units) void unit.then(() => settled++);
  assert.equal(settled, 0);
  await units[49];
  assert.equal(settled, 50);
  await database.close();
});

/** How the file of an empty database would be searched. */
async function onSchema<T>(look: (connection: DatabaseSync) => T): Promise<T> {
  const path = join(folder, 'plan.db');
  await (await openSqlite(path, toCurrentSchema)).close();
  const connection = new DatabaseSync(path);
  try {
    return look(connection);
  } finally {
    connection.close();
  }
}

test('a request reads no grant: an index of those that were revoked says whether this one was', async () => {
  const step = readTokenHolder({ familyId: '1', accountId: '2', clientId: '3' }).next();
  assert.ok(!step.done);
  const { sql } = compile(step.value.statement, sqliteBuilder);
  const plan = await onSchema((connection) => planOf(connection, sql));
  assert.ok(
    plan.some((detail) => detail.startsWith('SEARCH g USING COVERING INDEX consent_grant_revoked')),
    plan.join('\n'),
  );
});

test('a statement that goes through a table of what people do is noticed, whatever the table is called in it', async () => {
  await onSchema((connection) => {
    const problem = (sql: string) => planProblem(sql, planOf(connection, sql));
    const families = 'select "f"."id" from "token_family" as "f"';
    assert.equal(problem(`${families} where "f"."account_id" = ?`), 'SCAN f');
    assert.match(problem(`${families} where "f"."ends_at" > ?`) ?? '', /token_family_by_end \(ends_at>\?\)/);
    assert.equal(problem(`${families} where "f"."grant_id" = ?`), undefined);
    assert.equal(problem('select "kid" from "signing_key" where "retired_at" is null'), undefined);
    assert.equal(problem('select "id" from "account" where "display_name" = ? limit ?'), 'SCAN account');
    const newest = (column: string) =>
      `select "found"."id" from (select "id" from "account" where "${column}" > ? order by "id" limit ?) as "found"`;
    assert.equal(problem(newest('id')), undefined);
    assert.match(problem(newest('display_name')) ?? '', /^SCAN account/);
  });
});

test('two connections on one file see each other’s commits at once', async () => {
  const path = join(folder, 'two.db');
  const [one, two] = [await openSqlite(path, toCurrentSchema), await openSqlite(path, toCurrentSchema)];
  for (let n = 1; n <= 20; n++) {
    const [writer, reader] = n % 2 ? [one, two] : [two, one];
    await writer.commit(() => account(String(n)));
    assert.ok(await reader.read(() => findAccount({ id: String(n) })));
  }
  await Promise.all([one.close(), two.close()]);
});

test('a commit that was acknowledged survives a power cut: every connection syncs the log at each commit', async () => {
  // https://www.sqlite.org/pragma.html#pragma_synchronous: 2 is FULL. It is a setting of a connection, and not in the file.
  const { exec } = DatabaseSync.prototype;
  const opened = new Set<DatabaseSync>();
  DatabaseSync.prototype.exec = function (sql) {
    opened.add(this);
    exec.call(this, sql);
  };
  const path = join(folder, 'full.db');
  try {
    const database = await openSqlite(path, toCurrentSchema);
    await database.commit(() => account('1'));
    assert.equal(opened.size, 1);
    for (const connection of opened) {
      assert.deepEqual({ ...connection.prepare('PRAGMA synchronous').get() }, { synchronous: 2 });
      assert.deepEqual({ ...connection.prepare('PRAGMA journal_mode').get() }, { journal_mode: 'wal' });
      assert.deepEqual({ ...connection.prepare('PRAGMA foreign_keys').get() }, { foreign_keys: 1 });
    }
    await database.close();
  } finally {
    DatabaseSync.prototype.exec = exec;
  }
});

test('the database and its journals are readable by their owner alone', async () => {
  const path = join(folder, 'modes.db');
  const database = await openSqlite(path, toCurrentSchema);
  await database.commit(() => account('1'));
  for (const suffix of ['', '-wal', '-shm']) assert.equal(statSync(path + suffix).mode & 0o777, 0o600, suffix);
  await database.close();
});

test('housekeeping finds what is due by an index, in its order', async () => {
  const path = join(folder, 'plans.db');
  await (await openSqlite(path, toCurrentSchema)).close();
  const connection = new DatabaseSync(path);
  for (const { table, compiled } of removalStatements(sqliteBuilder)) {
    const plan = planOf(connection, compiled.sql).join('\n');
    assert.equal(planProblem(compiled.sql, plan.split('\n')), undefined, `${table}: ${compiled.sql}\n${plan}`);
    assert.doesNotMatch(plan, /ORDER BY/, `${table}: ${compiled.sql}\n${plan}`);
  }
  connection.close();
});
