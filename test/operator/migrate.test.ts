// store: PostgreSQL
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { Client } from 'pg';
import { updateAccount } from '../../src/account-actions/addresses/update-account.ts';
import { findAddressConflicts } from '../../src/accounts/address-conflict-store.ts';
import { removeAccount } from '../../src/accounts/store.ts';
import { inspectDatabase, migrateDatabase, openCore } from '../../src/core.ts';
import { spendCode } from '../../src/credentials/code-store.ts';
import { readConfig } from '../../src/platform/config/config.ts';
import type { ClientTable } from '../../src/platform/database/client-tables.ts';
import { type AppliedMigration, migrationState } from '../../src/platform/database/migrations/position.ts';
import { type Timeline, timeline } from '../../src/platform/database/migrations/timeline.ts';
import type { AuthorizationCodeTable, TokenFamilyTable } from '../../src/platform/database/schema.ts';
import { SYSTEM_ORIGIN } from '../../src/platform/validation/origin.ts';
import { dump, fixture, NOW } from '../store/rows.ts';
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

/** Columns that today's statements write and an older schema lacks. */
const LATER_COLUMNS = [
  ['authorization_code', 'amr'],
  ['authorization_code', 'acr'],
  ['token_family', 'amr'],
  ['token_family', 'acr'],
  ['client', 'contacts'],
  ['client', 'faces'],
  ['client', 'id_token_claims'],
  ['consent_grant', 'face'],
  ['consent_grant', 'ask_again'],
  ['authorization_code', 'face'],
  ['token_family', 'face'],
  ['token_family', 'ends_with_session'],
  ['authorization_code', 'ends_with_session'],
  ['browser_session', 'proved_at'],
  ['browser_session', 'proved_by'],
  ['account', 'password_set_at'],
  ['account', 'deletion_requested_at'],
  ['account', 'deletion_due_at'],
  ['client', 'require_second_factor'],
  ['organization', 'require_second_factor'],
  ['token_family', 'review_at'],
  ['client', 'access'],
  ['client', 'roles'],
  ['client', 'groups_claim'],
  ['client', 'claim_names'],
  ['authorization_code', 'assignment_id'],
  ['authorization_code', 'member_id'],
  ['token_family', 'assignment_id'],
  ['token_family', 'member_id'],
  ['client', 'left_out'],
  ['client', 'resource_scopes'],
  ['client', 'consent'],
  ['client', 'consent_approval'],
  ['consent_grant', 'decided_by'],
] as const;
/** Those that came after the sets of endpoints. */
const AFTER_ENDPOINT_SETS = LATER_COLUMNS.slice(-22);
/** Those that came after the domains in ASCII. */
const AFTER_ASCII_DOMAINS = LATER_COLUMNS.slice(-13);

/** Writes with today's statements into an older schema, which has the columns that came later for as long. */
async function withLaterColumns<T>(
  { execute }: Place,
  write: () => Promise<T>,
  columns: readonly (readonly [table: string, column: string])[] = LATER_COLUMNS,
): Promise<T> {
  const alter = (change: (column: string) => string) =>
    execute(columns.map(([table, column]) => `ALTER TABLE ${table} ${change(column)};`).join(''));
  await alter((column) => `ADD COLUMN ${column} TEXT`);
  const written = await write();
  await alter((column) => `DROP COLUMN ${column}`);
  return written;
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

    test('who has access keeps it where tables are made anew, and what hangs together still does', async () => {
      const at = await place();
      const config = readConfig(at.environment);
      const earlier = NAMES.filter((name) => name < '0012').map((name) => [name, timeline[name] ?? assert.fail()]);
      const before = await openCore(config, Date.now, { migration: { steps: Object.fromEntries(earlier) } });
      // Ids as they are in production: 64 bits wide.
      const [kept, left] = await withLaterColumns(at, async () => [
        await fixture(before.database, 1n << 58n),
        await fixture(before.database, 1n << 59n),
      ]);
      await before.database.commit(() => spendCode({ hash: kept.code, familyId: kept.familyId, now: NOW }));
      const rows = await dump(before.database);
      await before.close();
      const after = await openCore(config, Date.now);
      const { database } = after;
      // Later versions have more columns.
      assert.partialDeepStrictEqual({ ...(await dump(database)), node_lease: [] }, { ...rows, node_lease: [] });
      await database.commit(() => removeAccount({ id: left.accountId }));
      const { authorization_code: codes = [], token_family: families = [] } = await dump(database);
      assert.deepEqual(
        (codes as AuthorizationCodeTable[]).map(({ family_id, amr }) => [family_id, amr]),
        [[kept.familyId, '["pwd"]']],
      );
      assert.deepEqual(
        (families as TokenFamilyTable[]).map(({ id, amr }) => [id, amr]),
        [[kept.familyId, '["pwd"]']],
      );
      await after.close();
    });

    test('decisions §2: what a person had declined before the upgrade is taken from what was issued', async () => {
      const at = await place();
      const config = readConfig(at.environment);
      const earlier = NAMES.filter((name) => name < '0015').map((name) => [name, timeline[name] ?? assert.fail()]);
      const before = await openCore(config, Date.now, { migration: { steps: Object.fromEntries(earlier) } });
      const [narrowed, whole, revoked] = await withLaterColumns(at, async () => [
        await fixture(before.database, 1n << 57n),
        await fixture(before.database, 1n << 58n),
        await fixture(before.database, 1n << 59n),
      ]);
      await before.close();
      await at.execute(`UPDATE consent_grant SET declined_scopes = 'email phone' WHERE id <> ${whole.grantId}`);
      await at.execute(`UPDATE consent_grant SET revoked_at = 1 WHERE id = ${revoked.grantId}`);
      const after = await openCore(config, Date.now);
      const { authorization_code: codes = [], token_family: families = [] } = await dump(after.database);
      for (const issued of [codes, families]) {
        const withdrawn = new Map((issued as TokenFamilyTable[]).map((row) => [row.grant_id, row.withdrawn_scopes]));
        assert.deepEqual(
          [narrowed, whole, revoked].map(({ grantId }) => withdrawn.get(grantId)),
          ['email phone', '', ''],
        );
      }
      await after.close();
    });

    test('decisions §10: existing clients keep their algorithm, and how logout tokens name sessions where they get any', async () => {
      const at = await place();
      const config = readConfig(at.environment);
      const earlier = NAMES.filter((name) => name < '0022').map((name) => [name, timeline[name] ?? assert.fail()]);
      const before = await openCore(config, Date.now, { migration: { steps: Object.fromEntries(earlier) } });
      const add = (from: bigint) => withLaterColumns(at, () => fixture(before.database, from), AFTER_ENDPOINT_SETS);
      const [silent, told] = [await add(1n << 57n), await add(1n << 58n)];
      await before.close();
      await at.execute('UPDATE client SET backchannel_logout_session_required = 0');
      await at.execute(
        `UPDATE client SET backchannel_logout_uri = 'https://app.example/out' WHERE id = ${told.clientId}`,
      );
      const after = await openCore(config, Date.now);
      const clients = ((await dump(after.database))['client'] ?? []) as ClientTable[];
      const found = new Map(clients.map((row) => [row.id, row]));
      for (const [{ clientId }, required] of [
        [silent, 1],
        [told, 0],
      ] as const) {
        const row = found.get(clientId);
        assert.deepEqual(
          [row?.id_token_signed_response_alg, row?.backchannel_logout_session_required],
          ['HS256', required],
        );
      }
      await at.execute('UPDATE client SET id_token_signed_response_alg = NULL');
      await after.close();
    });

    test('domains become ASCII; accounts whose addresses are then one keep theirs, and both are reported', async () => {
      const at = await place();
      const config = readConfig(at.environment);
      const earlier = NAMES.filter((name) => name < '0050').map((name) => [name, timeline[name] ?? assert.fail()]);
      const before = await openCore(config, Date.now, { migration: { steps: Object.fromEntries(earlier) } });
      const owners: string[] = [];
      const write = async () => {
        for (let shift = 50n; shift < 57n; shift++)
          owners.push((await fixture(before.database, 1n << shift)).accountId);
      };
      await withLaterColumns(at, write, AFTER_ASCII_DOMAINS);
      await before.close();
      const [alone, holder, twin, composed, decomposed, local, plain] = owners;
      const addresses = [
        [alone, "o'Hara@Bücher.example"],
        [holder, 'ada@xn--bcher-kva.example'],
        [twin, 'ada@bücher.example'],
        [composed, 'bob@müller.example'],
        [decomposed, 'bob@mu\u0308ller.example'],
        [local, 'jörg@example.com'],
        [plain, 'Plain@Example.com'],
      ] as const;
      for (const [id, email] of addresses) {
        const [text, key] = [email, email.toLowerCase()].map((value) => value.replaceAll("'", "''"));
        await at.execute(`UPDATE account SET email = '${text}', email_key = '${key}' WHERE id = ${id}`);
      }
      await at.execute(
        "INSERT INTO organization (id, name, domain, require_second_factor, created_at) VALUES (1, 'books', 'Bücher.example', 0, 1)",
      );
      const { code, stdout, stderr } = await tessera(['migrate', '--json'], { env: at.environment });
      assert.deepEqual([code, stderr], [0, '']);
      const { ran, findings } = JSON.parse(stdout) as { ran: { name: string }[]; findings: string[] };
      assert.ok(ran.some(({ name }) => name === '0050-ascii-domains'));

      const stored = async (id: string | undefined) => at.names(`SELECT email AS name FROM account WHERE id = ${id}`);
      assert.deepEqual(await stored(alone), ["o'Hara@xn--bcher-kva.example"]);
      assert.deepEqual(await at.names(`SELECT email_key AS name FROM account WHERE id = ${alone}`), [
        "o'hara@xn--bcher-kva.example",
      ]);
      for (const [id, email] of addresses.slice(1)) assert.deepEqual(await stored(id), [email]);
      assert.deepEqual(await at.names('SELECT DISTINCT domain AS name FROM organization'), ['xn--bcher-kva.example']);
      const both = [
        [holder, twin, 'ada@xn--bcher-kva.example'],
        [composed, decomposed, 'bob@xn--mller-kva.example'],
      ] as const;
      assert.equal(findings.length, both.length + 1, findings.join('\n'));
      assert.ok(findings.some((text) => text.includes(`The account ${local} keeps an address`)));
      for (const [one, other, email] of both) {
        const reported = findings.find((text) => text.includes(`${one} and ${other}`)) ?? assert.fail(stdout);
        assert.match(reported, /None of them was changed/);
        assert.ok(reported.includes(email) && reported.includes('tessera user update'), reported);
      }

      // Both accounts can still be changed, and are found by doctor until one of them has another address.
      const doctor = await tessera(['doctor', '--json'], { env: at.environment });
      assert.equal(doctor.stderr, '');
      const seen = (JSON.parse(doctor.stdout) as { findings: { check: string; found: string }[] }).findings
        .filter(({ check }) => check === 'email-addresses')
        .map(({ found }) => found);
      assert.equal(seen.length, 3, seen.join('\n'));
      assert.ok(seen.some((text) => text.includes(`${holder} and ${twin}`)));
      const core = await openCore(config, Date.now);
      const services = { ...core, ...(await core.notices()) };
      const change = (fields: object) => updateAccount(services, twin ?? '', fields, SYSTEM_ORIGIN);
      assert.equal((await change({ displayName: 'Twin' })).profile.email, 'ada@bücher.example');
      await assert.rejects(change({ email: 'ada@bücher.example' }), /email is taken/);
      assert.equal((await change({ email: 'twin@bücher.example' })).profile.email, 'twin@xn--bcher-kva.example');
      assert.equal((await core.database.read(() => findAddressConflicts())).length, 2);
      await core.close();
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
      // Version 0.1.0 looks only into this table.
      const known = await at.names("SELECT name FROM kysely_migration WHERE name >= '0038' ORDER BY name");
      assert.deepEqual(known, ['9000-less']);
    });

    test('a database of a later version, or one that lacks a step, is refused with 3 and left alone', async () => {
      const at = await place();
      await migrateDatabase(readConfig(at.environment));
      await at.execute("INSERT INTO kysely_migration VALUES ('9999-later', '2099-01-01')");
      for (const args of [['migrate'], ['migrate', '--dry-run']]) {
        const { code, stderr } = await tessera(args, { env: at.environment });
        assert.equal(code, 3, stderr);
        assert.match(stderr, /changed by a later version of Tessera \(9999-later\)\. Run that version/);
        assert.doesNotMatch(stderr, /^\s+at /m, 'no stack trace');
      }
      await at.execute("DELETE FROM kysely_migration WHERE name = '0001-contract'");
      await at.execute("UPDATE kysely_migration SET name = '0002-later' WHERE name = '9999-later'");
      const steps: Timeline = { '0001-contract': expand(), '0002-later': expand() };
      await at.execute("DELETE FROM kysely_migration WHERE name <> '0002-later'; DELETE FROM schema_migration");
      await assert.rejects(
        migrateDatabase(readConfig(at.environment), { steps }),
        /The migration 0001-contract never ran on this database.*Restore a backup/,
      );
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
  [
    'one of which nothing is recorded',
    [{ name: '0003-c', earliest: undefined }],
    '0.2.0',
    /Run that version or a later one/,
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
