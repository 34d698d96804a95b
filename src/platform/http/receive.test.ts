import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { OAuthError } from '../oauth-error.ts';
import { receive } from './receive.ts';

const request = { headers: {} } as FastifyRequest;

test('AV-02: a body that comes byte by byte is copied together, and no piece of it is kept', async () => {
  const payload = new Readable({ read() {} });
  const received = receive(request, payload, 1000);
  // The memory of a piece is used again: one that was kept would show what it holds later.
  const piece = Buffer.alloc(1);
  for (const letter of 'byte by byte') {
    piece.write(letter);
    payload.emit('data', piece);
  }
  payload.emit('end');
  assert.equal((await received)?.toString(), 'byte by byte');
});

test('AV-02: a body that is longer than it may be is read to its end, and not handed on', async () => {
  const payload = new Readable({ read() {} });
  const received = receive(request, payload, 10, 30);
  for (let n = 0; n < 3; n++) payload.emit('data', Buffer.alloc(10, 'x'));
  payload.emit('end');
  assert.equal(await received, undefined);
});

test('a body whose caller hung up, before it was read or while it is, is refused: nothing waits for it', async () => {
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
