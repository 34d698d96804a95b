// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figures } from './figures.ts';

for (const { name, value, bound, places } of figures()) {
  if (bound === undefined) continue;
  test(`the house has at most ${bound} ${name}`, () => {
    assert.ok(value <= bound, `${value}, more than ${bound}: ${places.join(', ')}`);
  });
}

test('every figure finds what it counts', () => {
  assert.deepEqual(
    figures().filter(({ value }) => Number.isNaN(value) || value < 0),
    [],
  );
  const size = figures().find(({ name }) => name === 'lines of src')?.value ?? 0;
  assert.ok(size > 10_000, `${size} lines`);
});
