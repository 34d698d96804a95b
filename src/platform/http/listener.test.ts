// store: none
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { openHttpListener } from './listener.ts';

const listener = await openHttpListener('127.0.0.1', 0);
after(() => listener.close());

test('a rejected connection is closed even if the client keeps its side open', async () => {
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

test('a TLS handshake is told once, and answered as no TLS', async () => {
  let told = 0;
  listener.onTlsHandshake(() => told++);
  for (const _ of ['first', 'second']) {
    const caller = connect({ host: '127.0.0.1', port: listener.port });
    caller.setEncoding('latin1');
    caller.write(Buffer.from([22, 3, 1, 0, 5, 1, 0, 0, 1, 3]));
    const [answer] = await once(caller, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 400 /);
    caller.destroy();
  }
  assert.equal(told, 1);
});

test('a request that does not arrive in time gets an answer, and its connection is closed', async () => {
  const accepted = once(listener.server, 'connection') as Promise<[Socket]>;
  const caller = connect({ host: '127.0.0.1', port: listener.port, allowHalfOpen: true });
  const [socket] = await accepted;
  const closed = once(socket, 'close');
  caller.setEncoding('latin1');
  const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  // As the runtime does after the timeout.
  listener.server.emit('clientError', late, socket);
  const [answer] = await once(caller, 'data');
  assert.match(String(answer), /^HTTP\/1\.1 408 Request Timeout\r\n[\s\S]*did not arrive as a whole in time/);
  await closed;
  caller.destroy();
});

test('a request that never arrives completely does not keep the listener from closing', async (t) => {
  const own = await openHttpListener('127.0.0.1', 0);
  const started = once(own.server, 'request');
  await own.open();
  const caller = connect({ host: '127.0.0.1', port: own.port });
  caller.on('error', () => {});
  caller.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf');
  await started;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const closed = own.close();
  t.mock.timers.tick(10_000);
  await closed;
});

const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** A connection, and everything received on it until it ends. Rejects if the connection is reset. */
function caller(port: number) {
  const socket = connect({ host: '127.0.0.1', port });
  let text = '';
  socket.setEncoding('latin1').on('data', (more) => {
    text += String(more);
  });
  return { socket, text: () => text, ended: once(socket, 'end') };
}

test('a patient stop answers requests on kept-alive connections and on those not accepted yet, and resets none', async () => {
  const own = await openHttpListener('127.0.0.1', 0);
  await own.open();
  own.server.on('request', (_request, response) => response.end('answer'));
  const kept = [caller(own.port), caller(own.port)];
  for (const { socket } of kept) {
    socket.write(REQUEST);
    await once(socket, 'data');
  }
  const silent = caller(own.port);
  await once(silent.socket, 'connect');
  const late = caller(own.port);
  late.socket.write(REQUEST);
  // The connection is established in the next tick, and accepted in a later turn of the event loop.
  await new Promise((resolve) => process.nextTick(resolve));
  kept[0]?.socket.write(REQUEST);
  const closed = own.close(true);
  await Promise.all([...kept, silent, late].map(({ ended }) => ended));
  await closed;
  const answers = [...kept, silent, late].map(({ text }) =>
    text()
      .match(/HTTP.*|connection: .*/gi)
      ?.join(' '),
  );
  assert.deepEqual(answers, [
    'HTTP/1.1 200 OK Connection: keep-alive HTTP/1.1 200 OK connection: close',
    'HTTP/1.1 200 OK Connection: keep-alive',
    undefined,
    'HTTP/1.1 200 OK connection: close',
  ]);
});

test('a client that never closes its side does not keep the listener from closing', async (t) => {
  const own = await openHttpListener('127.0.0.1', 0);
  const accepted = once(own.server, 'connection');
  const { socket, ended } = caller(own.port);
  socket.allowHalfOpen = true;
  await accepted;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const closed = own.close();
  await ended;
  t.mock.timers.tick(2000);
  await closed;
  socket.destroy();
});

/** A listener that counts the requests that it processes, and a client. */
async function counted() {
  const own = await openHttpListener('127.0.0.1', 0);
  await own.open();
  let done = 0;
  own.server.on('request', (_request, response) => {
    done++;
    response.end('answer');
  });
  return { own, done: () => done, ...caller(own.port) };
}

test('a request after the end of its connection is not processed, since it cannot be answered', async () => {
  const { own, socket, ended, done } = await counted();
  socket.allowHalfOpen = true;
  socket.write(REQUEST);
  await once(socket, 'data');
  const closed = own.close();
  await ended;
  socket.write(REQUEST);
  socket.end();
  await closed;
  assert.equal(done(), 1);
});

test('a client that keeps sending does not make a patient stop hold more and more requests', async () => {
  const { own, socket, ended, done } = await counted();
  socket.write(REQUEST);
  await once(socket, 'data');
  const closed = own.close(true);
  socket.write(REQUEST.repeat(5000));
  await ended;
  await closed;
  assert.ok(done() >= 2, 'requests in flight were answered');
});
