// store: SQLite, PostgreSQL
/** Migrations of tables with many rows: in batches, beside running nodes, and interrupted anywhere. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { migrateDatabase, openCore } from '../../src/core.ts';
import { timeline } from '../../src/migrations/timeline.ts';
import type { Timeline } from '../../src/platform/database/migrations/kinds.ts';
import { changeRows } from '../../src/platform/database/migrations/kinds.ts';
import type { MigrationAdvance } from '../../src/platform/database/migrations/progress.ts';
import { type Config, readConfig } from '../../src/settings/config.ts';
import { tessera } from '../../test/operator/command.ts';
import { fixture } from '../../test/store/rows.ts';
import { RELEASES, releasedLarge } from './fixture.ts';
import { NEXT, NEXT_AT } from './next.ts';
import type { Place } from './places.ts';

const KIND = process.env['TESSERA_TEST_POSTGRES'] === undefined ? 'sqlite' : 'postgres';
const COMMAND = fileURLToPath(new URL('./next-command.ts', import.meta.url));
const [VERSION = ''] = RELEASES;
/** Other databases of the server build indexes as well, and so do new tables. */
const BUILDING = `FROM pg_stat_progress_create_index
  WHERE datname = current_database() AND relid = 'token_family'::regclass`;

const steps: Timeline = { ...timeline, ...NEXT };
/** What is left when the rows are changed. */
const INDEXES = '9003-indexes';
const untilIndexes: Timeline = Object.fromEntries(Object.entries(steps).filter(([name]) => name !== INDEXES));

async function large(): Promise<{ readonly place: Place; readonly config: Config }> {
  const place = await releasedLarge(KIND, VERSION);
  return { place, config: readConfig(place.environment) };
}

/** An interruption after the commit of a batch. */
const interrupted = {
  advanced() {
    throw new Error('interrupted');
  },
};

describe('a migration that changes the rows of a large table', () => {
  const places: Place[] = [];
  after(async () => {
    for (const { drop } of places) await drop();
  });
  const arrive = async () => {
    const arrived = await large();
    places.push(arrived.place);
    return arrived;
  };

  test('gives families that can be used the time of their review, and leaves the others', async () => {
    const { place, config } = await arrive();
    await migrateDatabase(config, { steps });
    assert.deepEqual(
      [await place.count(`token_family WHERE next_at <> ${NEXT_AT}`), await place.count('migration_progress')],
      [0, 0],
    );
    assert.ok((await place.count('token_family WHERE next_at > 0')) > 1000);
  });

  test('continues after the last committed batch: nothing is repeated, nothing is left out', async () => {
    const { place, config } = await arrive();
    await assert.rejects(migrateDatabase(config, { steps, progress: interrupted }), /interrupted/);
    const all = await place.count('token_family');
    const usable = await place.count('token_family WHERE id % 2 = 1');
    const done = await place.count('token_family WHERE next_at > 0');
    assert.ok(done > 0 && done < usable, `${done} of ${usable}`);
    // What a second pass would change again.
    await place.execute('UPDATE token_family SET next_at = 0');
    const advances: MigrationAdvance[] = [];
    await migrateDatabase(config, { steps, progress: { advanced: (_step, advance) => void advances.push(advance) } });
    const rows = advances.filter(({ what }) => what === 'rows').map((advance) => advance.done);
    assert.equal(await place.count('token_family WHERE next_at > 0'), usable - done);
    assert.deepEqual([(rows[0] ?? 0) > 500, rows.at(-1)], [true, all]);
  });

  test('that is interrupted is pending: a dry run and the doctor say how far it is, and commands continue it', async () => {
    const { place, config } = await arrive();
    await assert.rejects(migrateDatabase(config, { steps, progress: interrupted }), /interrupted/);
    const dry = await tessera(['migrate', '--dry-run'], { env: place.environment, command: COMMAND });
    assert.match(dry.stdout, /^1 of 2 {2}9002-rows {2}\(begun: 500 rows are done\)\n2 of 2 /);
    const { stdout: report } = await tessera(['doctor'], {
      env: { ...place.environment, TESSERA_PORT: '9' },
      command: COMMAND,
    });
    assert.match(report, /2 pending: 9002-.*9002-rows has gone through 500 rows, and continues after them/);
    const listed = await tessera(['org', 'list'], { env: place.environment, command: COMMAND });
    assert.equal(listed.code, 0, listed.stderr);
    assert.match(listed.stderr, /^Migrating: 9002-rows, rows: [\d,]+( of about [\d,]+)?$/m);
    assert.equal(
      (await tessera(['migrate', '--dry-run'], { env: place.environment, command: COMMAND })).stdout.split(':')[0],
      'Nothing to do',
    );
  });

  test('fails with what it has done kept, and says so', async () => {
    const { place, config } = await arrive();
    const broken = changeRows({ table: 'token_family', set: 'nowhere = 1', where: () => '1 = 1' });
    const steps = { ...timeline, '9001-column': NEXT['9001-column'] ?? assert.fail(), '9002-rows': broken };
    await assert.rejects(migrateDatabase(config, { steps }), {
      message:
        /The migration 9002-rows failed: .*nowhere.* What is done is kept, and the version that ran on the database/,
    });
    assert.equal(await place.count("schema_migration WHERE name = '9001-column'"), 1);
  });

  test('by a later version and unfinished: this version starts beside it and works', async () => {
    const { config } = await arrive();
    const change = { table: 'token_family', set: 'sequence = sequence', where: () => '1 = 1' };
    const steps = { ...timeline, '9000-rows': changeRows(change) };
    await assert.rejects(migrateDatabase(config, { steps, progress: interrupted }), /interrupted/);
    const core = await openCore(config, Date.now);
    await fixture(core.database, 1n << 58n);
    await core.close();
    assert.deepEqual(await migrateDatabase(config, { steps }), ['9000-rows']);
  });
});

describe('beside running nodes on PostgreSQL', { skip: KIND === 'sqlite' }, () => {
  const ends: (() => Promise<unknown>)[] = [];
  after(async () => {
    for (const end of ends.reverse()) await end();
  });
  const arrive = async () => {
    const arrived = await large();
    ends.push(arrived.place.drop);
    const connect = async () => {
      const client = new Client({ connectionString: arrived.place.environment['TESSERA_DATABASE_URL'] });
      await client.connect();
      ends.push(() => client.end());
      return client;
    };
    return { ...arrived, connect };
  };
  type Connect = () => Promise<Client>;

  /** Waits until an index is being built. That needs the end of the transactions that began before. */
  async function untilBuilding(client: Client): Promise<void> {
    while ((await client.query(`SELECT ${BUILDING}`)).rowCount === 0) await nextTurn();
  }
  const write = (client: Client) =>
    client.query(
      "SET lock_timeout = '30s'; UPDATE token_family SET rotated_at = 1; INSERT INTO rate_count VALUES ('a', 1, 1)",
    );
  const valid = async (client: Client) =>
    (
      await client.query<{ name: string }>(
        "SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indisvalid AND indrelid = 'token_family'::regclass",
      )
    ).rows.map(({ name }) => name);
  async function oldTransaction(connect: Connect): Promise<Client> {
    const old = await connect();
    await old.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM account');
    return old;
  }

  test('a lock that is not to be had stops nobody for long: the migration lets others go first, and tries again', async () => {
    const { config, connect } = await arrive();
    const [old, node] = [await connect(), await connect()];
    await old.query('BEGIN; SELECT FROM token_family');
    const waits = Promise.withResolvers<void>();
    const migrated = migrateDatabase(config, { steps, progress: { retrying: () => waits.resolve() } });
    await Promise.race([waits.promise, migrated]);
    await write(node);
    await old.query('COMMIT');
    assert.equal((await migrated).at(-1), INDEXES);
  });

  test('an index is built while others write, and the next process says that it waits', async () => {
    const { config, place, connect } = await arrive();
    const [node, old] = [await connect(), await oldTransaction(connect)];
    const advances: string[] = [];
    const told = Promise.withResolvers<void>();
    const progress = {
      advanced(_step: unknown, { what }: MigrationAdvance) {
        advances.push(what);
        if (what.startsWith('token_family_by_next, waiting')) told.resolve();
      },
    };
    const migrated = migrateDatabase(config, { steps, progress });
    await untilBuilding(node);
    await write(node);
    const waiting = Promise.withResolvers<void>();
    const second = migrateDatabase(config, { steps, progress: { waiting: () => waiting.resolve() } });
    await Promise.all([waiting.promise, told.promise]);
    const { stdout } = await tessera(['doctor'], {
      env: { ...place.environment, TESSERA_PORT: '9' },
      command: COMMAND,
    });
    assert.match(stdout, /ok +migrations +1 pending: 9003-indexes.*\. A node or command is running them/);
    await old.query('COMMIT');
    // Another process may take over between two steps; together they run each once.
    const ran = [...(await migrated), ...(await second)];
    assert.deepEqual(ran.sort(), Object.keys(NEXT), String(advances));
    assert.ok((await valid(node)).includes('token_family_by_next'));
  });

  test('an index whose build was killed is completed by the server, or by the next run', async () => {
    const { place, connect } = await arrive();
    const [node, old] = [await connect(), await oldTransaction(connect)];
    const child = spawn(process.execPath, [COMMAND, 'migrate'], {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...place.environment },
      stdio: 'ignore',
    });
    const closed = once(child, 'close');
    await untilBuilding(node);
    child.kill('SIGKILL');
    await closed;
    await write(node);
    const next = tessera(['migrate', '--json'], { env: place.environment, command: COMMAND });
    await old.query('COMMIT');
    const { code, stdout, stderr } = await next;
    assert.equal(code, 0, stderr);
    assert.deepEqual(
      (JSON.parse(stdout) as { ran: { name: string }[] }).ran.map(({ name }) => name),
      [INDEXES],
    );
    assert.ok((await valid(node)).includes('token_family_by_next'));
  });

  test('an index that was left invalid is built again', async () => {
    const { config, connect } = await arrive();
    await migrateDatabase(config, { steps: untilIndexes });
    const [node, old] = [await connect(), await oldTransaction(connect)];
    const building = await connect();
    const built = building.query('CREATE INDEX CONCURRENTLY token_family_by_next ON token_family (next_at)');
    built.catch(() => {});
    await untilBuilding(node);
    await node.query(`SELECT pg_cancel_backend(pid) ${BUILDING}`);
    await assert.rejects(built);
    await old.query('COMMIT');
    assert.ok(!(await valid(node)).includes('token_family_by_next'));
    assert.deepEqual(await migrateDatabase(config, { steps }), [INDEXES]);
    assert.ok((await valid(node)).includes('token_family_by_next'));
  });
});
