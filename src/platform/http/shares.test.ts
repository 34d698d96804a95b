import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Shares, shares } from './shares.ts';

const ada = { sharer: 'ada', most: 3 };
const bob = { sharer: 'bob', most: 3 };
const home = { sharer: 'home', most: 4 };

function taken(from: Shares, amount: number, ...of: Parameters<Shares['take']>[1]): () => void {
  const release = from.take(amount, of);
  assert.ok(typeof release === 'function', String(release));
  return release;
}

test('a sharer holds its share at most, and others are served meanwhile', () => {
  const slots = shares(10);
  const release = taken(slots, 2, ada);
  taken(slots, 1, ada);
  assert.equal(slots.take(1, [ada]), 'share');
  taken(slots, 3, bob);
  release();
  assert.equal(slots.take(3, [ada]), 'share');
  taken(slots, 2, ada);
});

test('whoever has several sharers needs room with each, and takes from all or none', () => {
  const slots = shares(10);
  taken(slots, 3, ada, home);
  assert.equal(slots.take(2, [bob, home]), 'share');
  taken(slots, 3, bob);
  assert.equal(slots.take(1, [ada, home]), 'share');
});

test('all together hold the total at most', () => {
  const slots = shares(4);
  const release = taken(slots, 3, ada);
  assert.equal(slots.take(2, [bob]), 'total');
  assert.equal(slots.take(2, []), 'total');
  release();
  taken(slots, 2, bob);
});

test('what is given back twice counts once', () => {
  const slots = shares(3);
  const release = taken(slots, 2, ada);
  taken(slots, 1, ada);
  release();
  release();
  assert.equal(slots.take(3, [ada]), 'share');
  assert.equal(slots.take(3, []), 'total');
  taken(slots, 2, ada);
});
