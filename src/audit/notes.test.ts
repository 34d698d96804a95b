import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE } from '../platform/clock.ts';
import { type Database, StoreUnavailable } from '../platform/database/database.ts';
import { notes } from './notes.ts';

const from = (address: string) => ({ actor: { type: 'anonymous', id: null }, address, requestId: null }) as const;
const forged = (at: number, address = '192.0.2.1') =>
  ({ at, type: 'token.forged', outcome: 'failure', origin: from(address), details: { reason: 'x' } }) as const;

/** A store that keeps what is recorded. */
function recorded(): { database: Pick<Database, 'commit'>; details: unknown[] } {
  const details: unknown[] = [];
  const commit: Database['commit'] = async (work) => {
    const step = work().next();
    if (!step.done) details.push(JSON.parse(String(step.value.params['details'])));
    return undefined as never;
  };
  return { database: { commit }, details };
}

test('a flood from one address is one event a minute, which tells how many came before it', async () => {
  const { database, details } = recorded();
  const note = notes(database);
  for (let n = 0; n < 1000; n++) await note(forged(n));
  await note(forged(MINUTE));
  await note(forged(2 * MINUTE));
  assert.deepEqual(details, [{ reason: 'x' }, { reason: 'x', leftOut: 999 }, { reason: 'x' }]);
});

test('a flood from many addresses is a hundred events a minute, and hides no event of another type', async () => {
  const { database, details } = recorded();
  const note = notes(database);
  for (let n = 0; n < 1000; n++) await note(forged(0, `2001:db8::${n.toString(16)}`));
  assert.equal(details.length, 100);
  await note({ ...forged(1), type: 'admin_key.refused' });
  assert.equal(details.length, 101);
});

test('a clock that was set back stops no record', async () => {
  const { database, details } = recorded();
  const note = notes(database);
  await note(forged(9 * MINUTE));
  await note(forged(0));
  assert.equal(details.length, 2);
});

test('where the store cannot write, the refusal stands, and the next one is recorded', async () => {
  const { database, details } = recorded();
  let away = true;
  const commit: Database['commit'] = (work) =>
    away ? Promise.reject(new StoreUnavailable('full')) : database.commit(work);
  const note = notes({ commit });
  await note(forged(0));
  away = false;
  await note(forged(1));
  assert.deepEqual(details, [{ reason: 'x' }]);
});
