// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DomainRound, firstEnding, withRound } from './domain-rounds.ts';

/** Rounds of who blocked and who unblocked, one after the other. */
const inTurn = (...by: readonly (readonly [blockedBy: string | null, operatorId: string])[]): readonly DomainRound[] =>
  by.map(([blockedBy, operatorId], at) => ({ blockedBy, operatorId, createdAt: 10 * at, unblockedAt: 10 * at + 5 }));

for (const [rounds, first] of [
  [inTurn(['other', 'key']), 0],
  [inTurn([null, 'key']), 0],
  [inTurn(['key', 'key']), undefined],
  [inTurn(['other', 'other']), undefined],
  [inTurn(['other', 'key'], ['key', 'key']), 0],
  [inTurn(['other', 'key'], ['helper', 'key'], ['key', 'helper']), 0],
  [inTurn(['other', 'key'], ['other', 'helper']), 1],
  [inTurn(['other', 'key'], ['key', 'other']), undefined],
  [inTurn(['other', 'other'], ['key', 'key']), undefined],
  [inTurn(['key', 'other'], ['key', 'key']), undefined],
  [[], undefined],
] as const) {
  const told = rounds.map(({ blockedBy, operatorId }) => `${blockedBy}/${operatorId}`).join(' ');
  test(`of the rounds "${told}" the first that ends is ${first}`, () => {
    const found = firstEnding(rounds, (id) => id === 'key' || id === 'helper');
    assert.deepEqual(
      found,
      first === undefined ? undefined : { round: rounds[first], earlier: rounds.slice(0, first) },
    );
  });
}

test('what an operator blocked before the time from which on their acts end is blocked again', () => {
  const rounds = inTurn(['key', 'key'], ['key', 'key']);
  assert.equal(firstEnding(rounds, (_, at) => at >= 12)?.round, rounds[1]);
  assert.equal(firstEnding(rounds, (_, at) => at >= 5)?.round, rounds[0]);
});

test('of very many rounds the oldest one is kept', () => {
  const [first, ...others] = inTurn(['other', 'key'], ...Array.from({ length: 300 }, () => ['key', 'key'] as const));
  const kept = others.reduce<readonly DomainRound[]>(withRound, first === undefined ? [] : [first]);
  assert.equal(kept.length, 100);
  assert.equal(kept.at(-1), others.at(-1));
  assert.equal(firstEnding(kept, (id) => id === 'key')?.round, first);
});
