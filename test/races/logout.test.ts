// store: PostgreSQL, SQLite with --all
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listEvents } from '../../src/audit/search-store.ts';
import { createClient } from '../../src/clients/clients.ts';
import { insertNotice } from '../../src/credentials/logout-notice-store.ts';
import { openKeys } from '../../src/keys/keys.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { unmetered } from '../../src/platform/http/meter.ts';
import { outgoing } from '../../src/platform/http/outgoing.ts';
import { leasedIds } from '../../src/platform/ids/ids.ts';
import { type NoticeDispatcher, startNoticeDispatcher } from '../../src/protocol/logout/notice-dispatcher.ts';
import { claimsOf } from '../support/flow.ts';
import { type Receiver, startReceiver, tokenOf } from '../support/logout-receiver.ts';
import { type OwnStore, openOwnStore } from '../support/own-store.ts';
import { BEGINNING } from '../support/server.ts';

const NODES = 3;
const NOTICES = 60;
/** None of them polls by itself: that would go on after what the test waits for. */
const NEVER = 2 ** 31 - 1;
const origin = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;

let store: OwnStore;
let receiver: Receiver;
let dispatchers: NoticeDispatcher[];
let clientId: string;
before(async () => {
  store = await openOwnStore();
  receiver = await startReceiver();
  const { database } = store;
  const clock = () => BEGINNING;
  const registration = {
    name: 'App',
    redirectUris: ['https://app.example.com/cb'],
    idTokenSignedResponseAlg: 'EdDSA',
    backchannelLogoutUri: receiver.uri,
  } as const;
  const created = await createClient(
    { operator: undefined, database, clock, ids: leasedIds(database, clock), issuer: 'http://localhost:3000' },
    { ...registration, redirectUris: [...registration.redirectUris] },
    origin,
  );
  clientId = created.client.id;
  const keys = await openKeys(database, { current: Buffer.alloc(32, 7), previous: undefined }, clock);
  const send = outgoing({ local: true, networks: [] });
  const failed = (error: unknown) => assert.fail(String(error));
  const parts = {
    ...{ database, clock, keys, issuer: 'http://localhost:3000', send, listedDomains: [], meter: unmetered, failed },
  };
  dispatchers = Array.from({ length: NODES }, () => startNoticeDispatcher(parts, NEVER));
});
after(async () => {
  await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()));
  await receiver.close();
  await store.dispose();
});

const add = (database: Database) =>
  database.commit(function* insert() {
    for (let count = 0; count < NOTICES; count++) {
      yield* insertNotice({ clientId, accountId: '7', sid: `sid ${count}`, now: BEGINNING });
    }
  });

test('of many nodes that poll at the same time, one delivers each notice, once', async () => {
  await add(store.database);
  await Promise.all([...dispatchers, ...dispatchers].map((dispatcher) => dispatcher.deliverDue()));
  const sids = receiver.received.map((received) => claimsOf(tokenOf(received)).sid);
  assert.equal(sids.length, NOTICES);
  assert.equal(new Set(sids).size, NOTICES);
  assert.equal(await dispatchers[0]?.waiting(), 0);
  const query = { after: '0', limit: 200, order: 'asc', filter: { type: 'logout.delivered', clientId } } as const;
  assert.equal((await listEvents(store.database, query)).length, NOTICES);
});
