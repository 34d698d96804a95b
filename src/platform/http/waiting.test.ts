// store: none
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { createWaiting } from './waiting.ts';

/** A connection of a process whose time is set. */
function connection() {
  const handle = {};
  const socket = new Socket();
  Object.assign(socket, { _handle: handle });
  const clock = { now: 1000 };
  const waiting = createWaiting(() => clock.now);
  /** @returns how long a request waited that comes so many milliseconds after the event loop turned */
  const after = (milliseconds: number) => {
    clock.now += milliseconds;
    return waiting.of(socket);
  };
  return { clock, waiting, handle, after, socket };
}

test('a connection that was given to this process at once does not wait, whenever its request comes', () => {
  const { clock, waiting, handle, after } = connection();
  waiting.accepted(handle, clock.now - 999);
  assert.equal(after(0), 0);
  assert.equal(after(999), 0);
});

test('a request on a connection that another process kept waited as long, unless its client let it wait', () => {
  const { clock, waiting, handle, after } = connection();
  waiting.accepted(handle, clock.now - 55_000);
  assert.equal(after(0), 55_000);
  assert.equal(after(900), 55_000);
  waiting.beat();
  assert.equal(after(101), 0);
});

test('another connection has not waited', () => {
  const { clock, waiting, after } = connection();
  waiting.accepted({}, clock.now - 55_000);
  assert.equal(after(0), 0);
});

test('what comes after the event loop stood still may have waited since it last turned', async () => {
  const { clock, waiting, socket, after } = connection();
  assert.equal(after(6000), 6000);
  waiting.beat();
  assert.equal(waiting.of(socket), 6000, 'it has not been read yet');
  clock.now += 10;
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  assert.equal(waiting.of(socket), 0);
});
