import type { RequestListener, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { SECOND } from '../clock.ts';

/** How long a stopping node waits for requests under way; anybody may leave one unfinished. */
const LONGEST_STOP = 10 * SECOND;

/** How long a caller whose connection has ended on our side has to end it on its own. */
const FAREWELL = 2 * SECOND;

/** After this time without a new connection none waits to be accepted; it is waited for no longer than so long. */
const QUIET = 100;
const LONGEST_QUIET = SECOND / 2;

/** How long a kept connection may be without a request before it ends: a caller in the middle of its work sends one sooner. */
const BETWEEN_REQUESTS = SECOND / 2;

const SWEEP = 20;

/** Nothing slows down a caller whose requests are not answered: so many are held, of all callers together. */
const MOST_HELD = 1000;

interface Stopper {
  /** Asks every caller that keeps a connection to open another one, which may lead to another node. */
  drain(): void;
  close(patiently?: boolean): Promise<void>;
}

/**
 * Ends the connections of a server so that no request is lost which it could still answer.
 *
 * 1. No connection waits to be accepted when the listening socket closes, for the system resets those that do. Callers open few
 *    while they wait for an answer, so for this moment none is given.
 * 2. What is asked on a kept connection is answered with `Connection: close`: its caller learns of the end with an answer.
 * 3. Connections without a request end with FIN, and are read on from until their caller ends them too: closing one with
 *    unread octets would reset it.
 *
 * A request that crosses the FIN on its way is lost to its caller, as with every server (RFC 9112 §9.5), and is not done.
 */
export function stopper(server: Server): Stopper {
  const connections = new Set<Socket>();
  let newest = Number.NEGATIVE_INFINITY;
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    newest = performance.now();
    socket.once('close', () => connections.delete(socket));
  });
  const leave = (_request: unknown, response: ServerResponse) => void response.setHeader('connection', 'close');

  function drain(): void {
    if (!server.listeners('request').includes(leave)) server.prependListener('request', leave);
  }

  async function untilQuiet(): Promise<void> {
    // Those that were told to open another connection do so now.
    newest = performance.now();
    const until = newest + LONGEST_QUIET;
    // Where many callers come and go there is hardly a pause: with time a shorter one will do, looked for in every turn.
    for (let now = newest; now < until; now = performance.now()) {
      const enough = (QUIET * (until - now)) / LONGEST_QUIET;
      if (now - newest >= enough) return;
      await (enough > SWEEP ? wait(SWEEP / 2) : nextTurn());
    }
  }

  /**
   * Stands before the routes from now on. What comes behind our FIN cannot be answered any more, so it must not be done either.
   * @param crowded called where so many requests are held that holding more would cost more than it saves
   */
  function intercept(crowded: () => void): { hold(): void; release(): void } {
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
      if (held.length === MOST_HELD) crowded();
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

  /** Stops listening alone: what the server does beyond that when it closes would reset connections. */
  const stopListening = () => new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));

  return {
    drain,
    async close(patiently = false) {
      const end = setTimeout(() => {
        for (const socket of connections) socket.destroy();
      }, LONGEST_STOP);
      drain();
      const { promise: crowd, resolve: crowded } = Promise.withResolvers<void>();
      const requests = intercept(crowded);
      if (patiently) {
        // While a request waits to be answered its caller opens no other connection.
        requests.hold();
        await Promise.race([untilQuiet(), crowd]);
      }
      const closed = stopListening();
      requests.release();
      const patience = performance.now() + (patiently ? BETWEEN_REQUESTS : 0);
      const sweep = () => {
        if (performance.now() >= patience) endIdle(server, connections);
      };
      const sweeping = setInterval(sweep, SWEEP);
      sweep();
      await closed;
      clearInterval(sweeping);
      clearTimeout(end);
      // The rest of what a server does when it closes.
      server.close();
    },
  };
}

/** Ends every connection on which there is no request. Which those are, the server alone knows: it would destroy them. */
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
  for (const socket of idle) sayFarewell(socket);
}

function sayFarewell(socket: Socket): void {
  if (socket.writableEnded) return;
  socket.end();
  // What still comes cannot be answered any more.
  const end = setTimeout(() => socket.destroy(), FAREWELL);
  socket.once('close', () => clearTimeout(end));
}
