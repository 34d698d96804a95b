// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rangeOfBeginning } from './beginning.ts';

const ROWS: readonly (readonly [text: string, from: string, to: string])[] = [
  ['ada', 'ada', 'adb'],
  ['ada.', 'ada', 'adb'],
  ['ada@example', 'ada@example', 'ada@examplf'],
  ['az', 'az', 'b'],
  ['a9', 'a9', 'aa'],
  ['zz', 'zz', 'z'.repeat(255)],
];
for (const [text, from, to] of ROWS) {
  test(`the names that begin with ${text}`, () => assert.deepEqual(rangeOfBeginning(text), { from, to }));
}

test('a text of signs alone has no range', () => assert.equal(rangeOfBeginning('@.'), undefined));

test('a range has every name that begins with the text, in the order of bytes and in that of a language', () => {
  const names = ['ada', 'ada.lovelace', 'ada-1', 'ada_z', 'adaz', 'ada9', 'ada@example.com'];
  const orders = [(a: string, b: string) => (a < b ? -1 : Number(a > b)), new Intl.Collator('en').compare];
  for (const compare of orders) {
    for (const name of names) {
      for (let length = 1; length <= name.length; length++) {
        const range = rangeOfBeginning(name.slice(0, length));
        assert.ok(range !== undefined);
        assert.ok(compare(range.from, name) <= 0 && compare(name, range.to) < 0, `${name} ${length}`);
      }
    }
  }
});
