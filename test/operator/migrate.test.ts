// store: PostgreSQL
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { Client } from 'pg';
import { inspectDatabase, migrateDatabase, openCore } from '../../src/core.ts';
import { timeline } from '../../src/migrations/timeline.ts';
import type { Timeline } from '../../src/platform/database/migrations/kinds.ts';
import { type AppliedMigration, migrationState } from '../../src/platform/database/migrations/position.ts';
import { readConfig } from '../../src/settings/config.ts';
import { fixture } from '../store/rows.ts';
import { ask } from '../support/ask-postgres.ts';
import { ownDatabase } from '../support/postgres-database.ts';
import { serve, tessera } from './command.ts';

const NAMES = Object.keys(timeline);

const expand = (...statements: string[]) => ({ kind: 'expand', statements: () => statements }) as const;

/** A database of one test, and a hold on it from outside. */
interface Place {
  readonly environment: Readonly<Record<string, string>>;
  /** Takes the lock of the migrations, as a process that migrates does; answers how to let go of it. */
  hold(): Promise<() => Promise<void>>;
  tables(): Promise<string[]>;
  execute(sql: string): Promise<void>;
  /** The names that a query finds. */
  names(sql: string): Promise<string[]>;
  drop(): Promise<void>;
}

function filePlace(): Place {
  const dataDir = mkdtempSync(join(tmpdir(), 'tessera-migrate-'));
  const path = join(dataDir, 'tessera.db');
  const on = <T>(work: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(path);
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  const names = async (sql: string) => on((database) => database.prepare(sql).all()).map((row) => String(row['name']));
  return {
    environment: { TESSERA_DATA_DIR: dataDir },
    async hold() {
      const database = new DatabaseSync(path);
      database.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE');
      return async () => database.close();
    },
    tables: () => names("SELECT name FROM sqlite_schema WHERE type = 'table'"),
    execute: async (sql) => on((database) => database.exec(sql)),
    names,
    drop: async () => rmSync(dataDir, { recursive: true }),
  };
}

async function postgresPlace(): Promise<Place> {
  const own = await ownDatabase();
  if (own === undefined) throw new Error('no PostgreSQL to test with');
  const names = async (sql: string) => (await ask<{ name: string }>(own.url, sql)).map(({ name }) => name);
  return {
    environment: own.environment,
    async hold() {
      const client = new Client({ connectionString: own.url });
      await client.connect();
      await client.query('BEGIN; SELECT pg_advisory_xact_lock(3853314791062309107)');
      return () => client.end();
    },
    tables: () => names("SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'"),
    execute: async (sql) => void (await ask(own.url, sql)),
    names,
    drop: own.drop,
  };
}

const kinds: [string, () => Place | Promise<Place>, boolean][] = [
  ['SQLite', filePlace, false],
  ['PostgreSQL', postgresPlace, process.env['TESSERA_TEST_POSTGRES'] === undefined],
];

for (const [kind, make, skip] of kinds) {
  describe(`on ${kind}`, { skip }, () => {
    const places: Place[] = [];
    const place = async (): Promise<Place> => {
      const made = await make();
      places.push(made);
      return made;
    };
    after(async () => {
      for (const { drop } of places) await drop();
    });
    const applied = async ({ environment }: Place): Promise<readonly string[]> => {
      const inspection = await inspectDatabase(readConfig(environment), Date.now);
      await inspection?.close();
      return (inspection?.applied ?? []).map(({ name }) => name);
    };

    test('the command says each migration, its number, how many there are and its time; then nothing is pending', async () => {
      const { environment: env } = await place();
      const dry = await tessera(['migrate', '--dry-run'], { env });
      assert.equal(dry.code, 0, dry.stderr);
      for (const [index, name] of NAMES.entries()) {
        assert.ok(dry.stdout.includes(`${index + 1} of ${NAMES.length}  ${name}\n`), dry.stdout);
      }
      const pending = await tessera(['migrate', '--dry-run', '--json'], { env });
      assert.deepEqual(JSON.parse(pending.stdout), { pending: NAMES }, 'a dry run changes nothing');
      const ran = await tessera(['migrate'], { env });
      assert.equal(ran.code, 0, ran.stderr);
      const lines = ran.stdout.split('\n');
      for (const [index, name] of NAMES.entries()) {
        assert.match(lines[index] ?? '', new RegExp(`^${index + 1} of ${NAMES.length} {2}${name} {2}\\d+ ms$`));
      }
      const again = await tessera(['migrate'], { env });
      assert.deepEqual([again.code, again.stderr], [0, '']);
      assert.match(again.stdout, /^Nothing to do/);
      assert.deepEqual(JSON.parse((await tessera(['migrate', '--json'], { env })).stdout), { ran: [], findings: [] });
      const server = await serve({ env });
      assert.equal((await fetch(`${server.baseUrl}/health/ready`)).status, 200, 'the server runs on it');
      await server.stop();
    });

    test('what a migration cannot decide is reported with the remedy, by the command and to a script', async () => {
      const at = await place();
      const config = readConfig(at.environment);
      await migrateDatabase(config);
      const finding = 'The accounts 1 and 2 have one address: tessera user update 1 --email <address>';
      const found: string[] = [];
      const steps: Timeline = {
        ...timeline,
        '9000-rewrite': {
          kind: 'rewrite',
          statements: () => [],
          async rewrite(query) {
            await query("INSERT INTO rate_count VALUES ('rewritten', 1, 1)");
            return [finding];
          },
        },
      };
      const ran = await migrateDatabase(config, { steps, progress: { found: (_step, text) => void found.push(text) } });
      assert.deepEqual([ran, found], [['9000-rewrite'], [finding]]);
      assert.deepEqual(await at.names("SELECT bucket AS name FROM rate_count WHERE bucket = 'rewritten'"), [
        'rewritten',
      ]);
      assert.deepEqual(await migrateDatabase(config, { steps }), []);
    });

    test('the rights that operators gave before are known, and by whom', async () => {
      const at = await place();
      const config = readConfig(at.environment);
      const earlier = Object.entries(timeline).filter(([name]) => name < '0032-given-rights');
      await migrateDatabase(config, { steps: Object.fromEntries(earlier) });
      const rows = [
        "INSERT INTO admin_key (id, name, hash, created_at, role, maker_id) VALUES (2, 'made', 'a', 20, 'admin', 1)",
        "INSERT INTO admin_key (id, name, hash, created_at, role) VALUES (1, 'of the server', 'b', 10, 'owner')",
        `INSERT INTO account (id, username, email, email_key, email_verified, generation, display_name, about, language, social_links, avatar_color,
          created_at, updated_at) VALUES (3, 'ada', 'a@b.example', 'a@b.example', 1, 'g', 'Ada', '', 'en', '[]', 'c', 1, 1)`,
        "INSERT INTO organization (id, name, domain, created_at) VALUES (4, 'acme', 'acme.example', 1)",
        "INSERT INTO operator_grant (account_id, role, maker_id, created_at) VALUES (3, 'auditor', 2, 30)",
        "INSERT INTO operator_grant (account_id, role, created_at) VALUES (3, 'developer', 30)",
        "INSERT INTO membership (account_id, organization_id, role, role_maker_id, role_given_at) VALUES (3, 4, 'OWNER', 2, 40)",
      ];
      for (const row of rows) await at.execute(row);
      await migrateDatabase(config);
      const right = ['kind', 'maker_id', 'holder_id', 'role', 'COALESCE(organization_id, 0)', 'given_at'];
      const found = await at.names(`SELECT ${right.join(" || ' ' || ")} AS name FROM given_right ORDER BY given_at`);
      assert.deepEqual(found, ['admin key 1 2 admin 0 20', 'role 2 3 auditor 0 30', 'role 2 3 owner 4 40']);
    });

    test('whom operators let into accounts before is known, but for those whom an older authenticator app keeps out', async () => {
      const at = await place();
      const config = readConfig(at.environment);
      const earlier = Object.entries(timeline).filter(([name]) => name < '0035-account-openings');
      await migrateDatabase(config, { steps: Object.fromEntries(earlier) });
      const rows = [3, 4].map(
        (
          id,
        ) => `INSERT INTO account (id, username, email, email_key, email_verified, generation, display_name, about, language, social_links,
          avatar_color, created_at, updated_at) VALUES (${id}, 'u${id}', 'u${id}@b.example', 'u${id}@b.example', 1, 'g', 'Ada', '', 'en', '[]', 'c', 10, 10)`,
      );
      rows.push(
        "INSERT INTO totp_secret (account_id, sealed, generation, created_at, confirmed_at, last_step) VALUES (4, 's', 'g', 20, 25, 0)",
      );
      const acts = [
        "3, 1, 'created', 10",
        "3, 1, 'address', 10",
        "3, 1, 'password', 20",
        "3, 1, 'username', 20",
        "4, 1, 'address', 30",
        "4, 2, 'recovered', 25",
      ];
      for (const act of acts) {
        rows.push(`INSERT INTO account_act (account_id, operator_id, kind, acted_at) VALUES (${act})`);
      }
      for (const row of rows) await at.execute(row);
      await migrateDatabase(config);
      const opening = [
        'operator_id',
        'account_id',
        'kind',
        'acted_at',
        'COALESCE(usable_at, 0)',
        'COALESCE(moved_at, 0)',
      ];
      const found = await at.names(`SELECT ${opening.join(" || ' ' || ")} AS name FROM account_opening ORDER BY id`);
      assert.deepEqual(found, ['1 3 password 20 20 0', '1 4 address 30 0 30', '2 4 recovered 25 25 0']);
    });

    test('which accounts were created or connected with a provider of an operator is known from before', async () => {
      const at = await place();
      const config = readConfig(at.environment);
      const earlier = Object.entries(timeline).filter(([name]) => name < '0042-provider-openings');
      await migrateDatabase(config, { steps: Object.fromEntries(earlier) });
      const rows = [3, 4].map(
        (
          id,
        ) => `INSERT INTO account (id, username, email, email_key, email_verified, generation, display_name, about, language, social_links,
          avatar_color, created_at, updated_at) VALUES (${id}, 'u${id}', 'u${id}@b.example', 'u${id}@b.example', 1, 'g', 'Ada', '', 'en', '[]', 'c', 10, 10)`,
      );
      rows.push(
        "INSERT INTO totp_secret (account_id, sealed, generation, created_at, confirmed_at, last_step) VALUES (4, 's', 'g', 20, 25, 0)",
        `INSERT INTO upstream (id, name, kind, display_name, issuer, client_id, scopes, sign_up, sign_up_domains, status, position, created_at, updated_at)
          VALUES (7, 'up', 'oidc', 'Up', 'https://up.example', 'c', '[]', 'nobody', '[]', 'active', 0, 5, 5)`,
      );
      for (const act of ["1, 'registered', 5", "1, 'enabled', 8", "2, 'enabled', 20", "2, 'rights', 6"]) {
        rows.push(
          `INSERT INTO upstream_act (upstream_id, operator_id, kind, acted_at, changes) VALUES (7, ${act}, '[]')`,
        );
      }
      for (const identity of ["'a', 's3', 3, 10", "'b', 's4', 4, 30"]) {
        rows.push(
          `INSERT INTO upstream_identity (id, subject, account_id, created_at, upstream_id, issuer) VALUES (${identity}, 7, 'https://up.example')`,
        );
      }
      for (const row of rows) await at.execute(row);
      await migrateDatabase(config);
      const opening = ['operator_id', 'account_id', 'kind', 'acted_at', 'COALESCE(usable_at, 0)'];
      const found = await at.names(`SELECT ${opening.join(" || ' ' || ")} AS name FROM account_opening ORDER BY id`);
      assert.deepEqual(found, ['1 3 joined 8 10', '1 4 connected 8 0', '2 4 connected 20 0']);
    });

    test('of many commands at the same time one migrates, and the others find nothing to do', async () => {
      const at = await place();
      const answers = await Promise.all(
        [1, 2, 3, 4].map(() => tessera(['migrate', '--json'], { env: at.environment })),
      );
      for (const { code, stderr } of answers) assert.equal(code, 0, stderr);
      const ran = answers.flatMap(({ stdout }) => (JSON.parse(stdout) as { ran: { name: string }[] }).ran);
      assert.deepEqual(
        ran.map(({ name }) => name),
        NAMES,
      );
      assert.deepEqual(await applied(at), NAMES);
    });

    test('a second migration says that it waits, and then has nothing left to do', async () => {
      const at = await place();
      const config = readConfig(at.environment);
      const letGo = await at.hold();
      let waited = 0;
      const waiting = Promise.withResolvers<void>();
      const progress = {
        waiting() {
          waited++;
          waiting.resolve();
        },
      };
      const first = migrateDatabase(config, { progress });
      await waiting.promise;
      assert.deepEqual(await applied(at), [], 'nothing happens beside the lock');
      await letGo();
      assert.deepEqual(await first, NAMES);
      assert.equal(waited, 1, 'it is said once');
      const held = await at.hold();
      assert.deepEqual(await migrateDatabase(config, { progress }), [], 'without work there is no wait');
      assert.equal(waited, 1);
      await held();
    });

    test('a migration that fails leaves the database as it was, and says which, why and what to do', async () => {
      const at = await place();
      const config = readConfig(at.environment);
      await migrateDatabase(config);
      const before = (await at.tables()).sort();
      const steps: Timeline = {
        ...timeline,
        '9000-good': expand('CREATE TABLE good (id INTEGER PRIMARY KEY)'),
        '9001-bad': expand('CREATE TABLE half (id INTEGER PRIMARY KEY)', 'INSERT INTO nowhere VALUES (1)'),
        '9002-never': expand(),
      };
      const seen: string[] = [];
      const progress = {
        began: ({ name, number, of }: { name: string; number: number; of: number }) =>
          void seen.push(`${number}/${of} ${name}`),
      };
      await assert.rejects(migrateDatabase(config, { steps, progress }), {
        name: 'ConfigError',
        message: /The migration 9001-bad failed: .*nowhere.* The database is as it was before.* run: tessera migrate/,
      });
      assert.deepEqual(seen, ['1/3 9000-good', '2/3 9001-bad']);
      assert.deepEqual((await at.tables()).sort(), before);
      assert.deepEqual(await applied(at), NAMES);
      assert.deepEqual(await migrateDatabase(config), [], 'this version still runs on it');
      const mended = { ...steps, '9001-bad': expand('CREATE TABLE whole (id INTEGER PRIMARY KEY)') };
      assert.deepEqual(await migrateDatabase(config, { steps: mended }), ['9000-good', '9001-bad', '9002-never']);
    });

    test('a first migration that fails leaves an empty database', async () => {
      const at = await place();
      const steps: Timeline = { '0001-bad': expand('CREATE TABLE half (id INTEGER)', 'DROP TABLE nowhere') };
      await assert.rejects(migrateDatabase(readConfig(at.environment), { steps }), /The migration 0001-bad failed/);
      assert.deepEqual(await at.tables(), []);
    });

    test('on the schema of a later version that only added, this version starts and works, and changes nothing', async () => {
      const at = await place();
      const config = readConfig(at.environment);
      const next = {
        ...timeline,
        '9000-next': expand('ALTER TABLE account ADD COLUMN next TEXT', 'CREATE TABLE next (id INTEGER)'),
      };
      await migrateDatabase(config, { steps: next });
      const { code, stdout } = await tessera(['migrate'], { env: at.environment });
      assert.deepEqual([code, stdout.split(':')[0]], [0, 'Nothing to do']);
      const core = await openCore(config, Date.now);
      await fixture(core.database, 1n << 58n);
      await core.close();
      assert.deepEqual(await applied(at), [...NAMES, '9000-next']);
      const { stdout: report } = await tessera(['doctor'], { env: { ...at.environment, TESSERA_PORT: '9' } });
      assert.match(report, /ok +migrations +A later version has extended the schema \(9000-next\)/);
    });

    test('on a schema that needs a later version nothing starts, and nothing is changed', async () => {
      const at = await place();
      const config = readConfig(at.environment);
      const steps: Timeline = {
        ...timeline,
        '9000-less': { kind: 'contract', earliest: '999.0.0', statements: () => ['DROP TABLE trace_step'] },
      };
      await migrateDatabase(config, { steps });
      const tables = (await at.tables()).sort();
      const runs = await Promise.all(
        [['migrate'], ['migrate', '--dry-run'], ['serve'], ['org', 'list']].map((args) =>
          tessera(args, { env: { ...at.environment, TESSERA_PORT: '0' } }),
        ),
      );
      for (const { code, stderr } of runs) {
        assert.equal(code, 3, stderr);
        assert.match(stderr, /later version of Tessera \(9000-less\).*needs 999\.0\.0 or later, and this is \d/);
      }
      assert.deepEqual((await at.tables()).sort(), tables);
    });

    test('a database of a later version, or one that lacks a step, is refused with 3 and left alone', async () => {
      const at = await place();
      await migrateDatabase(readConfig(at.environment));
      await at.execute("INSERT INTO schema_migration VALUES ('9999-later', '999.0.0', '999.0.0', '2099-01-01')");
      for (const args of [['migrate'], ['migrate', '--dry-run']]) {
        const { code, stderr } = await tessera(args, { env: at.environment });
        assert.equal(code, 3, stderr);
        assert.match(stderr, /changed by a later version of Tessera \(9999-later\)\. Run that version/);
        assert.doesNotMatch(stderr, /^\s+at /m, 'no stack trace');
      }
      const steps: Timeline = { '0001-first': expand(), '0002-later': expand() };
      await at.execute("DELETE FROM schema_migration WHERE name <> '9999-later'");
      await at.execute("UPDATE schema_migration SET name = '0002-later', earliest_version = NULL");
      await assert.rejects(
        migrateDatabase(readConfig(at.environment), { steps }),
        /The migration 0001-first never ran on this database.*Restore a backup/,
      );
    });

    test('a database of a version before 0.2.0 is refused with 3 and left alone', async () => {
      const at = await place();
      await at.execute('CREATE TABLE account (id INTEGER); CREATE TABLE kysely_migration (name TEXT, timestamp TEXT)');
      await at.execute("INSERT INTO kysely_migration VALUES ('0001-contract', '2026-01-01')");
      const tables = (await at.tables()).sort();
      for (const args of [['migrate'], ['migrate', '--dry-run'], ['serve'], ['org', 'list'], ['doctor']]) {
        const { code, stdout, stderr } = await tessera(args, { env: { ...at.environment, TESSERA_PORT: '0' } });
        assert.equal(code, args[0] === 'doctor' ? 1 : 3, stderr);
        assert.match(
          `${stdout}${stderr}`,
          /version of Tessera before 0\.2\.0 made the database.*Run the version that made it, or start with a new one: name another/s,
        );
      }
      assert.deepEqual((await at.tables()).sort(), tables);
    });

    test('a table in which another program that uses Kysely records its migrations is in nobody’s way', async () => {
      const at = await place();
      await at.execute('CREATE TABLE kysely_migration (name TEXT, timestamp TEXT)');
      await at.execute("INSERT INTO kysely_migration VALUES ('0001-tables', '2026-01-01')");
      assert.deepEqual(await migrateDatabase(readConfig(at.environment)), NAMES);
    });
  });
}

const UNKNOWN: readonly [string, AppliedMigration[], string, RegExp | undefined][] = [
  ['one that only added', [{ name: '0003-c', earliest: null }], '0.2.0', undefined],
  ['one that runs beside this version', [{ name: '0003-c', earliest: '0.2.0' }], '0.2.0', undefined],
  ['one that runs beside a patch of it', [{ name: '0003-c', earliest: '0.2.0' }], '0.2.11', undefined],
  [
    'one that needs the next',
    [{ name: '0003-c', earliest: '0.3.0' }],
    '0.2.9',
    /needs 0\.3\.0 or later, and this is 0\.2\.9/,
  ],
  ['one that needs the tenth', [{ name: '0003-c', earliest: '0.10.0' }], '0.9.0', /needs 0\.10\.0 or later/],
  ['one that needs its release', [{ name: '0003-c', earliest: '0.3.0' }], '0.3.0-rc.1', undefined],
  [
    'two of which one needs the next',
    [
      { name: '0003-c', earliest: '1.0.0' },
      { name: '0004-d', earliest: null },
    ],
    '0.9.0',
    /\(0003-c\).*needs 1\.0\.0 or later/,
  ],
];

for (const [which, unknown, version, refusal] of UNKNOWN) {
  test(`an unknown migration: ${which}`, () => {
    const steps: Timeline = { '0001-a': expand(), '0002-b': expand() };
    const known = Object.keys(steps).map((name) => ({ name, earliest: null }));
    const { obstacle, later, pending } = migrationState([...known, ...unknown], steps, version);
    assert.match(obstacle?.message ?? '', refusal ?? /^$/);
    assert.deepEqual([later, pending], [unknown.map(({ name }) => name), []]);
  });
}

test('a later version has run all migrations of this one', () => {
  const applied = ['0001-a', '0003-c'].map((name) => ({ name, earliest: null }));
  const { obstacle } = migrationState(applied, { '0001-a': expand(), '0002-b': expand() }, '0.2.0');
  assert.match(obstacle?.message ?? '', /The migration 0002-b never ran/);
});

describe('the command', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tessera-migrate-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  test('a dry run makes nothing, and a run makes a database but no secret', async () => {
    const dry = await tessera(['migrate', '--dry-run'], { cwd: folder });
    assert.equal(dry.code, 0, dry.stderr);
    assert.deepEqual(readdirSync(folder), []);
    const { code, stderr } = await tessera(['migrate'], { cwd: folder });
    assert.equal(code, 0);
    assert.match(stderr, /^Created a new database: .*tessera\.db$/m);
    assert.ok(!existsSync(join(folder, 'data', 'secret')));
  });

  test('a misspelt one is answered with the right one, and with 2', async () => {
    const { code, stderr } = await tessera(['migrat']);
    assert.equal(code, 2);
    assert.match(stderr, /Did you mean migrate\?/);
  });
});
