import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findAccount, listAccounts, removeAccount } from '../../src/accounts/store.ts';
import { record } from '../../src/audit/audit.ts';
import type { EventFilter } from '../../src/audit/schema.ts';
import { listEvents } from '../../src/audit/search-store.ts';
import { addSecret, removeClient } from '../../src/clients/store.ts';
import { findGrant, revokeGrants } from '../../src/consent/store.ts';
import { lockCode, spendCode } from '../../src/credentials/code-store.ts';
import { readFamily } from '../../src/credentials/token-family-store.ts';
import { createKeySet, readSigningKeys, readVersion } from '../../src/keys/store.ts';
import { exceeded, giveBack, take, takeRolling } from '../../src/limits/limits.ts';
import { upsertMember } from '../../src/organizations/member-store.ts';
import { insertOrganization } from '../../src/organizations/store.ts';
import { HOUR, MINUTE } from '../../src/platform/clock.ts';
import { type Database, StoreUnavailable, type Work } from '../../src/platform/database/database.ts';
import { command, one } from '../../src/platform/database/statement.ts';
import { NODES } from '../../src/platform/ids/lease.ts';
import {
  claimNode,
  countLeases,
  endLeases,
  extendLease,
  listLeases,
  NodeNumbersExhausted,
} from '../../src/platform/ids/lease-store.ts';
import type { AuthorizationRequest } from '../../src/protocol/authorize/rules/request.ts';
import { storedRequest } from '../../src/protocol/authorize/rules/request.ts';
import { findInteraction, finishInteraction, insertInteraction } from '../../src/sessions/interaction-store.ts';
import { insertSession } from '../../src/sessions/store.ts';
import { account, client, code, dump, family, fixture, grant, NOW } from './rows.ts';

export interface OpenedStore {
  readonly database: Database;
  /** Opens the same data again after a close; undefined where it ends with the process. */
  readonly reopen: (() => Promise<Database>) | undefined;
  dispose(): Promise<void>;
}

const times = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));
const countTrue = (answers: readonly boolean[]): number => answers.filter((answer) => answer).length;
const ABOUT = {
  name: 'token',
  origin: { actor: { type: 'system', id: null }, address: null, requestId: null },
} as const;
const wrongly = (message: string) => new Error(message);

/** What every database must keep, whichever it is: the domains rest on it. */
export function storeContract(name: string, open: () => Promise<OpenedStore>): void {
  const it = (title: string, body: () => Promise<void>) => test(`${name}: ${title}`, body);
  let store: OpenedStore;
  let database: Database;
  let nextId = 1000n;
  const id = (): string => String(nextId++);
  const made = () => {
    nextId += 10n;
    return fixture(database, nextId - 10n);
  };
  const accountOf = (accountId: string) => database.read(() => findAccount({ id: accountId }));

  before(async () => {
    store = await open();
    database = store.database;
  });
  after(() => store.dispose());

  it('a unit that throws changes nothing, and nothing of the others in its turn is lost', async () => {
    const [kept, lost, late] = [id(), id(), id()];
    const outcomes = await Promise.allSettled([
      database.commit(() => account(kept)),
      database.commit(function* fail(): Work<void> {
        yield* account(lost);
        throw wrongly('no');
      }),
      database.commit(() => account(late)),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.equal(outcomes[1]?.status === 'rejected' && outcomes[1].reason.message, 'no', 'its own error comes back');
    assert.ok((await accountOf(kept)) && (await accountOf(late)));
    assert.equal(await accountOf(lost), undefined);
  });

  it('a unit whose third statement breaks a constraint leaves nothing of the first two', async () => {
    const { accountId, clientId } = await made();
    const before = await dump(database);
    const work = database.commit(function* fail(): Work<void> {
      yield* account(id(), 'first-of-three');
      yield* rename({ id: accountId, username: 'second-of-three' });
      yield* client(clientId);
    });
    await assert.rejects(work, (error) => !(error instanceof StoreUnavailable));
    assert.deepEqual(await dump(database), before);
  });

  it('LG-04: a change whose audit record cannot be written does not happen', async () => {
    const { accountId } = await made();
    const eventId = await database.commit(() => recorded(NOW));
    const before = await dump(database);
    const work = database.commit(function* change(): Work<void> {
      yield* rename({ id: accountId, username: 'unaudited' });
      yield* insertEventAs({ id: eventId, at: NOW });
    });
    await assert.rejects(work);
    assert.deepEqual(await dump(database), before);
  });

  it('units of one turn see what those before them did, and each gets its own answer', async () => {
    const wanted = Array.from({ length: 40 }, () => id());
    const seen = await Promise.all(
      wanted.map((accountId, n) =>
        database.commit(function* add(): Work<string> {
          yield* account(accountId);
          const previous = n === 0 ? undefined : yield* findAccount({ id: wanted[n - 1] ?? '' });
          return previous?.id ?? 'none';
        }),
      ),
    );
    // A database with several writers may order them otherwise, but never shows half of one.
    for (const [n, previous] of seen.entries())
      assert.ok(previous === (wanted[n - 1] ?? 'none') || previous === 'none');
    for (const accountId of wanted) assert.ok(await accountOf(accountId));
  });

  it('a unit settles after its commit: a read that starts then sees it', async () => {
    await times(20, async () => {
      const accountId = id();
      await database.commit(() => account(accountId));
      assert.ok(await accountOf(accountId));
    });
  });

  it('a read sees no half of a unit', async () => {
    const { accountId } = await made();
    const reads: Promise<string | undefined>[] = [];
    const write = database.commit(function* twice(): Work<void> {
      yield* rename({ id: accountId, username: 'half-way' });
      yield* rename({ id: accountId, username: 'all-the-way' });
    });
    for (let n = 0; n < 20; n++) reads.push(accountOf(accountId).then((found) => found?.profile.username));
    await write;
    for (const username of await Promise.all(reads)) assert.notEqual(username, 'half-way');
    assert.equal((await accountOf(accountId))?.profile.username, 'all-the-way');
  });

  it('RC-10: of parallel redemptions of a code exactly one spends it', async () => {
    const { code, familyId } = await made();
    assert.equal(
      countTrue(await times(16, () => database.commit(() => spendCode({ hash: code, familyId, now: NOW })))),
      1,
    );
    assert.equal(await database.commit(() => spendCode({ hash: code, familyId, now: NOW })), false);
    assert.equal(await database.commit(() => spendCode({ hash: 'unknown', familyId, now: NOW })), false);
  });

  it('ST-07: of parallel consents one is added; after its revocation another one can be', async () => {
    const { accountId, clientId, grantId } = await made();
    assert.equal(countTrue(await times(8, () => database.commit(() => grant(id(), accountId, clientId)))), 0);
    const revoked = await times(8, () => database.commit(() => revokeGrants({ accountId, clientId, now: NOW })));
    assert.deepEqual(revoked.flat(), [grantId]);
    assert.equal(countTrue(await times(8, () => database.commit(() => grant(id(), accountId, clientId)))), 1);
    assert.notEqual((await database.read(() => findGrant({ accountId, clientId, endpointSet: 'v2' })))?.id, grantId);
  });

  it('of parallel takes exactly as many as the limit are within it, and the next window begins anew', async () => {
    const limit = { count: 5, windowMs: 60_000 };
    const bucket = `test ${id()}`;
    const waits = await times(20, () => database.commit(() => take(bucket, limit, NOW, ABOUT)));
    assert.equal(waits.filter((wait) => wait === 0).length, 5);
    assert.ok(waits.every((wait) => wait === 0 || wait === 60));
    assert.equal(await database.read(() => exceeded(bucket, limit, NOW + 59_999)), 1);
    assert.equal(await database.read(() => exceeded(bucket, limit, NOW + 60_000)), 0);
    assert.equal(await database.commit(() => take(bucket, limit, NOW + 60_000, ABOUT)), 0);
    await times(9, () => database.commit(() => giveBack(bucket, limit)));
    assert.equal(
      await database.commit(() => take(bucket, limit, NOW + 60_000, ABOUT)),
      0,
      'a count never falls below none',
    );
  });

  it('of what may be held, parallel callers take no more than fits in any period, and what does not fit is not taken', async () => {
    const hour = 3_600_000;
    const limit = { count: 100, windowMs: hour };
    const bucket = `test ${id()}`;
    const from = NOW - (NOW % hour);
    const take30 = (at: number) => database.commit(() => takeRolling(bucket, limit, 30, from + at, ABOUT));
    const waits = await times(10, () => take30(hour / 2 - 1));
    assert.deepEqual(waits.toSorted(), [0, 0, 0, 1, 1, 1, 1, 1, 1, 1]);
    assert.equal(await database.commit(() => takeRolling(bucket, limit, 10, from + hour / 2, ABOUT)), 0);
    assert.equal(await take30(hour / 2), 900);
    // All of the quarter in which they were taken is an hour old.
    assert.ok((await take30(hour * 1.5 - 1)) > 0);
    assert.equal(await take30(hour * 1.5), 0);
    // A node whose clock is behind counts what others have taken.
    assert.ok((await database.commit(() => takeRolling(bucket, limit, 61, from + hour * 1.5 - 1, ABOUT))) > 0);
  });

  it('of parallel ends of a pending request exactly one counts', async () => {
    const { clientId } = await made();
    const hash = `interaction ${id()}`;
    const stored = storedRequest({ clientId, state: null } as AuthorizationRequest);
    await database.commit(() =>
      insertInteraction({ hash, browserHash: 'b', clientId, stored, now: NOW, expiresAt: NOW + 1 }),
    );
    const outcomes = ['code', 'denied'] as const;
    const ends = await times(10, (n) =>
      database.commit(() => finishInteraction({ hash, outcome: outcomes[n % 2] ?? 'code' })),
    );
    assert.equal(countTrue(ends), 1);
    const outcome = (await database.read(() => findInteraction({ hash })))?.outcome;
    assert.equal(outcome, outcomes[ends.indexOf(true) % 2]);
  });

  it('parallel claims get different node numbers; an expired one is claimed again', async () => {
    const claim = async (holder: string, now: number) =>
      (await database.commit(() => claimNode(now, () => ({ holder, endsAt: now + MINUTE })))).node;
    const nodes = await times(12, (n) => claim(`holder ${n}`, NOW));
    assert.equal(new Set(nodes).size, 12);
    const later = await times(12, (n) => claim(`later ${n}`, NOW + MINUTE));
    assert.deepEqual(later.toSorted(), nodes.toSorted());
  });

  it('only its holder extends or ends a lease; with all node numbers leased none can be claimed', async () => {
    // Past all leases of other tests.
    const begin = NOW + HOUR;
    const claim = (holder: string) =>
      database.commit(() => claimNode(begin, () => ({ holder, endsAt: begin + MINUTE })));
    const lease = { ...(await claim('first')), holder: 'first', endsAt: begin + 2 * MINUTE };
    assert.equal(await database.commit(() => extendLease({ ...lease, holder: 'another', next: 'another' })), false);
    assert.equal(await database.commit(() => extendLease({ ...lease, next: 'renewed' })), true);
    await database.commit(() => endLeases([{ ...lease, endsAt: begin }]));
    const held = { node: lease.node, holder: 'renewed', endsAt: lease.endsAt };
    assert.deepEqual(await database.read(() => listLeases({ now: begin })), [held]);
    for (let number = 1; number < NODES; number++) await claim(`holder ${number}`);
    assert.equal(await database.read(() => countLeases(begin)), NODES);
    await assert.rejects(claim('one too many'), NodeNumbersExhausted);
    await database.commit(() => endLeases([{ ...held, endsAt: begin + 500 }]));
    assert.equal(await database.read(() => countLeases(begin + 500)), NODES - 1);
    assert.deepEqual(
      await claim('late'),
      { node: lease.node, from: begin + 500 },
      'it begins where the last one ended',
    );
  });

  it('of processes that start together on an empty database one makes the key set', async () => {
    await times(6, (n) =>
      database.commit(() => createKeySet({ kid: `kid ${n}`, sealed: 'sealed' }, `version ${n}`, NOW)),
    );
    const version = await database.read(() => readVersion({}));
    const keys = await database.read(() => readSigningKeys({}));
    assert.equal(keys.length, 1);
    assert.equal(version?.slice('version '.length), keys[0]?.kid.slice('kid '.length));
  });

  it('ids of 64 bits are decimal strings in every column, compared as numbers; other integers are numbers', async () => {
    const from = 9_223_372_036_854_775_000n;
    const big = await fixture(database, from);
    const found = await accountOf(big.accountId);
    assert.equal(found?.id, '9223372036854775000');
    assert.equal(found?.createdAt, NOW);
    await database.commit(() => spendCode({ hash: big.code, familyId: big.familyId, now: NOW }));
    const code = await database.read(() => lockCode({ hash: big.code }));
    assert.deepEqual(
      [code?.accountId, code?.clientId, code?.grantId, code?.familyId, code?.expiresAt],
      [big.accountId, big.clientId, big.grantId, big.familyId, NOW + 60_000],
    );
    await database.commit(() => account('9007199254740993'));
    assert.equal(await accountOf('9007199254740992'), undefined, 'no rounding to a double');
    const [next] = await database.read(() => listAccounts({ after: '9007199254740993', limit: 1 }));
    assert.equal(next?.id, big.accountId, 'numeric, not alphabetic');
    await database.commit(() => createKeySet({ kid: 'k', sealed: 's' }, 'v', NOW));
    const record = await database.read(() => readFamily(big));
    assert.equal(record?.family.authTime, NOW);
  });

  it('ST-07: what must be unique is refused by the database itself', async () => {
    const [one, two] = [await made(), await made()];
    const untold = { browser: null, system: null, network: null, amr: ['pwd'], acr: null };
    const proof = { provedAt: NOW, provedBy: 'password', provedFactorSince: 0, provedAfter: NOW } as const;
    const session = { hash: 's1', sid: `sid ${id()}`, accountId: one.accountId, generation: 'g', ...untold, ...proof };
    const instants = { authTime: NOW, lastSeenAt: NOW, expiresAt: NOW };
    const slug = `org-${id()}`;
    const organization = () => ({
      id: id(),
      name: slug,
      domain: 'a.example',
      requireSecondFactor: false,
      createdAt: NOW,
    });
    const { clientId } = one;
    const stored = storedRequest({ clientId, state: null } as AuthorizationRequest);
    const pending = { hash: `interaction ${id()}`, browserHash: 'b', clientId, stored, now: NOW, expiresAt: NOW + 1 };
    await database.commit(() => insertSession({ ...session, ...instants }));
    await database.commit(() => insertInteraction(pending));
    await database.commit(() => addSecret({ id: id(), clientId: one.clientId, hash: 'same hash', now: NOW }));
    assert.equal(await database.commit(() => insertOrganization(organization())), true);
    const eventId = await database.commit(() => recorded(NOW));
    const before = await dump(database);
    const refused: (() => Work<unknown>)[] = [
      () => rename({ id: two.accountId, username: `user${one.accountId}` }),
      () => readdress({ id: two.accountId, key: `user${one.accountId}@example.com` }),
      () => client(one.clientId),
      () => addSecret({ id: id(), clientId: two.clientId, hash: 'same hash', now: NOW }),
      () => insertSession({ ...session, hash: 's2', ...instants }),
      () => insertSession({ ...session, sid: `sid ${id()}`, ...instants }),
      () => code({ ...two, code: one.code }),
      () => insertInteraction(pending),
      () => family(id(), two, `jti ${one.familyId}`),
      () => insertEventAs({ id: eventId, at: NOW }),
    ];
    for (const [n, work] of refused.entries()) {
      await assert.rejects(database.commit(work), (error) => !(error instanceof StoreUnavailable), `case ${n}`);
    }
    for (const work of [() => account(id(), `user${one.accountId}`), () => insertOrganization(organization())]) {
      assert.equal(await database.commit(work), false, 'and a statement that asks for it is told');
    }
    assert.deepEqual(await dump(database), before);
  });

  it('rows that hang on an account go with it, in the same commit; a row that hangs on nothing is refused', async () => {
    const { accountId, code } = await made();
    const organizationId = id();
    await database.commit(() =>
      insertOrganization({
        id: organizationId,
        name: `o-${id()}`,
        domain: 'a',
        requireSecondFactor: false,
        createdAt: 0,
      }),
    );
    await database.commit(() => upsertMember({ organizationId, accountId, role: 'OWNER', madeBy: null, now: 0 }));
    assert.equal(await database.commit(() => removeAccount({ id: accountId })), true);
    const left = await dump(database);
    for (const [table, rows] of Object.entries(left)) {
      for (const row of rows) assert.notEqual((row as Record<string, unknown>)['account_id'], accountId, table);
    }
    assert.equal(await database.read(() => lockCode({ hash: code })), undefined);
    await assert.rejects(
      database.commit(() => upsertMember({ organizationId, accountId, role: 'OWNER', madeBy: null, now: 0 })),
    );
  });

  it('codes and tokens of an app go with it', async () => {
    const { accountId, clientId, familyId, code } = await made();
    await database.commit(() => spendCode({ hash: code, familyId, now: NOW }));
    assert.equal(await database.commit(() => removeClient({ id: clientId })), true);
    for (const [table, rows] of Object.entries(await dump(database))) {
      for (const row of rows) assert.notEqual((row as Record<string, unknown>)['client_id'], clientId, table);
    }
    assert.ok(await accountOf(accountId));
  });

  it('events of one user are found among thousands, in both orders, page by page', async () => {
    const [rare, frequent, app] = [id(), id(), id()];
    const origin = { actor: { type: 'system', id: null }, address: null, requestId: null } as const;
    await database.commit(function* happen(): Work<void> {
      for (let n = 0; n < 4000; n++) {
        const accountId = n % 1500 === 100 ? rare : frequent;
        const clientId = n % 2 === 0 ? app : null;
        yield* record({ at: NOW + n, type: 'token.refreshed', origin, accountId, clientId, details: { n } });
      }
    });
    async function numbersOf(filter: EventFilter, order: 'asc' | 'desc'): Promise<unknown[]> {
      const numbers: unknown[] = [];
      for (let after = '0'; ; ) {
        const events = await listEvents(database, { filter, order, after, limit: 500 });
        numbers.push(...events.map(({ details }) => (details as { n: number }).n));
        const last = events.at(-1);
        if (events.length < 500 || last === undefined) return numbers;
        after = last.id;
      }
    }
    const all = Array.from({ length: 4000 }, (_, n) => n);
    for (const [filter, expected] of [
      [{ userId: rare }, [100, 1600, 3100]],
      [{ userId: frequent }, all.filter((n) => n % 1500 !== 100)],
      [{ clientId: app }, all.filter((n) => n % 2 === 0)],
      [{ userId: rare, clientId: app }, [100, 1600, 3100]],
      [{ userId: id() }, []],
    ] as const) {
      assert.deepEqual(await numbersOf(filter, 'asc'), expected);
      assert.deepEqual(await numbersOf(filter, 'desc'), [...expected].reverse());
    }
  });

  it('a parameter that was not given is an error, never a null', async () => {
    const missing = { id: '1' } as { id: string; username: string };
    await assert.rejects(
      database.commit(() => rename(missing)),
      /"username" was not given/,
    );
  });

  it('text comes back as it went in', async () => {
    const { accountId } = await made();
    for (const text of ["'; DROP TABLE account; --", 'ünïcödé 🏛 \u202e', '\\', '%_', ' '.repeat(3), '""', '?1 :p $1']) {
      await database.commit(() => describe({ id: accountId, about: text }));
      assert.equal((await accountOf(accountId))?.profile.about, text);
    }
  });

  it('close() finishes what was handed over; then the store is unavailable, and its data is there again', async () => {
    const last = id();
    const pending = database.commit(() => account(last));
    await Promise.all([database.close(), pending]);
    await database.close();
    await assert.rejects(accountOf(last), StoreUnavailable);
    await assert.rejects(
      database.commit(() => account(id())),
      StoreUnavailable,
    );
    if (store.reopen === undefined) return;
    database = await store.reopen();
    assert.equal((await accountOf(last))?.id, last);
    const before = await dump(database);
    await database.close();
    database = await store.reopen();
    assert.deepEqual(await dump(database), before, 'migrating again changes nothing');
    await database.close();
  });
}

const rename = command((db, p: { id: string; username: string }) =>
  db.updateTable('account').set({ username: p.username }).where('id', '=', p.id),
);
const readdress = command((db, p: { id: string; key: string }) =>
  db.updateTable('account').set({ email_key: p.key }).where('id', '=', p.id),
);
const describe = command((db, p: { id: string; about: string }) =>
  db.updateTable('account').set({ about: p.about }).where('id', '=', p.id),
);
const event = {
  type: 'test',
  outcome: 'success',
  actor_type: 'system',
  actor_id: null,
  account_id: null,
  client_id: null,
  address: null,
  request_id: null,
  details: '{}',
};
const insertEvent = one((db, p: { at: number }) =>
  db
    .insertInto('audit_event')
    .values({ ...event, at: p.at })
    .returning('id'),
);
/** The database alone numbers events: one that brings the number of another is refused. */
const insertEventAs = command((db, p: { id: string; at: number }) =>
  db.insertInto('audit_event').values({ ...event, id: p.id, at: p.at }),
);
function* recorded(at: number): Work<string> {
  const row = yield* insertEvent({ at });
  assert.ok(row !== undefined);
  return row.id;
}
