// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE } from '../platform/clock.ts';
import { type Database, StoreUnavailable } from '../platform/database/database.ts';
import { throttledRecorder } from './throttle.ts';

const from = (address: string) => ({ actor: { type: 'anonymous', id: null }, address, requestId: null }) as const;
const forged = (at: number, address = '192.0.2.1') =>
  ({ at, type: 'token.forged', outcome: 'failure', origin: from(address), details: { reason: 'x' } }) as const;

/** A store that keeps the details of recorded events. */
function recordingStore(): { database: Pick<Database, 'commit'>; details: unknown[] } {
  const details: unknown[] = [];
  const commit: Database['commit'] = async (work) => {
    const step = work().next();
    if (!step.done) details.push(JSON.parse(String(step.value.params['details'])));
    return undefined as never;
  };
  return { database: { commit }, details };
}

test('a flood from one address is one event a minute, which tells how many were left out', async () => {
  const { database, details } = recordingStore();
  const recordThrottled = throttledRecorder(database);
  for (let n = 0; n < 1000; n++) await recordThrottled(forged(n));
  await recordThrottled(forged(MINUTE));
  await recordThrottled(forged(2 * MINUTE));
  assert.deepEqual(details, [{ reason: 'x' }, { reason: 'x', leftOut: 999 }, { reason: 'x' }]);
});

test('a flood from many addresses is a hundred events a minute, and hides no event of another type', async () => {
  const { database, details } = recordingStore();
  const recordThrottled = throttledRecorder(database);
  for (let n = 0; n < 1000; n++) await recordThrottled(forged(0, `2001:db8::${n.toString(16)}`));
  assert.equal(details.length, 100);
  await recordThrottled({ ...forged(1), type: 'admin_key.refused' });
  assert.equal(details.length, 101);
});

test('a clock that was set back does not stop the recording', async () => {
  const { database, details } = recordingStore();
  const recordThrottled = throttledRecorder(database);
  await recordThrottled(forged(9 * MINUTE));
  await recordThrottled(forged(0));
  assert.equal(details.length, 2);
});

test('without a store a refusal is not recorded, and the next one is', async () => {
  const { database, details } = recordingStore();
  let away = true;
  const commit: Database['commit'] = (work) =>
    away ? Promise.reject(new StoreUnavailable('full')) : database.commit(work);
  const recordThrottled = throttledRecorder({ commit });
  await recordThrottled(forged(0));
  away = false;
  await recordThrottled(forged(1));
  assert.deepEqual(details, [{ reason: 'x' }]);
});
