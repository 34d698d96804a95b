import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { FastifyRequest } from 'fastify';
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
