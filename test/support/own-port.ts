import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { AddressInfo, Server } from 'node:net';

/** Opens something that listens, and says at which port; nothing else may begin to listen meanwhile. */
export async function withPort<T>(open: () => Promise<T>): Promise<{ opened: T; port: number }> {
  const servers: Server[] = [];
  const note = (message: unknown) => {
    const { server } = message as { server: Server };
    servers.push(server);
  };
  // Node's own notice that a server listens: https://nodejs.org/api/diagnostics_channel.html#net
  subscribe('tracing:net.server.listen:asyncEnd', note);
  try {
    const opened = await open();
    const [own] = servers;
    assert.ok(own !== undefined && servers.length === 1, 'no server, or several, began to listen');
    return { opened, port: (own.address() as AddressInfo).port };
  } finally {
    unsubscribe('tracing:net.server.listen:asyncEnd', note);
  }
}
