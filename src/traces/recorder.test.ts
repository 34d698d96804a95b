// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Database, StoreUnavailable } from '../platform/database/database.ts';
import { createTraceRecorder } from './recorder.ts';
import type { RefusedStep } from './step.ts';

/** A recorder with a store that only counts what it is asked to insert. */
function recording() {
  const state = { stored: [] as string[], dropped: 0, failed: 0, error: undefined as Error | undefined, gone: '' };
  const commit: Database['commit'] = async (work) => {
    if (state.error !== undefined) throw state.error;
    const unit = work();
    let step = unit.next();
    while (!step.done) {
      const { params } = step.value;
      if ('facts' in params && params['account_id'] === state.gone) throw new Error('a constraint');
      if ('facts' in params) state.stored.push(String(params['request_id']));
      // Every client and account exists but one.
      step = unit.next(params['id'] === state.gone ? [] : [{ id: params['id'] }]);
    }
    return step.value;
  };
  const recorder = createTraceRecorder({
    database: { commit },
    clock: () => 0,
    dropped: (count) => {
      state.dropped += count;
    },
    failed: () => {
      state.failed++;
    },
  });
  return { recorder, state };
}

const refused = (requestId: string, more: Partial<RefusedStep> = {}): RefusedStep => ({
  requestId,
  step: 'token',
  facts: {},
  ...more,
});

test('a flood from one address, or from many, leaves room for what an app proved', async () => {
  const { recorder, state } = recording();
  for (let n = 0; n < 1000; n++) recorder.refused(refused('one', { address: '192.0.2.1' }));
  assert.equal(state.dropped, 800);
  for (let n = 0; n < 1000; n++) recorder.refused(refused('many', { address: `198.51.100.${n % 256}` }));
  assert.equal(state.dropped, 800 + 700);
  recorder.refused(refused('own', { proof: 'client', clientId: '1' }));
  recorder.completed.push({ at: 0, requestId: 'progress', step: 'token', clientId: '1', facts: {} });
  await recorder.flush();
  assert.equal(state.stored.length, 502);
  assert.deepEqual(state.stored.slice(-2), ['own', 'progress']);
  recorder.refused(refused('later', { address: '192.0.2.1' }));
  await recorder.stop();
  assert.equal(state.stored.at(-1), 'later', 'the queue has room again');
});

test('a flood by someone with a token of an app leaves room for what an app proved, and for other tokens', async () => {
  const { recorder, state } = recording();
  for (let n = 0; n < 1000; n++) recorder.refused(refused('one', { proof: 'token', address: '192.0.2.1' }));
  assert.equal(state.dropped, 800);
  recorder.refused(refused('stranger', { address: '192.0.2.1' }));
  for (let n = 0; n < 1000; n++)
    recorder.refused(refused('many', { proof: 'token', address: `198.51.100.${n % 256}` }));
  assert.equal(state.dropped, 800 + 950);
  recorder.refused(refused('own', { proof: 'client', clientId: '1' }));
  await recorder.stop();
  assert.equal(state.stored.length, 252);
  assert.equal(state.stored.at(-1), 'own');
});

test('under load, refusals are stored before further completed steps', async () => {
  const { recorder, state } = recording();
  for (let n = 0; n < 1000; n++) recorder.completed.push({ at: n, requestId: 'done', step: 'token', facts: {} });
  recorder.refused(refused('refused', { proof: 'client' }));
  await recorder.stop();
  assert.deepEqual([state.stored.length, state.stored.at(-1), state.dropped], [201, 'refused', 800]);
});

test('during an outage the queue waits, within its bounds; afterwards it is stored', async () => {
  const { recorder, state } = recording();
  state.error = new StoreUnavailable('full');
  recorder.refused(refused('first'));
  await recorder.flush();
  for (let n = 0; n < 1200; n++) recorder.refused(refused('next', { proof: 'client' }));
  await recorder.flush();
  assert.deepEqual([state.stored.length, state.failed, state.dropped], [0, 0, 201]);
  state.error = undefined;
  await recorder.flush();
  assert.deepEqual([state.stored.length, state.stored[0]], [1000, 'first']);
  await recorder.stop();
});

test('where a step violates a constraint, only those of accounts that exist are stored', async () => {
  const { recorder, state } = recording();
  state.gone = '7';
  recorder.completed.push({ at: 0, requestId: 'of a deleted account', step: 'token', accountId: '7', facts: {} });
  recorder.completed.push({ at: 0, requestId: 'of another', step: 'token', accountId: '8', facts: {} });
  await recorder.stop();
  assert.deepEqual([state.stored, state.dropped, state.failed], [['of another'], 0, 0]);
});

test('steps that cannot be stored are dropped and counted, and the next ones are stored', async () => {
  const { recorder, state } = recording();
  state.error = new Error('a row that violates a constraint');
  recorder.refused(refused('bad'));
  await recorder.flush();
  state.error = undefined;
  recorder.refused(refused('good'));
  await recorder.stop();
  assert.deepEqual([state.stored, state.dropped, state.failed], [['good'], 1, 1]);
  recorder.refused(refused('late'));
  await recorder.flush();
  assert.deepEqual(state.stored, ['good'], 'nothing is recorded after the stop');
});

test('of the first answers of UserInfo fifty a second are recorded, and none twice', async () => {
  const { recorder } = recording();
  const recorded = () => Array.from({ length: 100 }, (_, n) => recorder.isFirstAnswer(`${n}`)).filter(Boolean).length;
  assert.equal(recorded(), 50);
  assert.equal(recorded(), 0);
  await recorder.flush();
  assert.equal(recorded(), 50, 'the others, and not the first fifty again');
  await recorder.flush();
  assert.equal(recorded(), 0);
  await recorder.stop();
});

test('while the store answers nothing, one flush waits behind the one under way, however often there was to be one', async () => {
  const commits: (() => void)[] = [];
  const recorder = createTraceRecorder({
    database: {
      commit: () =>
        new Promise((_, reject) => {
          commits.push(() => reject(new StoreUnavailable('silent')));
        }),
    },
    clock: () => 0,
    dropped: () => {},
    failed: () => {},
  });
  recorder.refused(refused('one'));
  for (let n = 0; n < 100; n++) void recorder.flush();
  const stopped = recorder.stop();
  commits[0]?.();
  await new Promise(setImmediate);
  commits[1]?.();
  await stopped;
  assert.equal(commits.length, 2);
});
