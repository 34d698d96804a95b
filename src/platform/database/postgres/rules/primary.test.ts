// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClusterPosition, choosePrimary, type Sighting } from './primary.ts';

const at = (timeline: number, cluster = '7'): ClusterPosition => ({ cluster, timeline, end: 100 });
const server = (host: string, standby: boolean, position: ClusterPosition | undefined): Sighting => ({
  ...{ kind: 'server', host, standby, position },
  unsuitable: undefined,
});
const primary = (host: string, timeline: number, cluster?: string) => server(host, false, at(timeline, cluster));
const standby = (host: string, timeline: number, cluster?: string) => server(host, true, at(timeline, cluster));
const silent = (host: string): Sighting => ({ kind: 'silent', host, reason: 'Nothing listens there.' });

const cases: [string, Sighting[], ClusterPosition | undefined, string | undefined, RegExp][] = [
  ['the primary after a standby', [standby('a', 1), primary('b', 1)], undefined, 'b', /^a is a standby/],
  ['the primary beside a silent host', [silent('a'), primary('b', 1)], undefined, 'b', /^a Nothing listens there/],
  ['the successor of a primary that lives on', [primary('a', 1), primary('b', 2)], undefined, 'b', /^a was replaced/],
  ['no former primary after its successor', [primary('a', 1), silent('b')], at(2), undefined, /^a was .* timeline 2/],
  [
    'no primary that a standby knows a successor of',
    [primary('a', 1), standby('b', 2)],
    undefined,
    undefined,
    /^a was/,
  ],
  ['neither of two on one timeline', [primary('a', 2), primary('b', 2)], at(2), undefined, /^a takes .* and b does/],
  ['no standby alone', [standby('a', 3), silent('b')], at(3), undefined, /^a is a standby/],
  ['none of two clusters', [primary('a', 1), primary('b', 1, '8')], undefined, undefined, /^a belongs to another/],
  ['no other cluster than before', [primary('a', 9, '8'), primary('b', 1)], at(1), 'b', /^a belongs .* expected 7/],
  ['no server without a timeline', [server('a', false, undefined)], undefined, undefined, /^a does not tell its/],
  [
    'no server that is too old',
    [{ ...primary('a', 1), unsuitable: 'The server is too old.' } as Sighting],
    undefined,
    undefined,
    /^a The server is too old/,
  ],
];
for (const [what, sightings, known, host, first] of cases) {
  test(`is chosen: ${what}`, () => {
    const choice = choosePrimary(sightings, known);
    assert.equal(choice.kind === 'primary' ? choice.host : undefined, host);
    assert.match(choice.others.map((one) => `${one.host} ${one.reason}`).join('\n'), first);
  });
}
