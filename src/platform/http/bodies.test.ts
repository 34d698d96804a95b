// store: none
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { OAuthError } from '../oauth-error.ts';
import { parseJsonBody, type Quota, quota, receive } from './bodies.ts';

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

test('a megabyte of quotes and backslashes is parsed in linear time', () => {
  assert.throws(() => parse(`{"a":"${'\\\\'.repeat(500_000)}`), /not valid JSON/);
  assert.doesNotThrow(() => parse(`{"a":"${'\\"'.repeat(500_000)}"}`));
});

const request = { headers: {} } as FastifyRequest;

test('AV-02: the chunks of a body that arrives byte by byte are copied into one buffer', async () => {
  const payload = new Readable({ read() {} });
  const received = receive(request, payload, 1000);
  // The memory of a chunk is reused: a chunk that was kept would show later bytes.
  const chunk = Buffer.alloc(1);
  for (const letter of 'byte by byte') {
    chunk.write(letter);
    payload.emit('data', chunk);
  }
  payload.emit('end');
  assert.equal((await received)?.toString(), 'byte by byte');
});

test('AV-02: a body that is too large is read to its end and discarded', async () => {
  const payload = new Readable({ read() {} });
  const received = receive(request, payload, 10, 30);
  for (let n = 0; n < 3; n++) payload.emit('data', Buffer.alloc(10, 'x'));
  payload.emit('end');
  assert.equal(await received, undefined);
});

test('a body is refused if its caller hangs up before or while it is read', async () => {
  const refused = (error: unknown) => error instanceof OAuthError && error.status === 400;
  const gone = new Readable({ read() {} });
  gone.push('half');
  gone.destroy();
  await once(gone, 'close');
  await assert.rejects(receive(request, gone, 10), refused);
  const cut = new Readable({ read() {} });
  const received = assert.rejects(receive(request, cut, 10), refused);
  cut.destroy();
  await received;
});

const ada = { holder: 'ada', most: 3 };
const bob = { holder: 'bob', most: 3 };
const home = { holder: 'home', most: 4 };

function taken(from: Quota, amount: number, ...of: Parameters<Quota['take']>[1]): () => void {
  const release = from.take(amount, of);
  assert.ok(typeof release === 'function', String(release));
  return release;
}

test('a holder has its share at most, and others are served meanwhile', () => {
  const slots = quota(10);
  const release = taken(slots, 2, ada);
  taken(slots, 1, ada);
  assert.equal(slots.take(1, [ada]), 'holder');
  taken(slots, 3, bob);
  release();
  assert.equal(slots.take(3, [ada]), 'holder');
  taken(slots, 2, ada);
});

test('what has several holders needs room in the share of each, and takes from all or none', () => {
  const slots = quota(10);
  taken(slots, 3, ada, home);
  assert.equal(slots.take(2, [bob, home]), 'holder');
  taken(slots, 3, bob);
  assert.equal(slots.take(1, [ada, home]), 'holder');
});

test('all holders together have the total at most', () => {
  const slots = quota(4);
  const release = taken(slots, 3, ada);
  assert.equal(slots.take(2, [bob]), 'total');
  assert.equal(slots.take(2, []), 'total');
  release();
  taken(slots, 2, bob);
});

test('a second release does nothing', () => {
  const slots = quota(3);
  const release = taken(slots, 2, ada);
  taken(slots, 1, ada);
  release();
  release();
  assert.equal(slots.take(3, [ada]), 'holder');
  assert.equal(slots.take(3, []), 'total');
  taken(slots, 2, ada);
});
