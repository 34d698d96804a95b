import type { RequestListener, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { SECOND } from '../clock.ts';
import { REQUESTS_TIMEOUT } from '../stop.ts';

/** How long a client may take to close its side of a connection after our FIN. */
const LINGER_TIMEOUT = 2 * SECOND;

/** After this time without a new connection, none is waiting to be accepted; and the longest wait for that. */
const QUIET_PERIOD = 100;
const QUIET_TIMEOUT = SECOND / 2;

/** How long a kept-alive connection may be idle before it is closed: a busy client sends its next request sooner. */
const IDLE_PERIOD = SECOND / 2;

const SWEEP_INTERVAL = 20;

/** How many requests are held at a time. Clients do not slow down while their requests are unanswered. */
const MOST_HELD = 1000;

interface Stopper {
  /** Asks the clients of kept-alive connections to open new ones, which may reach another node. */
  drain(): void;
  close(patiently?: boolean): Promise<void>;
}

/**
 * Closes the connections of a server without losing a request that it could still answer.
 *
 * 1. The listening socket is closed while no connection is waiting to be accepted, since the system resets those. Clients open few
 *    connections while they wait for answers, so for this moment no request is answered.
 * 2. A request on a kept-alive connection is answered with `Connection: close`.
 * 3. Idle connections are closed with FIN, and read until the client closes its side too: closing one with unread bytes would
 *    reset it.
 *
 * A request that crosses the FIN is lost, as with every server (RFC 9112 §9.5), and is not processed.
 */
export function stopper(server: Server): Stopper {
  const connections = new Set<Socket>();
  let newest = Number.NEGATIVE_INFINITY;
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    newest = performance.now();
    socket.once('close', () => connections.delete(socket));
  });
  const addConnectionClose = (_request: unknown, response: ServerResponse) =>
    void response.setHeader('connection', 'close');

  function drain(): void {
    if (!server.listeners('request').includes(addConnectionClose))
      server.prependListener('request', addConnectionClose);
  }

  async function waitUntilQuiet(): Promise<void> {
    // Clients that were told to open a new connection do so now.
    newest = performance.now();
    const until = newest + QUIET_TIMEOUT;
    // Under load there is hardly a pause, so the required length shrinks with time.
    for (let now = newest; now < until; now = performance.now()) {
      const enough = (QUIET_PERIOD * (until - now)) / QUIET_TIMEOUT;
      if (now - newest >= enough) return;
      await (enough > SWEEP_INTERVAL ? wait(SWEEP_INTERVAL / 2) : nextTurn());
    }
  }

  /**
   * Puts itself before the routes. A request after our FIN cannot be answered any more, so it must not be processed either.
   * @param onLimit called when so many requests are held that holding more would cost more than it saves
   */
  function intercept(onLimit: () => void): { hold(): void; release(): void } {
    const handlers = server.rawListeners('request') as RequestListener[];
    let held: Parameters<RequestListener>[] | undefined;
    const answer: RequestListener = (request, response) => {
      if (request.socket.writableEnded) return void request.resume();
      for (const handler of handlers) handler.call(server, request, response);
    };
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      if (held === undefined) return answer(request, response);
      held.push([request, response]);
      if (held.length === MOST_HELD) onLimit();
    });
    return {
      hold() {
        held = [];
      },
      release() {
        const waiting = held ?? [];
        held = undefined;
        for (const [request, response] of waiting) answer(request, response);
      },
    };
  }

  /** Only stops listening: `close` of the HTTP server would also reset connections. */
  const stopListening = () => new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));

  return {
    drain,
    async close(patiently = false) {
      const timer = setTimeout(() => {
        for (const socket of connections) socket.destroy();
      }, REQUESTS_TIMEOUT);
      drain();
      const { promise: limit, resolve: onLimit } = Promise.withResolvers<void>();
      const requests = intercept(onLimit);
      if (patiently) {
        // A client that waits for an answer opens no other connection.
        requests.hold();
        await Promise.race([waitUntilQuiet(), limit]);
      }
      const closed = stopListening();
      requests.release();
      const idleUntil = performance.now() + (patiently ? IDLE_PERIOD : 0);
      const sweep = () => {
        if (performance.now() >= idleUntil) endIdle(server, connections);
      };
      const sweeping = setInterval(sweep, SWEEP_INTERVAL);
      sweep();
      await closed;
      clearInterval(sweeping);
      clearTimeout(timer);
      // Does the rest of what closing a server does.
      server.close();
    },
  };
}

/** Closes every idle connection with FIN. Only the server knows which are idle, and it would destroy them. */
function endIdle(server: Server, connections: ReadonlySet<Socket>): void {
  const idle: Socket[] = [];
  for (const socket of connections) {
    if (socket.bytesRead === 0) idle.push(socket);
    socket.destroy = () => {
      idle.push(socket);
      return socket;
    };
  }
  server.closeIdleConnections();
  for (const socket of connections) Reflect.deleteProperty(socket, 'destroy');
  for (const socket of idle) closeGracefully(socket);
}

function closeGracefully(socket: Socket): void {
  if (socket.writableEnded) return;
  socket.end();
  // Later requests are not answered.
  const timer = setTimeout(() => socket.destroy(), LINGER_TIMEOUT);
  socket.once('close', () => clearTimeout(timer));
}
