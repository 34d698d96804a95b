import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { listen } from './listener.ts';

const listener = await listen('127.0.0.1', 0);
after(() => listener.close());

test('a connection that is refused ends, also where its caller keeps its own side open', async () => {
  const accepted = once(listener.server, 'connection') as Promise<[Socket]>;
  const caller = connect({ host: '127.0.0.1', port: listener.port, allowHalfOpen: true });
  const [socket] = await accepted;
  const closed = once(socket, 'close');
  caller.write('this is no HTTP\r\n\r\n');
  caller.setEncoding('latin1');
  let answer = '';
  caller.on('data', (text) => {
    answer += String(text);
  });
  await once(caller, 'end');
  assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*"This is not a well-formed HTTP request\."\}$/);
  assert.ok(caller.writable, 'the caller could go on');
  await closed;
  caller.destroy();
});

test('a request that does not arrive in time is told so, and its connection ends', async () => {
  const accepted = once(listener.server, 'connection') as Promise<[Socket]>;
  const caller = connect({ host: '127.0.0.1', port: listener.port, allowHalfOpen: true });
  const [socket] = await accepted;
  const closed = once(socket, 'close');
  caller.setEncoding('latin1');
  const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  // As the runtime does once the time is up.
  listener.server.emit('clientError', late, socket);
  const [answer] = await once(caller, 'data');
  assert.match(String(answer), /^HTTP\/1\.1 408 Request Timeout\r\n[\s\S]*did not arrive as a whole in time/);
  await closed;
  caller.destroy();
});

test('a request that never arrives as a whole does not keep the listener from closing', async (t) => {
  const own = await listen('127.0.0.1', 0);
  const begun = once(own.server, 'request');
  own.open();
  const caller = connect({ host: '127.0.0.1', port: own.port });
  caller.on('error', () => {});
  caller.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf');
  await begun;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const closed = own.close();
  t.mock.timers.tick(10_000);
  await closed;
});
