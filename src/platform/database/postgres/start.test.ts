import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durabilityWarnings, requireDurableSettings, type ServerFacts, unsuitability } from './start.ts';

const good: ServerFacts = {
  version: '180004',
  release: '18.4',
  replica: false,
  readonly: 'off',
  fsync: 'on',
  fullPages: 'on',
  standbys: '',
  started: '1700000000.000001',
};
const cases: [string, ServerFacts | undefined, RegExp | undefined][] = [
  ['18', good, undefined],
  ['the first of 14', { ...good, version: '140000', release: '14.0' }, undefined],
  ['a version that is yet to come', { ...good, version: '260001', release: '26.1' }, undefined],
  [
    'the last of 13',
    { ...good, version: '130023', release: '13.23' },
    /PostgreSQL 13\.23; .* needs 14 or newer\. Upgrade/,
  ],
  ['9.6', { ...good, version: '90624', release: '9.6.24' }, /PostgreSQL 9\.6\.24; .* Upgrade/],
  ['a version that is no number', { ...good, version: 'x', release: 'x' }, /PostgreSQL x; /],
  ['a replica', { ...good, replica: true }, /is a replica.*Name the primary/],
  ['a read-only one', { ...good, readonly: 'on' }, /default_transaction_read_only is on.*Turn it off/],
  ['an old replica', { ...good, version: '130000', replica: true }, /Upgrade/],
  ['nothing', undefined, /does not say which it is/],
];
for (const [what, facts, reason] of cases) {
  test(`a server that says ${what} is ${reason === undefined ? 'taken' : 'refused'}`, () => {
    if (reason === undefined) assert.equal(unsuitability(facts), undefined);
    else assert.match(unsuitability(facts) ?? '', reason);
  });
}

test('what a loss of power may undo is told; where others are served, it is refused', () => {
  const told = (facts: ServerFacts) => durabilityWarnings(facts).map(({ found }) => found.split(' ', 1)[0]);
  assert.deepEqual(told(good), []);
  assert.deepEqual(told({ ...good, fsync: 'off' }), ['fsync']);
  assert.deepEqual(told({ ...good, fullPages: 'off' }), ['full_page_writes']);
  requireDurableSettings({ ...good, fullPages: 'off' });
  assert.throws(() => requireDurableSettings({ ...good, fsync: 'off' }), /Turn it on/);
});
