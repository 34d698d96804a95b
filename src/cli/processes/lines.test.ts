// store: none
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { passLines } from './lines.ts';

test('lines of several streams arrive whole, however they are cut', async () => {
  const to = new PassThrough();
  const streams = [new PassThrough(), new PassThrough()];
  for (const stream of streams) passLines(stream, to);
  const [one, two] = streams;
  one?.write('first of ');
  two?.write('whole\nsecond of ');
  one?.write('one\nlast, cut ');
  two?.write('t');
  two?.end('wo\n');
  one?.end('off');
  await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once('close', resolve))));
  to.end();
  assert.deepEqual(
    Buffer.concat(await to.toArray())
      .toString()
      .split('\n'),
    ['whole', 'first of one', 'second of two', 'last, cut off', ''],
  );
});
