import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The one address under which people and clients reach the nodes: a load balancer that passes bytes on. */
export interface Front {
  readonly baseUrl: string;
  /** The ports of the nodes that take new connections, in turns. Without any, connections are refused. */
  targets: readonly number[];
  close(): Promise<void>;
}

export async function openFront(): Promise<Front> {
  const open = new Set<Socket>();
  let turn = 0;
  const server = createServer((socket) => {
    const port = front.targets[turn++ % front.targets.length];
    if (port === undefined) return void socket.destroy();
    join(socket, connect(port, '127.0.0.1'), open);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const front: Front = {
    baseUrl: `http://localhost:${(server.address() as AddressInfo).port}`,
    targets: [],
    async close() {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, 'close');
    },
  };
  return front;
}

/** Lets two connections live and die together. */
function join(one: Socket, other: Socket, open: Set<Socket>): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    open.add(from);
    from.setNoDelay(true);
    from.pipe(to);
    from.on('error', () => {});
    from.on('close', () => {
      open.delete(from);
      // What it said last is passed on first.
      to.destroySoon();
    });
  }
}
