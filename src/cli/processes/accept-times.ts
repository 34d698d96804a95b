import { subscribe } from 'node:diagnostics_channel';
import { machineTime, type Waiting } from '../../platform/http/waiting.ts';

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/**
 * Notes when the supervisor accepted each connection. `node:cluster` may keep it while all processes are busy, and gives it to another
 * process if the first one ends.
 * @returns when a connection was accepted, by `machineTime`; now, for one that was not noted
 */
export function noteAcceptTimes(): (handle: unknown) => number {
  const times = new WeakMap<object, number>();
  const note = (handle: object): number => {
    const time = times.get(handle) ?? machineTime();
    times.set(handle, time);
    return time;
  };
  subscribe('tracing:net.server.listen:asyncEnd', (message) => {
    const { server } = message as { server: object };
    const listening: unknown = Reflect.get(server, '_handle');
    if (!isObject(listening)) return;
    // `node:cluster` takes it over when it is told that the server listens.
    setImmediate(() => {
      const accept: unknown = Reflect.get(listening, 'onconnection');
      if (typeof accept !== 'function') return;
      Reflect.set(listening, 'onconnection', function (this: unknown, ...args: unknown[]) {
        if (isObject(args[1])) note(args[1]);
        return Reflect.apply(accept, this, args);
      });
    });
  });
  return (handle) => (isObject(handle) ? note(handle) : machineTime());
}

/** Reads what the supervisor hands over with a connection, before the connection is used. */
export function takeAcceptTimes(waiting: Waiting): void {
  const events: NodeJS.EventEmitter = process;
  events.prependListener('internalMessage', ({ acceptedAt }: { acceptedAt?: unknown }, handle: unknown) => {
    if (typeof acceptedAt === 'number' && isObject(handle)) waiting.accepted(handle, acceptedAt);
  });
}
