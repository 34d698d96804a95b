import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createSocketServer } from 'node:net';

/**
 * Measures the limits of the runtime: sends the bytes of a service's response by `node:http`, or by sockets that ignore the
 * request, which shows the capacity of the load generator.
 */
const { kind, head, body } = JSON.parse(process.argv[2] ?? '{}') as { kind: string; head: string; body: string };
const [statusLine = '', ...lines] = head.split('\r\n');
const status = Number(statusLine.split(' ')[1]);
const own = new Set(['connection', 'keep-alive', 'date', 'transfer-encoding']);
const headers = lines
  .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()] as const)
  .filter(([name]) => !own.has(name))
  .flat();

const server =
  kind === 'http'
    ? createServer((request, response) => {
        request.resume();
        response.writeHead(status, headers);
        response.end(body);
      })
    : createSocketServer({ noDelay: true }, (socket) => {
        const answer = Buffer.from(`${head}\r\n\r\n${body}`, 'latin1');
        socket.on('error', () => socket.destroy());
        socket.on('data', () => socket.write(answer));
      });
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
