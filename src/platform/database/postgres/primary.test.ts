// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { openPrimary } from './primary.ts';
import type { ClusterPosition } from './rules/primary.ts';

const at = (timeline: number, cluster = '7'): ClusterPosition => ({ cluster, timeline, end: 100 });

/** Servers that a name or a proxy leads to, one after another. */
function behindOneName(...positions: readonly (ClusterPosition | undefined)[]) {
  const primary = openPrimary('postgres://tessera@proxy.example.com/tessera');
  for (const position of positions) primary.accept(new Client(), position);
  return primary;
}

test('behind one name: the successor is accepted, and connections to the former primary are not trusted', () => {
  const primary = behindOneName();
  const [former, successor] = [new Client(), new Client()];
  primary.accept(former, at(1));
  assert.ok(primary.trusts(former));
  primary.accept(successor, at(2));
  assert.deepEqual([primary.trusts(former), primary.trusts(successor)], [false, true]);
});

const refused: [string, ClusterPosition | undefined, RegExp][] = [
  ['a server that was replaced', at(1), /was replaced: .* timeline 1, .* timeline 2/],
  ['a server that hides its timeline, after one that told it', undefined, /does not tell its timeline/],
  ['a server of another cluster', at(3, '8'), /another cluster .*8, expected 7/],
];
for (const [what, position, reason] of refused) {
  test(`behind one name, ${what} is refused`, () => {
    const primary = behindOneName(at(2));
    assert.throws(() => primary.accept(new Client(), position), reason);
  });
}

test('a server that hides its timeline is accepted alone, and known for it', () => {
  const hidden = behindOneName(undefined);
  assert.equal(hidden.tellsTimeline(), false);
  assert.equal(behindOneName(at(1)).tellsTimeline(), true);
});
