// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HASH_COST, passwords } from './crypto/passwords.ts';
import { type Turn, Turns } from './turns.ts';

test('turns are granted in order, never more at a time than there are, and come back with their holder', () => {
  const turns = new Turns<string>(2);
  const granted: string[] = [];
  const ask = (holder: string) => turns.ask(holder, () => granted.push(holder));
  for (const holder of ['a', 'b', 'c', 'a', 'd']) ask(holder);
  assert.deepEqual(granted, ['a', 'b']);
  turns.giveBack('b');
  assert.deepEqual(granted, ['a', 'b', 'c']);
  // It held one and waited for another.
  turns.forget('a');
  assert.deepEqual(granted, ['a', 'b', 'c', 'd']);
  ask('e');
  assert.equal(granted.length, 4);
  turns.giveBack('c');
  turns.giveBack('d');
  ask('f');
  assert.deepEqual(granted.slice(4), ['e', 'f']);
  turns.forget('nobody');
  ask('g');
  assert.equal(granted.length, 6);
});

test('a turn ends with its deadline, and one that hangs gets no other before it gives that back', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const turns = new Turns<string>(1, 2000);
  const granted: string[] = [];
  const ask = (holder: string) => turns.ask(holder, () => granted.push(holder));
  for (const holder of ['hangs', 'hangs', 'works', 'waits']) ask(holder);
  t.mock.timers.tick(1999);
  assert.deepEqual(granted, ['hangs']);
  t.mock.timers.tick(1);
  assert.deepEqual(granted, ['hangs', 'works']);
  turns.giveBack('works');
  assert.deepEqual(granted, ['hangs', 'works', 'waits']);
  // What was given to another is not free when it comes back.
  turns.giveBack('hangs');
  assert.deepEqual(granted, ['hangs', 'works', 'waits']);
  turns.giveBack('waits');
  assert.deepEqual(granted, ['hangs', 'works', 'waits', 'hangs']);
  ask('last');
  t.mock.timers.tick(2000);
  turns.forget('hangs');
  ask('hangs');
  assert.deepEqual(granted.slice(4), ['last']);
  turns.giveBack('last');
  assert.deepEqual(granted.slice(4), ['last', 'hangs']);
});

test('processes that share a number of hashes do not exceed it together', async () => {
  const turns = new Turns<object>(2);
  let hashing = 0;
  let most = 0;
  const process = () => {
    const self = {};
    const turn: Turn = async (task) => {
      await new Promise<void>((resolve) => turns.ask(self, resolve));
      most = Math.max(most, ++hashing);
      try {
        return await task();
      } finally {
        hashing--;
        turns.giveBack(self);
      }
    };
    return passwords(2, { ...HASH_COST, memoryCost: 8 }, { turn, processes: 3 });
  };
  const all = [process(), process(), process()];
  const hashes = await Promise.all(all.flatMap((one) => Array.from({ length: 12 }, () => one.hash('a password', []))));
  assert.equal(hashes.length, 36);
  assert.equal(most, 2);
  // After its last hash, each gives the event loop a moment.
  while (all.some((one) => one.load().running > 0)) await nextTurn();
  assert.deepEqual(all[0]?.load(), { running: 0, waiting: 0 });
});
