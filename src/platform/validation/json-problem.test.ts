// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyText } from '../../../test/support/any-text.ts';
import { findJsonProblem } from './json-problem.ts';

const cases: readonly (readonly [text: string, line: number, column: number, found: string, expected: string])[] = [
  ['', 1, 1, 'the end of the body', 'an object that begins with {'],
  ['{"a":1', 1, 7, 'the end of the body', 'a comma or }'],
  ['{"a":1,}', 1, 8, '} after a comma', 'a member name in double quotes'],
  ['[1, ]', 1, 5, '] after a comma', 'a value'],
  ["{'a':1}", 1, 2, 'a single quote', 'a member name in double quotes'],
  ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'a double quote', 'a comma or }'],
  ['{a:1}', 1, 2, 'a word without quotes', 'a member name in double quotes'],
  ['{"a" 1}', 1, 6, 'a digit', 'a colon after the member name'],
  ['{"a":undefined}', 1, 6, 'the word undefined', 'a value'],
  ['{"a":None}', 1, 6, 'the word None', 'a value'],
  ['{"a":}', 1, 6, '}', 'a value'],
  ['\ufeff{"a":1}', 1, 1, 'a byte order mark', 'an object that begins with {'],
  ['{"a":1}{', 1, 8, '{', 'the end of the body'],
  ['// x\n{}', 1, 1, 'a slash or number sign', 'an object that begins with {'],
  ['{"a":"b\nc"}', 1, 8, 'a line break or another control character', 'the rest of a string'],
  ['{"a":"\\x"}', 1, 7, 'an escape that JSON does not have', 'the rest of a string'],
  ['{"a":"b', 1, 8, 'the end of the body', 'the rest of a string'],
  ['{\\"a\\":1}', 1, 2, 'a backslash', 'a member name in double quotes'],
  ['{\u201ca\u201d:1}', 1, 2, 'a typographic quote', 'a member name in double quotes'],
  ['[object Object]', 1, 2, '[object Object]', 'a value'],
  ['code=s3cret', 1, 1, 'a word without quotes', 'an object that begins with {'],
  ['{"a":01}', 1, 7, 'a digit', 'a comma or }'],
  ['{"a":[1}', 1, 8, '}', 'a comma or ]'],
];
for (const [text, line, column, found, expected] of cases) {
  test(`${JSON.stringify(text)}: ${found} at ${line}:${column}`, () => {
    const problem = findJsonProblem(text);
    assert.deepEqual(
      [problem?.line, problem?.column, problem?.found, problem?.expected],
      [line, column, found, expected],
    );
  });
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

test('it agrees with JSON.parse on every text', () => {
  const broken = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', '[', '\\', '\n', '-', '.', '0', 'e', ':', 'é'))
    .map(([text, at, inserted]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + inserted + text.slice(place + (at % 2));
    });
  fc.assert(
    fc.property(fc.oneof(fc.json(), broken, fc.string()), (text) => {
      assert.equal(findJsonProblem(text) === undefined, isJson(text), text);
    }),
    { numRuns: 5000, seed: 20261122 },
  );
});

test('what it says is for an error_description, and holds nothing of the text but known words', () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      const { found, expected, remedy = '' } = findJsonProblem(`{"client_secret": ${text}`) ?? {};
      assert.match(`${found}${expected}${remedy}`, /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/);
    }),
    { numRuns: 2000, seed: 20261122 },
  );
  const { found, remedy = '' } = findJsonProblem('{"client_secret": tcs_hidden}') ?? { found: '' };
  assert.doesNotMatch(found + remedy, /tcs|hidden/);
});

test('nesting costs no stack', () => {
  assert.equal(findJsonProblem('['.repeat(60_000))?.column, 60_001);
});
