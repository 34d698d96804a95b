// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, mock, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { record } from '../../src/audit/audit.ts';
import { listEvents } from '../../src/audit/search-store.ts';
import { readBacklog, startHousekeeping, sweep } from '../../src/operations/housekeeping/housekeeping.ts';
import { DAY, HOUR, MINUTE, numericDate, SECOND } from '../../src/platform/clock.ts';
import type { Database, Work } from '../../src/platform/database/database.ts';
import { command } from '../../src/platform/database/statement.ts';
import { dump } from '../store/rows.ts';
import { tokenForm } from '../support/api-call.ts';
import { appKey, keyApp, proofOf } from '../support/assertion.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  tokenCall,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { countRows } from '../support/outcome.ts';
import { openOwnStore } from '../support/own-store.ts';
import { startServer } from '../support/server.ts';

// After a minute, a pass of the server's own would come between what is swept and counted here.
mock.timers.enable({ apis: ['setInterval'] });
const server = await startServer();
mock.timers.reset();
after(() => server.close());
const client = await newClient(server);
const user = await newUser(server);

/** Works on the data beside the server, as another process would. */
const beside = <T>(work: (database: Database) => Promise<T>): Promise<T> =>
  withData(server, ({ database }) => work(database));

const sweepAll = (): Promise<number> => beside((database) => sweep(database, server.now()));

const counts = async (): Promise<Record<string, number>> => {
  const tables = await beside(dump);
  return Object.fromEntries(Object.entries(tables).map(([table, rows]) => [table, rows.length]));
};

/** The answer to every credential, as far as a client can tell. */
async function verdicts(credentials: { access: string[]; refresh: string[]; codes: string[] }): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const token of credentials.access) {
    const { status, body } = await userinfo(server, token);
    answers.push([status, body.error, body.error_description]);
  }
  for (const token of credentials.refresh) {
    const { status, body } = await refresh(server, client, token);
    answers.push([status, body.error, body.error_description]);
  }
  for (const code of credentials.codes) {
    const { status, body } = await redeem(server, client, code);
    answers.push([status, body.error]);
  }
  return answers;
}

test('ST-06: a sweep removes nothing that still counts: every verdict is the same before and after', async () => {
  const [banned, suspended, revoker] = [await newUser(server), await newUser(server), await newUser(server)];
  const held = await Promise.all([user, banned, suspended, revoker].map((person) => tokensFor(server, client, person)));
  const replayed = await codeFor(server, client, user);
  const lost = (await redeem(server, client, replayed)).body;
  assert.equal((await redeem(server, client, replayed)).status, 400);
  const rotated = await tokensFor(server, client, user);
  const successor = (await refresh(server, client, rotated.refresh_token)).body;
  const expired = await codeFor(server, client, user);
  await admin(server, 'PUT', `/users/${banned.id}/ban`, {});
  await admin(server, 'PUT', `/users/${suspended.id}/suspension`, {});
  await admin(server, 'DELETE', `/users/${revoker.id}/connections/${client.clientId}`);
  const tokens = [...held, lost, rotated, successor];
  const dead = {
    access: tokens.map(({ access_token }) => access_token),
    // Those whose use changes nothing any more: the verdict may be asked for again and again.
    refresh: [held[1], held[2], held[3], lost].map((part) => part?.refresh_token ?? ''),
    codes: [replayed, expired],
  };
  for (const step of [MINUTE, 31 * MINUTE, DAY, 5 * DAY]) {
    server.advance(step);
    const before = await verdicts(dead);
    await sweepAll();
    assert.deepEqual(await verdicts(dead), before, `${step} ms on`);
  }
  const reused = await refresh(server, client, rotated.refresh_token);
  assert.equal(reused.body.error, 'invalid_grant', 'a retired token is still known for one, and kills its family');
  assert.equal((await refresh(server, client, successor.refresh_token)).body.error, 'invalid_grant');
});

test('what has ended goes, and only that: requests, sessions, counts, codes, families, clients’ own tokens, revoked grants, old browsers', async () => {
  const browser = await signedIn(server, user);
  await browser.get(authorizeUrl(client, { prompt: 'consent' }));
  await codeFor(server, client, user, {}, { browser });
  await tokensFor(server, client, user, {}, { browser });
  await tokenCall(server, { grant_type: 'refresh_token', client_id: client.clientId, client_secret: 'wrong' });
  const { clientId, clientSecret } = await newClient(server, { grantTypes: ['client_credentials'] });
  const ask = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  assert.equal((await tokenCall(server, ask)).status, 200);
  await sweepAll();
  assert.equal((await counts())['client_token'], 1);
  const full = await counts();
  for (const table of ['interaction', 'browser_session', 'known_browser', 'rate_count', 'authorization_code']) {
    assert.ok((full[table] ?? 0) > 0, table);
  }
  server.advance(HOUR);
  await sweepAll();
  assert.equal((await counts())['interaction'], 0);
  // What was held in a quarter of an hour counts until all of that is an hour ago.
  server.advance(HOUR / 4);
  await sweepAll();
  const later = await counts();
  assert.equal(later['rate_count'], 0);
  assert.equal(later['client_token'], 0);
  assert.equal(later['token_family'], full['token_family'], 'a family lives for weeks');
  assert.equal(later['browser_session'], full['browser_session']);

  server.advance(99 * DAY);
  assert.ok((await sweepAll()) > 0);
  const end = await counts();
  for (const table of ['authorization_code', 'token_family', 'browser_session']) assert.equal(end[table], 0, table);
  assert.ok((end['consent_grant'] ?? 0) > 0, 'a consent has no end');
  for (const table of ['account', 'client', 'client_secret', 'signing_key', 'audit_event']) {
    assert.equal(end[table], full[table], table);
  }
  assert.ok((end['known_browser'] ?? 0) > 0);
  server.advance(400 * DAY);
  await sweepAll();
  assert.equal((await counts())['known_browser'], 0);
  await admin(server, 'DELETE', `/users/${user.id}/connections/${client.clientId}`);
  const grants = (await counts())['consent_grant'] ?? 0;
  server.advance(9 * DAY);
  await sweepAll();
  assert.equal((await counts())['consent_grant'], grants - 1);
  assert.equal(await sweepAll(), 0, 'a second sweep finds nothing');
});

test('a used assertion is remembered beyond its end, for nodes whose clocks are behind', async () => {
  const key = await appKey();
  const { clientId } = await keyApp(server, { jwks: { keys: [key.jwk] } });
  const proof = await proofOf(server, clientId, key);
  const present = async () =>
    (await tokenForm(server, { grant_type: 'refresh_token', refresh_token: 'x', ...proof })).status;
  const remembered = () => countRows(server, 'client_assertion');
  assert.equal(await present(), 400, 'the client is believed, its refresh token is not');

  // The assertion lives a minute, and is accepted for another half on account of its client's clock.
  const end = numericDate(server.now()) * SECOND + MINUTE + MINUTE / 2;
  const sweepAt = (now: number) => beside((database) => sweep(database, now));
  await sweepAt(end + 4 * MINUTE);
  assert.equal(await present(), 401, 'swept by a node that is four minutes ahead, it is still used up here');
  await sweepAt(end + 5 * MINUTE - 1);
  assert.equal(await remembered(), 1);
  await sweepAt(end + 5 * MINUTE);
  assert.equal(await remembered(), 0);
});

const insertCount = command((db, p: { bucket: string; endsAt: number }) =>
  db.insertInto('rate_count').values({ bucket: p.bucket, count: 1, window_ends_at: p.endsAt }),
);

test('more rows than a batch all go, and none before its time', async () => {
  const { database, dispose } = await openOwnStore();
  for (let from = 0; from < 1100; from += 100) {
    await database.commit(function* fill(): Work<void> {
      for (let n = from; n < from + 100; n++) yield* insertCount({ bucket: `bucket ${n}`, endsAt: MINUTE });
    });
  }
  assert.equal(await sweep(database, MINUTE - 1), 0);
  assert.equal(await sweep(database, MINUTE), 1100);
  await dispose();
});

test('LG-04: events are kept for ever, or as long as asked: the oldest go, none in between, and that is recorded', async () => {
  const { database, dispose } = await openOwnStore();
  const origin = { actor: { type: 'system', id: null }, address: null, requestId: null } as const;
  const at = (instant: number) => database.commit(() => record({ at: instant, type: 'sign_out', origin }));
  const shown = async () =>
    (await listEvents(database, { after: '0', limit: 200, order: 'asc', filter: {} })).map(({ type, at, details }) => [
      type,
      Date.parse(at),
      details,
    ]);
  // The third bears a time before the second: it was written later by a node whose clock is behind.
  for (const instant of [0, 2 * DAY, DAY, 3 * DAY]) await at(instant);
  assert.equal(await sweep(database, 400 * DAY), 0, 'for ever');
  assert.equal(await sweep(database, 3 * DAY, 2 * DAY), 1);
  assert.deepEqual(await shown(), [
    ['sign_out', 2 * DAY, {}],
    ['sign_out', DAY, {}],
    ['sign_out', 3 * DAY, {}],
    ['events.trimmed', 3 * DAY, { events: 1, throughId: '1' }],
  ]);
  assert.equal(await sweep(database, 3 * DAY, 2 * DAY), 0);
  for (let n = 0; n < 11; n++) await Promise.all(Array.from({ length: 100 }, () => at(4 * DAY)));
  await at(9 * DAY);
  assert.equal(await sweep(database, 10 * DAY, 2 * DAY), 1104, 'more than a batch');
  assert.deepEqual(
    (await shown()).map(([type]) => type),
    ['sign_out', 'events.trimmed', 'events.trimmed', 'events.trimmed'],
  );
  await dispose();
});

test('LG-04: an event is kept for exactly as long as asked, however many go before it', async () => {
  const origin = { actor: { type: 'system', id: null }, address: null, requestId: null } as const;
  for (const older of [0, 500]) {
    const { database, dispose } = await openOwnStore();
    const at = (instant: number) => database.commit(() => record({ at: instant, type: 'sign_out', origin }));
    // A hundred at a time: a database server answers within seconds, also where it is busy.
    for (let written = 0; written < older; written += 100) {
      await Promise.all(Array.from({ length: 100 }, () => at(DAY - 1)));
    }
    await at(DAY);
    assert.equal(await sweep(database, 3 * DAY, 2 * DAY), older, `${older} are older`);
    const [kept] = await listEvents(database, { after: '0', limit: 1, order: 'asc', filter: {} });
    assert.equal(Date.parse(kept?.at ?? ''), DAY, `${older} are older`);
    assert.equal(await sweep(database, 3 * DAY + 1, 2 * DAY), 1, 'a millisecond later it goes');
    await dispose();
  }
});

test('one of many nodes sweeps at a time, and any of them may be next', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const { database, dispose } = await openOwnStore();
  const { take } = await import('../../src/limits/limits.ts');
  const about = {
    name: 'token',
    origin: { actor: { type: 'system', id: null }, address: null, requestId: null },
  } as const;
  const leave = (bucket: string, now: number) =>
    database.commit(() => take(bucket, { count: 1, windowMs: 1 }, now, about));
  /** How many rows each of several nodes removes at a time. */
  async function turnOf(nodes: number, now: number): Promise<number[]> {
    const removed: number[] = Array.from({ length: nodes }, () => 0);
    const stops = removed.map((_, node) =>
      startHousekeeping({
        database: { ...database, sharedTime: async () => null },
        clock: () => now,
        interval: MINUTE,
        meter: { removed: (_table, rows) => (removed[node] = (removed[node] ?? 0) + rows), passed: () => {} },
        failed: (error) => assert.fail(String(error)),
      }),
    );
    context.mock.timers.tick(MINUTE);
    await Promise.all(stops.map((stop) => stop()));
    return removed.sort();
  }
  await leave('one', 0);
  assert.deepEqual(await turnOf(5, MINUTE), [0, 0, 0, 0, 1]);
  await leave('two', MINUTE);
  assert.deepEqual(await turnOf(1, MINUTE + 30_000), [0], 'the turn is not over');
  // The claim itself has ended by then as well.
  assert.deepEqual(await turnOf(1, 2 * MINUTE), [1]);
  await dispose();
});

test('with more to remove than a turn of each kind holds, it goes on at once, and says what it did and what is left', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const { database, dispose } = await openOwnStore();
  const origin = { actor: { type: 'system', id: null }, address: null, requestId: null } as const;
  // More than twenty batches, however large they become.
  const rows = 10_500;
  for (let from = 0; from < rows; from += 100) {
    await database.commit(function* fill(): Work<void> {
      for (let n = from; n < from + 100; n++) yield* insertCount({ bucket: `bucket ${n}`, endsAt: MINUTE });
    });
  }
  await database.commit(() => record({ at: 0, type: 'sign_out', origin }));
  const parts = { database: { ...database, sharedTime: async () => null }, clock: () => HOUR };
  const settings = { events: HOUR / 2, steps: null };
  const backlog = async () => {
    const overdue = await readBacklog(parts, settings);
    return [overdue.get('rate_count'), overdue.get('audit_event'), overdue.get('token_family')];
  };
  assert.deepEqual(await backlog(), [HOUR - MINUTE, HOUR / 2, 0]);
  const removed = new Map<string, number>();
  const passes: number[] = [];
  const { promise: passed, resolve } = Promise.withResolvers<void>();
  const stop = startHousekeeping({
    ...parts,
    interval: MINUTE,
    settings,
    meter: {
      removed: (table, count) => removed.set(table, (removed.get(table) ?? 0) + count),
      passed: (now) => passes.push(now),
    },
    async afterSweep() {
      if ((removed.get('rate_count') ?? 0) >= rows) resolve();
    },
    failed: (error) => assert.fail(String(error)),
  });
  context.mock.timers.tick(MINUTE);
  await passed;
  await stop();
  assert.equal(removed.get('audit_event'), 1);
  assert.equal(passes[0], HOUR);
  assert.deepEqual(await backlog(), [0, 0, 0]);
  const [trimmed, ...rest] = await listEvents(database, { after: '0', limit: 200, order: 'asc', filter: {} });
  assert.deepEqual([trimmed?.type, rest.length], ['events.trimmed', 0]);
  await dispose();
});

test('a clock that is set wrong does not remove the audit trail at once, but an hour of it each minute', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const { database, dispose } = await openOwnStore();
  const origin = { actor: { type: 'system', id: null }, address: null, requestId: null } as const;
  for (const at of [0, HOUR / 2, 2 * HOUR, 10 * DAY])
    await database.commit(() => record({ at, type: 'sign_out', origin }));
  let now = 1000 * DAY;
  let passed = Promise.withResolvers<void>();
  const stop = startHousekeeping({
    database: { ...database, sharedTime: async () => null },
    clock: () => now,
    interval: MINUTE,
    settings: { events: DAY, steps: null },
    afterSweep: async () => passed.resolve(),
    failed: (error) => passed.reject(error),
  });
  async function minute(): Promise<number[]> {
    passed = Promise.withResolvers<void>();
    now += MINUTE;
    context.mock.timers.tick(MINUTE);
    await passed.promise;
    // The run ends after its last pass.
    await nextTurn();
    const filter = { type: 'sign_out' };
    return (await listEvents(database, { after: '0', limit: 100, order: 'asc', filter })).map(({ at }) =>
      Date.parse(at),
    );
  }
  assert.deepEqual(await minute(), [2 * HOUR, 10 * DAY]);
  assert.deepEqual(await minute(), [2 * HOUR, 10 * DAY]);
  assert.deepEqual(await minute(), [10 * DAY]);
  now = 11 * DAY - 10 * MINUTE;
  for (let time = 0; time < 5; time++) assert.deepEqual(await minute(), [10 * DAY], 'the clock is right again');
  await stop();
  await dispose();
});

test('a turn that another node has taken over is not prolonged', async () => {
  const { database, dispose } = await openOwnStore();
  const { claim, prolongClaim } = await import('../../src/limits/limits.ts');
  const prolong = (heldUntil: number, until: number) => database.commit(() => prolongClaim('work', heldUntil, until));
  assert.equal(await database.commit(() => claim('work', MINUTE, 0)), true);
  assert.equal(await prolong(MINUTE, 2 * MINUTE), true);
  assert.equal(await database.commit(() => claim('work', MINUTE, MINUTE)), false, 'it is still held');
  assert.equal(await database.commit(() => claim('work', MINUTE, 2 * MINUTE)), true);
  assert.equal(await prolong(2 * MINUTE, 4 * MINUTE), false, 'by another by now');
  await dispose();
});

test('a node whose clock is far from the database’s deletes nothing; one whose clock is near goes by the database’s', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const { database, dispose } = await openOwnStore();
  const shared = { ...database, sharedTime: async () => DAY };
  const origin = { actor: { type: 'system', id: null }, address: null, requestId: null } as const;
  const about = { name: 'token', origin } as const;
  const { take } = await import('../../src/limits/limits.ts');
  // One has ended by the shared clock, the other ends within the difference of the clocks.
  const buckets = ['ended', 'live'];
  for (const [index, bucket] of buckets.entries()) {
    const now = DAY - MINUTE + index * 10_000;
    await database.commit(() => take(bucket, { count: 1, windowMs: MINUTE }, now, about));
  }
  const left = async () =>
    ((await dump(database))['rate_count'] as { bucket: string }[])
      .map(({ bucket }) => bucket)
      .filter((bucket) => buckets.includes(bucket))
      .sort();
  for (const [offset, failed, rows] of [
    [100 * DAY, 1, buckets],
    [-30_001, 1, buckets],
    [30_000, 0, ['live']],
  ] as const) {
    const failures: unknown[] = [];
    const afterSweeps: number[] = [];
    const stop = startHousekeeping({
      database: shared,
      clock: () => DAY + offset,
      interval: MINUTE,
      afterSweep: async (now) => afterSweeps.push(now),
      failed: (error) => failures.push(error),
    });
    context.mock.timers.tick(MINUTE);
    await stop();
    assert.deepEqual(
      [failures.length, afterSweeps, await left()],
      [failed, failed === 1 ? [] : [DAY], rows],
      `${offset}`,
    );
    if (failed === 1) assert.match(String(failures[0]), /clock of this node is .* the database's\. Let both/);
  }
  await dispose();
});

test('a sweep that fails is reported and harms nothing; stopping waits for the one that runs', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const { database, dispose } = await openOwnStore();
  const failures: unknown[] = [];
  const stop = startHousekeeping({
    database,
    clock: () => 0,
    interval: MINUTE,
    failed: (error) => failures.push(error),
  });
  await database.close();
  context.mock.timers.tick(MINUTE);
  await stop();
  assert.equal(failures.length, 1);
  context.mock.timers.tick(10 * MINUTE);
  await stop();
  assert.equal(failures.length, 1, 'after a stop it sweeps no more');
  await dispose();
});
