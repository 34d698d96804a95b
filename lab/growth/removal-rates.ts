import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startHousekeeping } from '../../src/operations/housekeeping/housekeeping.ts';
import { DAY, MINUTE } from '../../src/platform/clock.ts';
import type { Database, Work } from '../../src/platform/database/database.ts';
import { command } from '../../src/platform/database/statement.ts';
import { account, client, family, grant } from '../../test/store/rows.ts';

/** How fast one kind of rows is removed. */
export interface RemovalRate {
  readonly table: string;
  readonly rowsPerSecond: number;
  /** For how long other work of the process had to wait meanwhile, in milliseconds: 99 of 100 times no longer. */
  readonly delay: number;
}

/** How many grants the token families belong to. */
const GRANTS = 2000;
/** The rows of a commit while the tables are filled. */
const CHUNK = 100;

const id = (n: number): string => String(1_000_000 + n);
const hash = (n: number): string => `${String(n * 7919).padStart(10, '0')}-${'x'.repeat(32)}`;

const interaction = command((db, p: { hash: string; clientId: string }) =>
  db.insertInto('interaction').values({
    ...{ hash: p.hash, browser_hash: p.hash, client_id: p.clientId, request: '{"scope":"openid profile email"}' },
    ...{ state: null, created_at: 0, expires_at: 1, signed_in_session: null, chosen_session: null, outcome: null },
  }),
);
const session = command((db, p: { hash: string; accountId: string }) =>
  db.insertInto('browser_session').values({
    ...{ hash: p.hash, sid: p.hash, account_id: p.accountId, generation: 'a', auth_time: 0, last_seen_at: 0 },
    ...{ expires_at: 1, browser: 'Firefox', system: 'Linux', network: null, amr: '["pwd"]', acr: null },
  }),
);
const count = command((db, p: { hash: string }) =>
  db.insertInto('rate_count').values({ bucket: p.hash, count: 1, window_ends_at: 1 }),
);
const redeemedCode = command((db, p: { hash: string; id: string; grantId: string }) =>
  db.insertInto('authorization_code').values({
    ...{ hash: p.hash, grant_id: p.grantId, account_id: p.grantId, client_id: '1', account_generation: 'a' },
    ...{ client_generation: 'c', redirect_uri: 'https://app.example.com/callback', scopes: 'openid', narrowed: 0 },
    ...{ nonce: null, code_challenge: null, sid: p.hash, auth_time: 0, expires_at: 1, redeemed_at: 1 },
    ...{ family_id: p.id, claims: null, resources: null, amr: '["pwd"]', acr: null },
  }),
);
const clientToken = command((db, p: { hash: string }) =>
  db.insertInto('client_token').values({
    ...{ jti: p.hash, client_id: '1', client_generation: 'c', created_at: 0, ends_at: 1, dead_at: null },
  }),
);
const event = command((db, p: { accountId: string }) =>
  db.insertInto('audit_event').values({
    ...{ at: 0, type: 'token.issued', outcome: 'success', actor_type: 'client', actor_id: '1' },
    ...{ account_id: p.accountId, client_id: '1', address: '192.0.2.1', request_id: 'request' },
    details: '{"familyId":"1234567890","scope":"openid profile"}',
  }),
);
const traceStep = command((db, p: { hash: string }) =>
  db.insertInto('trace_step').values({
    ...{ at: 0, ring: '1 progress', request_id: p.hash, client_id: '1', account_id: null, step: 'token' },
    ...{ outcome: 'success', flow: p.hash, leads_to: p.hash, facts: '{"description":"Tokens were issued."}' },
  }),
);

/** What fills a table with rows that have ended. */
const FILLERS: Readonly<Record<string, (n: number) => Work<void>>> = {
  interaction: (n) => interaction({ hash: hash(n), clientId: '1' }),
  browser_session: (n) => session({ hash: hash(n), accountId: id(n % GRANTS) }),
  rate_count: (n) => count({ hash: hash(n) }),
  *token_family(n) {
    const grantId = id(n % GRANTS);
    yield* family(id(n), { accountId: grantId, clientId: '1', grantId }, hash(n));
    yield* redeemedCode({ hash: hash(n), id: id(n), grantId });
  },
  client_token: (n) => clientToken({ hash: hash(n) }),
  audit_event: (n) => event({ accountId: id(n % GRANTS) }),
  trace_step: (n) => traceStep({ hash: hash(n) }),
};

/** Fills each table with rows that have ended, and lets housekeeping remove them as it does in service. */
export async function removalRates(database: Database, rows: number): Promise<readonly RemovalRate[]> {
  await database.commit(() => client('1'));
  await inChunks(database, GRANTS, function* add(n): Work<void> {
    yield* account(id(n), `person${n}`);
    yield* grant(id(n), id(n), '1');
  });
  const rates: RemovalRate[] = [];
  for (const [table, fill] of Object.entries(FILLERS)) {
    await inChunks(database, rows, fill);
    rates.push({ table, ...(await measure(database, table, rows)) });
  }
  return rates;
}

async function inChunks(database: Database, rows: number, fill: (n: number) => Work<unknown>): Promise<void> {
  for (let from = 0; from < rows; from += CHUNK) {
    await database.commit(function* chunk(): Work<void> {
      for (let n = from; n < Math.min(from + CHUNK, rows); n++) yield* fill(n);
    });
  }
}

/** Every measurement is in another year, so that the turn of the one before is over. */
let years = 60;

async function measure(database: Database, table: string, rows: number): Promise<Omit<RemovalRate, 'table'>> {
  const now = years++ * 365 * DAY;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const { promise: finished, resolve, reject } = Promise.withResolvers<void>();
  let removed = 0;
  const began = performance.now();
  delay.enable();
  const stop = startHousekeeping({
    database: { ...database, sharedTime: async () => null },
    clock: () => now,
    interval: 1,
    settings: { events: MINUTE, steps: MINUTE },
    meter: {
      removed(of, count) {
        if (of === table) removed += count;
        if (removed >= rows) resolve();
      },
      passed: () => {},
    },
    failed: reject,
  });
  // Nothing else keeps the process from its end: the timer of housekeeping does not.
  const alive = setInterval(() => {}, MINUTE);
  await finished;
  clearInterval(alive);
  const seconds = (performance.now() - began) / 1000;
  delay.disable();
  await stop();
  return { rowsPerSecond: Math.round(rows / seconds), delay: Math.round(delay.percentile(99) / 1e5) / 10 };
}
