// store: none
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { machineTime } from '../../platform/http/waiting.ts';
import { noteAcceptTimes, takeAcceptTimes } from './accept-times.ts';

test('the time of a connection is that at which it was accepted, however often it is asked for', async () => {
  const acceptedAt = noteAcceptTimes();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  await new Promise(setImmediate);
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1');
  const [socket] = (await once(server, 'connection')) as [Socket];
  const later = machineTime();
  const handle: unknown = Reflect.get(socket, '_handle');
  const time = acceptedAt(handle);
  assert.ok(time <= later);
  assert.equal(acceptedAt(handle), time);
  assert.ok(acceptedAt({}) >= later);
  client.destroy();
  socket.destroy();
  server.close();
});

test('a process takes the time that its supervisor hands over with a connection, before the connection is used', () => {
  const handle = {};
  const seen: unknown[] = [];
  const use = () => seen.push('used');
  const events: NodeJS.EventEmitter = process;
  events.on('internalMessage', use);
  takeAcceptTimes({ of: () => 0, beat: () => {}, accepted: (...facts) => seen.push(...facts) });
  events.emit('internalMessage', { cmd: 'NODE_CLUSTER', act: 'newconn', acceptedAt: 7 }, handle);
  events.emit('internalMessage', { cmd: 'NODE_CLUSTER', act: 'disconnect' });
  assert.deepEqual(seen, [handle, 7, 'used', 'used']);
  events.removeAllListeners('internalMessage');
});
