// Opens sockets to a node and keeps them: a third sends a header octet by octet, a third a body, and a third nothing after its
// first answer. What the node closes is opened again. Arguments: a port, and a number of sockets. Prints how many are open, each second.

import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const [port, count] = process.argv.slice(2).map(Number) as [number, number];
const HEAD = 'Host: localhost\r\nContent-Type: application/json\r\n';
const BEGINNINGS = [
  'GET /health/live HTTP/1.1\r\nHost: localhost\r\nX-Slow: ',
  `POST /api/v2/oauth/token HTTP/1.1\r\n${HEAD}Content-Length: 4000\r\n\r\n{"code":"`,
  'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n',
];
let open = 0;

async function keep(kind: number): Promise<never> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    const closed = new Promise((resolve) => void socket.once('close', resolve));
    let timer: NodeJS.Timeout | undefined;
    socket.once('connect', () => {
      open++;
      socket.once('close', () => open--);
      socket.write(BEGINNINGS[kind] ?? '');
      if (kind < 2) timer = setInterval(() => void socket.write('x'), 2000);
    });
    await closed;
    clearInterval(timer);
    await pause(100);
  }
}

for (let n = 0; n < count; n++) {
  void keep(n % BEGINNINGS.length);
  if (n % 50 === 49) await pause(10);
}
setInterval(() => process.stdout.write(`${open}\n`), 1000);
