import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createSocketServer } from 'node:net';

/**
 * The limits of the runtime, without any work behind them: the same bytes as a service's answer by `node:http`, or by sockets
 * that do not even look at what was asked, which shows what the load generator can do.
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
