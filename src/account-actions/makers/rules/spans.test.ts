// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutAt, isInSpan, NO_END, outsideOf, type TimeSpan, withSpan } from './spans.ts';

const span = (since: number, until: number): TimeSpan => ({ since, until });

test('a span has its first instant, and not its last', () => {
  assert.deepEqual(
    [9, 10, 19, 20].map((at) => isInSpan(span(10, 20), at)),
    [false, true, true, false],
  );
});

const JOINED: readonly [what: string, spans: TimeSpan[], added: TimeSpan, joined: TimeSpan[]][] = [
  ['the first', [], span(1, 2), [span(1, 2)]],
  ['one apart', [span(1, 2)], span(3, 4), [span(1, 2), span(3, 4)]],
  ['one before', [span(3, 4)], span(1, 2), [span(1, 2), span(3, 4)]],
  ['one that touches', [span(1, 2)], span(2, 4), [span(1, 4)]],
  ['one that overlaps', [span(1, 3)], span(2, 4), [span(1, 4)]],
  ['one within', [span(1, 9)], span(2, 4), [span(1, 9)]],
  ['one between that joins two', [span(1, 3), span(5, 7)], span(2, 6), [span(1, 7)]],
  ['one without an end', [span(1, 3), span(5, 7)], span(2, NO_END), [span(1, NO_END)]],
  ['an empty one', [span(1, 3)], span(5, 5), [span(1, 3)]],
];
for (const [what, spans, added, joined] of JOINED) {
  test(`spans with ${what}`, () => assert.deepEqual(withSpan(spans, added), joined));
}

const CUT: readonly [what: string, instants: number[], parts: TimeSpan[]][] = [
  ['nowhere', [], [span(2, 8)]],
  ['at two instants', [6, 4, 6], [span(2, 4), span(4, 6), span(6, 8)]],
  ['at its ends and outside', [1, 2, 8, 9], [span(2, 8)]],
];
for (const [what, instants, parts] of CUT) {
  test(`a span cut ${what}`, () => assert.deepEqual(cutAt(span(2, 8), instants), parts));
}

const LEFT: readonly [what: string, spans: TimeSpan[], of: TimeSpan, left: TimeSpan[]][] = [
  ['nothing', [], span(5, NO_END), [span(5, NO_END)]],
  ['one at its beginning', [span(5, 7)], span(5, NO_END), [span(7, NO_END)]],
  ['one from before it', [span(1, 7)], span(5, NO_END), [span(7, NO_END)]],
  ['one before it', [span(1, 2)], span(5, NO_END), [span(5, NO_END)]],
  ['one within it', [span(6, 7)], span(5, NO_END), [span(5, 6), span(7, NO_END)]],
  ['two within it', [span(6, 7), span(8, 9)], span(5, 10), [span(5, 6), span(7, 8), span(9, 10)]],
  ['one without an end', [span(6, NO_END)], span(5, NO_END), [span(5, 6)]],
  ['one after it', [span(20, 30)], span(5, 10), [span(5, 10)]],
  ['all of it', [span(1, 30)], span(5, 10), []],
];
for (const [what, spans, of, left] of LEFT) {
  test(`what is left of a span without ${what}`, () => assert.deepEqual(outsideOf(spans, of), left));
}
