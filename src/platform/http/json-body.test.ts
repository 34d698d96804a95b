import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJsonBody } from './json-body.ts';

const parse = (text: string | Buffer) => parseJsonBody(Buffer.from(text as string));

for (const text of [
  '{}',
  '{"a":"b:c","d":[{"e":1},{"e":2}],"f":":"}',
  '[]',
  'null',
  '"a\\":b"',
  '{"a":"\\"b\\":"}',
  '{"a" : 1}',
]) {
  test(`reads ${text}`, () => assert.deepEqual(parse(text), JSON.parse(text)));
}

const refused: [string | Buffer, RegExp][] = [
  ['', /not valid JSON/],
  ['{"a":1', /not valid JSON/],
  ['\ufeff{}', /not valid JSON/],
  [Buffer.from([0x22, 0xff, 0x22]), /not valid UTF-8/],
  ['{"client_id":"a","client_id":"b"}', /twice/],
  ['{"client_id":"a","client\\u005fid":"b"}', /twice/],
  ['{"a":{"b":1,"b":1}}', /twice/],
  ['{"a":1,"a":{"b":1}}', /twice/],
  ['{"__proto__":{"polluted":true}}', /__proto__/],
  ['{"a":{"__proto__":1}}', /__proto__/],
  ['{"__proto__":1,"__proto__":2}', /__proto__/],
  ['['.repeat(40) + ']'.repeat(40), /nested/],
];
for (const [text, message] of refused) {
  test(`refuses ${JSON.stringify(String(text).slice(0, 50))}`, () => assert.throws(() => parse(text), message));
}

test('a megabyte of quotes and backslashes is read in linear time', () => {
  assert.throws(() => parse(`{"a":"${'\\\\'.repeat(500_000)}`), /not valid JSON/);
  assert.doesNotThrow(() => parse(`{"a":"${'\\"'.repeat(500_000)}"}`));
});
