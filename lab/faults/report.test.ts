// store: SQLite
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faults } from './faults.ts';
import { page } from './report.ts';

test('the page explains every fault', () => {
  const text = page('', { outcomes: [], seconds: 0, leftOut: [], how: '' });
  for (const name of Object.keys(faults()))
    assert.ok(
      [name, `${name.split('-')[0]}-*`].some((known) => text.includes(`\`${known}\``)),
      name,
    );
});

test('the output of one run replaces that of a run of its kind, and no other', () => {
  const run = (seconds: number, how: string) => ({ outcomes: [], seconds, leftOut: [], how });
  const first = page('', run(111, ''));
  const second = page(first, run(222, 'through PgBouncer'));
  assert.ok(second.includes('in 111 seconds') && second.includes('in 222 seconds'));
  const third = page(second, run(333, ''));
  assert.ok(!third.includes('in 111 seconds') && third.includes('in 222 seconds') && third.includes('in 333 seconds'));
  assert.doesNotMatch(page(third, run(444, '')), /\n{3}/);
});
