import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faults } from './faults.ts';
import { page } from './report.ts';

test('the page explains every fault', () => {
  const text = page([], 0);
  for (const name of Object.keys(faults()))
    assert.ok(
      [name, `${name.split('-')[0]}-*`].some((known) => text.includes(`\`${known}\``)),
      name,
    );
});
