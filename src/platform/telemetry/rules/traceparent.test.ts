// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTraceParent, writeTraceParent } from './traceparent.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test('W3C Trace Context §3.2: a well-formed header is read, and written again', () => {
  for (const [flags, sampled] of [
    ['01', true],
    ['00', false],
    ['03', true],
    ['fe', false],
  ] as const) {
    assert.deepEqual(readTraceParent(`00-${TRACE}-${SPAN}-${flags}`), { traceId: TRACE, spanId: SPAN, sampled });
  }
  for (const sampled of [true, false]) {
    const parent = { traceId: TRACE, spanId: SPAN, sampled };
    assert.deepEqual(readTraceParent(writeTraceParent(parent)), parent);
  }
});

test('§4.3: a later version may append fields', () => {
  assert.ok(readTraceParent(`cc-${TRACE}-${SPAN}-01-what-the-future-will-be`));
  assert.ok(readTraceParent(`cc-${TRACE}-${SPAN}-01`));
});

for (const [name, header] of Object.entries({
  none: undefined,
  'an empty one': '',
  'two of them, as the runtime joins them': `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  'several, as a list': [`00-${TRACE}-${SPAN}-01`],
  'version ff': `ff-${TRACE}-${SPAN}-01`,
  'upper case': `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  'a trace id of zeros': `00-${'0'.repeat(32)}-${SPAN}-01`,
  'a span id of zeros': `00-${TRACE}-${'0'.repeat(16)}-01`,
  'a short trace id': `00-${TRACE.slice(1)}-${SPAN}-01`,
  'a long span id': `00-${TRACE}-${SPAN}0-01`,
  'flags of one digit': `00-${TRACE}-${SPAN}-1`,
  'more fields in version 00': `00-${TRACE}-${SPAN}-01-more`,
  'no dash before more': `cc-${TRACE}-${SPAN}-01.more`,
  'white space': ` 00-${TRACE}-${SPAN}-01`,
  'a line break': `00-${TRACE}-${SPAN}-01\n`,
  'something long': `cc-${TRACE}-${SPAN}-01-${'x'.repeat(300)}`,
})) {
  test(`not read: ${name}`, () => assert.equal(readTraceParent(header), undefined));
}
