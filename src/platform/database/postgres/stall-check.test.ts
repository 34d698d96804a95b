// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStallCheck } from './stall-check.ts';

function begin() {
  const looks: (() => void)[] = [];
  const state = { now: 0, looks };
  const look = () => new Promise<void>((resolve) => void looks.push(resolve));
  return { ...createStallCheck(look, () => state.now), state };
}

test('an answer that comes soon counts at once', () => {
  const { sent, state } = begin();
  const answered = sent(true);
  state.now = 100;
  assert.equal(answered(), undefined);
  assert.equal(state.looks.length, 0);
});

test('a late answer counts after a look that began after it, which it shares with others', async () => {
  const { sent, state } = begin();
  const [first, second, third] = [sent(true), sent(true), sent(true)];
  state.now = 101;
  let counted = 0;
  const count = () => void counted++;
  const both = [first()?.then(count), second()?.then(count)];
  assert.equal(state.looks.length, 1);
  // The look that is under way began before this answer, so it says nothing about it.
  state.now = 102;
  const later = third()?.then(count);
  state.looks[0]?.();
  await Promise.all(both);
  assert.equal(counted, 2);
  assert.equal(state.looks.length, 2);
  state.looks[1]?.();
  await later;
  state.now = 110;
  const soon = sent(true);
  assert.equal(soon(), undefined);
});

test('a soon answer does not count while another question waits, or until a look after it was answered', async () => {
  const { sent, state } = begin();
  const stalled = sent(true);
  state.now = 200;
  const one = sent(true)();
  assert.notEqual(one, undefined);
  state.looks[0]?.();
  await one;
  state.now = 210;
  const late = stalled();
  const another = sent(true)();
  assert.notEqual(another, undefined);
  state.looks[1]?.();
  await Promise.all([late, another]);
  state.now = 220;
  assert.equal(sent(true)(), undefined);
});

test('what may wait for a lock says nothing about other answers', async () => {
  const { sent, state } = begin();
  const write = sent(false);
  state.now = 5000;
  assert.equal(sent(true)(), undefined);
  const late = write();
  assert.notEqual(late, undefined);
  assert.equal(sent(true)(), undefined);
  state.looks[0]?.();
  await late;
});
