// Loaded into processes before their program: each answer tells which process it comes from, and the process that started the first
// one learns on which ports it listens.
import { subscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

subscribe('http.server.request.start', (message) => {
  const { response } = message as { response: ServerResponse };
  response.setHeader('x-process', String(process.pid));
});
subscribe('tracing:net.server.listen:asyncEnd', (message) => {
  const { server } = message as { server: Server };
  process.send?.({ port: (server.address() as AddressInfo | null)?.port });
});
