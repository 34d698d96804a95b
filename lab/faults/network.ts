import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';

/** The network between the nodes and PostgreSQL, which can fail. */
export interface Network {
  /** The address of a database of the server, through this network. */
  through(url: string): string;
  /** Cuts a connection, both ways, in the moment when the answer to its COMMIT comes: as long as `wanted` says so. */
  cutAfterCommit(wanted: () => boolean): void;
  /** From now on no byte passes; connections are accepted and never answered. */
  silence(): void;
  /** Ends the silence: bytes pass again, or `lost`: what was connected before stays silent for ever. */
  speak(how: 'resumed' | 'lost'): void;
  /** Closes the port: connections break, and new ones are refused. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
  /** Cuts every connection, and leads new ones to these servers in turns. */
  lead(...servers: readonly { readonly url: string }[]): void;
  close(): Promise<void>;
}

interface Pair {
  readonly node: Socket;
  readonly server: Socket;
  lost: boolean;
}

/** Below the ports that systems hand out by themselves, and none twice: no other program gets one while it is closed. */
let nextPort = 15_000 + (process.pid % 5000);

/** Where a server of these trials listens. */
function socketOf({ url }: { readonly url: string }): string {
  const { port, searchParams } = new URL(url);
  return join(searchParams.get('host') ?? '', `.s.PGSQL.${port || 5432}`);
}

/** The network before a server, or before several that get the connections in turns. */
export async function openNetwork(...servers: readonly { readonly url: string }[]): Promise<Network> {
  let sockets = servers.map(socketOf);
  let turn = 0;
  const pairs = new Set<Pair>();
  let silent = false;
  let wanted: () => boolean = () => false;

  const listener = createServer((node) => {
    const pair: Pair = { node, server: connect(sockets[turn++ % sockets.length] ?? ''), lost: false };
    pairs.add(pair);
    const cut = () => {
      // Neither side is told what the other last said.
      node.resetAndDestroy();
      pair.server.destroy();
    };
    const tags = commitTags(() => {
      if (!wanted()) return false;
      cut();
      return true;
    });
    pair.server.on('data', (bytes: Buffer) => {
      if (!tags(bytes)) node.write(bytes);
    });
    node.on('data', (bytes: Buffer) => pair.server.write(bytes));
    for (const [from, to] of [
      [node, pair.server],
      [pair.server, node],
    ] as const) {
      from.setNoDelay(true);
      from.on('error', () => {});
      from.on('close', () => {
        // In the silence the end of a connection does not arrive either.
        if (silent || pair.lost) return;
        pairs.delete(pair);
        to.destroy();
      });
    }
    if (silent) hush(pair);
  });

  function hush({ node, server }: Pair): void {
    node.pause();
    server.pause();
  }

  let port = 0;
  while (port === 0) {
    try {
      listener.listen(nextPort++, '127.0.0.1');
      await once(listener, 'listening');
      port = (listener.address() as AddressInfo).port;
    } catch {
      // The port is in use; the next one may be free.
    }
  }

  function end(): void {
    for (const { node, server } of pairs) {
      node.resetAndDestroy();
      server.destroy();
    }
    pairs.clear();
  }

  return {
    through(url) {
      const address = new URL(url);
      address.searchParams.delete('host');
      address.host = `127.0.0.1:${port}`;
      return address.href;
    },
    cutAfterCommit(when) {
      wanted = when;
    },
    silence() {
      silent = true;
      for (const pair of pairs) hush(pair);
    },
    speak(how) {
      silent = false;
      for (const pair of pairs) {
        const { node, server } = pair;
        if (how === 'lost') pair.lost = true;
        else if (node.destroyed) server.destroy();
        else {
          node.resume();
          server.resume();
        }
      }
    },
    async refuse() {
      listener.close();
      end();
      await once(listener, 'close');
    },
    async accept() {
      listener.listen(port, '127.0.0.1');
      await once(listener, 'listening');
    },
    lead(...servers) {
      sockets = servers.map(socketOf);
      end();
    },
    async close() {
      wanted = () => false;
      end();
      if (!listener.listening) return;
      listener.close();
      await once(listener, 'close');
    },
  };
}

/**
 * Follows what a server sends, message by message, to see a COMMIT completed before its answer is passed on.
 * https://www.postgresql.org/docs/current/protocol-message-formats.html: a type, a length that counts itself, a body.
 * @param completed answers whether the connection was cut
 */
function commitTags(completed: () => boolean): (bytes: Buffer) => boolean {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 5) {
      const length = 1 + rest.readInt32BE(1);
      if (rest.length < length) return false;
      const isCommit = rest[0] === 0x43 && rest.subarray(5, length - 1).toString() === 'COMMIT';
      rest = rest.subarray(length);
      if (isCommit && completed()) return true;
    }
    return false;
  };
}
