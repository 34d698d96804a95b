import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { createAdminKey } from '../../src/account-actions/makers/admin-keys.ts';
import { openCore } from '../../src/core.ts';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { StoreUnavailable, type Work } from '../../src/platform/database/database.ts';
import { openPostgres } from '../../src/platform/database/postgres/open.ts';
import { readConfig } from '../../src/settings/config.ts';
import type { PostgresServer } from '../../test/support/postgres.ts';
import { say } from './say.ts';
import { bulkSql, copyPeople, type Environment, type Model, makeModel, type Seed, seedOf } from './seed.ts';
import { BASE_URL, CLIENTS } from './setting.ts';

/** A database of a size, whole. */
export interface Generated {
  readonly people: number;
  readonly environment: Environment;
  readonly url: string;
  readonly seeded: Seed;
  readonly model: Model;
  readonly adminKey: string;
  /** The process of the database server. */
  readonly database: number | undefined;
}

interface Order {
  readonly postgres: PostgresServer;
  readonly folder: string;
  readonly people: number;
  readonly events: number;
  /** When to stop, by `performance.now()`. */
  readonly until: number | undefined;
}

/** How far a database is: kept in a file, so that the next run goes on. */
interface Progress {
  readonly secret: string;
  readonly model: Model;
  readonly adminKey: string;
  people: number;
  events: number;
  isWhole: boolean;
}

const PEOPLE_AT_ONCE = 50_000;
const EVENTS_AT_ONCE = 500_000;
/** The trail reaches back as far as it is kept by default. */
const TRAIL = 400 * 24 * 60 * 60 * 1000;
const MONTHS = 13;

/** Generates a database, or goes on with it. @returns undefined where the time was over before it is whole */
export async function generate({ postgres, folder, people, events, until }: Order): Promise<Generated | undefined> {
  const name = `people${people}`;
  const url = new URL(postgres.url);
  url.pathname = `/${name}`;
  const file = join(folder, `${name}.json`);
  const environment = (secret: string) => ({
    TESSERA_BASE_URL: BASE_URL,
    TESSERA_DATA_DIR: folder,
    TESSERA_DATABASE_URL: url.href,
    TESSERA_SECRET: secret,
    // The generated trail stays as it is, whatever the time.
    TESSERA_AUDIT_RETENTION: 'off',
  });
  if (!existsSync(file)) await begin(postgres.url, name, environment(randomSecret()), file);
  const progress = JSON.parse(readFileSync(file, 'utf8')) as Progress;
  const keep = () => writeFileSync(file, JSON.stringify(progress));
  const isOver = () => until !== undefined && performance.now() > until;
  const month = events / MONTHS;
  const client = new Client({ connectionString: url.href });
  await client.connect();
  const sql = await bulkSql(client);
  try {
    while (progress.people < people) {
      if (isOver()) return undefined;
      const to = Math.min(people, progress.people + PEOPLE_AT_ONCE);
      await sql.run('BEGIN');
      await copyPeople(sql, progress.model, progress.people, to);
      await sql.run('COMMIT');
      progress.people = to;
      keep();
      if (to % (10 * PEOPLE_AT_ONCE) === 0 || to === people) say(`${name}: ${to} of ${people} people`);
    }
    while (progress.events < events) {
      if (isOver()) return undefined;
      const to = Math.min(events, progress.events + EVENTS_AT_ONCE);
      await sql.run(eventsSql(progress.model, { from: progress.events, to, people, events }));
      const isMonth = Math.floor(to / month) > Math.floor(progress.events / month);
      progress.events = to;
      keep();
      // The last month is still recorded.
      if (isMonth && to < events && events >= MONTHS * EVENTS_AT_ONCE) await divide(url.href);
      if (to % (10 * EVENTS_AT_ONCE) === 0 || to === events) say(`${name}: ${to} of ${events} events`);
    }
    if (!progress.isWhole) {
      if (isOver()) return undefined;
      say(`${name}: vacuum`);
      await client.query('VACUUM ANALYZE');
      await client.query('CHECKPOINT');
    }
  } finally {
    await client.end();
  }
  const own = environment(progress.secret);
  const seeded = await seedOf(own, progress.model, people, !progress.isWhole);
  progress.isWhole = true;
  keep();
  const { model, adminKey } = progress;
  return { people, environment: own, url: url.href, seeded, model, adminKey, database: postgres.process.pid };
}

/** What a token family keeps while its refresh token is replaced. */
const KEPT: ReadonlySet<string> = new Set([
  ...['id', 'grant_id', 'account_id', 'client_id', 'account_generation', 'client_generation', 'sid', 'leaf_jti'],
]);

/** Makes the first refresh tokens of so many of those who send requests the current ones again. */
export async function renewRefreshTokens({ url, model, seeded }: Generated, sample: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const sql = await bulkSql(client);
  const columns = (await sql.columns('token_family')).filter((column) => !KEPT.has(column));
  const numbers = Array.from({ length: sample }, (_, person) => seeded.numberOf(person));
  await client.query(
    `UPDATE token_family AS f SET leaf_jti = substr(md5('leaf' || n), 1, 22), ${columns.map((column) => `${column} = first.${column}`).join(', ')}
     FROM token_family AS first, unnest($2::int[]) AS n WHERE first.id = $1 AND f.id = ${model.base} + 4 * n + 2`,
    [model.familyId, numbers],
  );
  await client.end();
}

/** Puts the events so far aside as a part of the trail, and has it indexed by account, as housekeeping does after a month. */
async function divide(url: string): Promise<void> {
  const database = await openPostgres(url, toCurrentSchema);
  const began = performance.now();
  for (;;) {
    try {
      await database.commit(() => database.auditParts?.divide() ?? noWork());
      break;
    } catch (error) {
      // Vacuum holds the table for as long as it takes.
      if (!(error instanceof StoreUnavailable)) throw error;
      await wait(1000);
    }
  }
  say(`divided the trail within ${Math.round(performance.now() - began)} ms`);
  const parts = database.auditParts;
  for (const part of parts === undefined ? [] : await database.read(() => parts.list())) {
    const start = performance.now();
    await parts?.index(part);
    if (!part.isIndexed) say(`indexed a part by account within ${Math.round(performance.now() - start)} ms`);
  }
  await database.close();
}

function* noWork(): Work<void> {}

async function begin(
  server: string,
  name: string,
  environment: Environment & { TESSERA_BASE_URL: string },
  file: string,
) {
  const client = new Client({ connectionString: server });
  await client.connect();
  await client.query(`DROP DATABASE IF EXISTS ${name}`);
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const model = await makeModel(environment);
  const core = await openCore(readConfig(environment), Date.now);
  const origin = { actor: { type: 'system', id: null }, address: null, requestId: null } as const;
  const { adminKey } = await createAdminKey({ ...core, operator: undefined }, { name: 'scale' }, origin);
  await core.close();
  const progress: Progress = {
    ...{ secret: environment['TESSERA_SECRET'] ?? '', model, adminKey },
    ...{ people: 0, events: 0, isWhole: false },
  };
  writeFileSync(file, JSON.stringify(progress));
}

/** Events as refreshes and sign-ins of random people leave them, evenly over the time of the trail. */
function eventsSql(
  { base, clients, now }: Model,
  { from, to, people, events }: { from: number; to: number; people: number; events: number },
): string {
  const ids = clients.map(({ id }) => id).join(',');
  const account = `${base} + 4 * p`;
  return `INSERT INTO audit_event (at, type, outcome, actor_type, actor_id, account_id, client_id, address, request_id, details)
    SELECT ${now - TRAIL} + (${TRAIL} * n::float8 / ${events})::bigint, type, 'success',
      CASE WHEN share < 95 THEN 'client' ELSE 'user' END, CASE WHEN share < 95 THEN client ELSE ${account} END,
      ${account}, CASE WHEN share < 98 THEN client END, '203.0.113.7', substr(md5(n::text), 1, 22),
      CASE WHEN type LIKE 'token%' THEN '{"familyId":"' || (${account} + 2) || '","scope":"openid email"}'
        WHEN share < 98 THEN '{"scopes":["openid","email"],"grantId":"' || (${account} + 1) || '"}'
        ELSE '{"sid":"' || substr(md5(n::text), 1, 22) || '","amr":["pwd"],"browser":"Firefox","system":"Linux"}' END
    FROM (
      SELECT n, p, (ARRAY[${ids}]::bigint[])[p % ${CLIENTS} + 1] AS client, share,
        CASE WHEN share < 88 THEN 'token.refreshed' WHEN share < 95 THEN 'token.issued'
          WHEN share < 97 THEN 'authorization.issued' WHEN share < 98 THEN 'consent.granted'
          ELSE 'sign_in.succeeded' END AS type
      FROM (SELECT n, (hashint8(n)::bigint + 2147483648) % ${people} AS p, (hashint8(n + 77)::bigint + 2147483648) % 100 AS share
        FROM generate_series(${from}::bigint, ${to - 1}::bigint) AS n OFFSET 0) AS drawn OFFSET 0
    ) AS event ORDER BY n`;
}
