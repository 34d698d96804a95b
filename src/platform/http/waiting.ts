import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { SECOND } from '../clock.ts';
import { unavailable } from '../failure.ts';

/** After so long, a request that waited may have been given up. */
const NOTICEABLE = SECOND;

/** A request that waited so long is not begun: its caller may have tried again, and a second use of what works once may end what the first one began. */
const LONGEST = 5 * SECOND;

const BEAT = SECOND / 2;

/** Milliseconds by a clock that all processes of a machine share, and that is never set. */
export const machineTime = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;

/** Knows for how long requests waited in this service before they were read. */
export interface Waiting {
  /** How long the request that comes now on this connection has waited, in milliseconds; at most, where it is not known exactly. */
  of(socket: Socket): number;
  /**
   * Takes note of a connection that another process accepted.
   * @param handle what the socket is made of
   */
  accepted(handle: object, at: number): void;
  /** Takes note that the event loop turns. */
  beat(): void;
}

export function createWaiting(now: () => number = machineTime): Waiting {
  /** How long the connections waited that were given to this process too late, and when it took them. */
  const late = new WeakMap<object, { readonly waited: number; readonly taken: number }>();
  let lastLate = Number.NEGATIVE_INFINITY;
  let lastBeat = now();
  /** For how long the event loop stood still; 0 once it has read what came meanwhile. */
  let stall = 0;
  return {
    of(socket) {
      const time = now();
      const still = Math.max(stall, time - lastBeat);
      const stood = still < NOTICEABLE ? 0 : still;
      // Later, the client has let its request wait, and not the service.
      if (time - lastLate > NOTICEABLE) return stood;
      const handle: unknown = Reflect.get(socket, '_handle');
      const connection = typeof handle === 'object' && handle !== null ? late.get(handle) : undefined;
      if (connection === undefined || time - connection.taken > NOTICEABLE) return stood;
      return Math.max(stood, connection.waited);
    },
    accepted(handle, at) {
      const taken = now();
      if (taken - at < NOTICEABLE) return;
      late.set(handle, { waited: taken - at, taken });
      lastLate = taken;
    },
    beat() {
      const stood = now() - lastBeat;
      lastBeat = now();
      if (stood < NOTICEABLE) return;
      stall = Math.max(stall, stood);
      void afterReading().then(() => {
        stall = 0;
      });
    },
  };
}

/** Watches the event loop of this process. */
export function watchWaiting(): Waiting {
  const waiting = createWaiting();
  setInterval(waiting.beat, BEAT).unref();
  return waiting;
}

/** Resolves when what had arrived has been read: the end of a connection is read after its data. */
async function afterReading(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** Whether the client has gone. One that only closed its side is not answered, either: see `httpAllowHalfOpen`. */
const isClosed = (socket: Socket): boolean => socket.destroyed || socket.readableEnded || socket.writableEnded;

/** Refuses requests that waited for so long that their callers have gone, or may have tried again. Nothing of them is done. */
export function refuseLate(app: FastifyInstance, waiting: Waiting): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { socket } = request.raw;
    const waited = waiting.of(socket);
    if (waited < NOTICEABLE) return done();
    void afterReading().then(() => {
      if (waited < LONGEST && !isClosed(socket)) return done();
      done(unavailable(isClosed(socket) ? 'the caller has gone' : 'it waited too long'));
    });
  });
}
