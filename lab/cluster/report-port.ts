// Loaded into a node before its program: tells the process that started it which port the system gave, and callers which process answers.
import { subscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

// Node's own notice that a server listens: https://nodejs.org/api/diagnostics_channel.html#net
subscribe('tracing:net.server.listen:asyncEnd', (message) => {
  const { server } = message as { server: Server };
  process.send?.({ port: (server.address() as AddressInfo).port });
});

subscribe('http.server.request.start', (message) => {
  const { response } = message as { response: ServerResponse };
  response.setHeader('x-process', String(process.pid));
});

// The parent process has exited: nothing else would end this one.
process.on('disconnect', () => process.exit());
