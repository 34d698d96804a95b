import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** A listener that no one may connect to: its address is put into requests, and a service that fetches it is noticed. */
export interface Canary {
  /** An address on it, at which loopback installations may fetch. */
  readonly url: string;
  /** Asserts that nothing but this very call has ever connected. */
  assertUntouched(): Promise<void>;
  close(): Promise<void>;
}

export async function startCanary(): Promise<Canary> {
  let connections = 0;
  const listener = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/canary`,
    async assertUntouched() {
      const before = connections;
      // Connections are taken in the order in which they were made: any earlier one has been counted when ours is.
      const own = connect(port, '127.0.0.1').on('error', () => {});
      await new Promise((resolve) => own.once('close', resolve));
      assert.equal(before, 0, 'the service connected to an address from outside');
      assert.equal(connections, 1, 'the service connected to an address from outside');
      connections = 0;
    },
    async close() {
      listener.close();
      await once(listener, 'close');
    },
  };
}
