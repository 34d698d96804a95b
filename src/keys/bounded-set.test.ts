import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundedSet } from './bounded-set.ts';

test('it keeps the youngest half of its capacity at least, and never more than its capacity', () => {
  const set = boundedSet(8);
  for (let added = 1; added <= 100; added++) {
    set.add(`${added}`);
    const kept = Array.from({ length: added }, (_, n) => `${n + 1}`).filter((text) => set.has(text));
    assert.ok(kept.length <= 8);
    for (let n = Math.max(1, added - 3); n <= added; n++) assert.ok(kept.includes(`${n}`), `${n} of ${added}`);
  }
});
