import { connect } from 'node:net';
import { cpuUsage } from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';

/** Where a server listens: a port of this machine, or of another one. */
export type Address = number | { readonly host: string; readonly port: number };

/** The result of one load run. */
export interface Measurement {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  /** Milliseconds, like all latencies. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
  /** Average bytes of a response, including headers. */
  readonly answerBytes: number;
  /** Share of one processor used by the load generator. */
  readonly generatorShare: number;
}

export interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Supplies the requests of a load and receives the responses. */
export interface Driver {
  /** The next request of a connection; undefined at the end. */
  next(connection: number): string | Uint8Array | undefined;
  /** @returns whether the response is the expected one */
  answered(connection: number, answer: Answer): boolean;
}

export interface Connection {
  /** Sends a request. Only one may be in flight. */
  send(request: string | Uint8Array): void;
  close(): void;
}

/**
 * A connection that writes raw requests and parses responses by hand, so that the generator costs less than the servers that it
 * measures.
 */
export function openConnection(
  address: Address,
  answered: (answer: Answer, bytes: number) => void,
  failed: (error: Error) => void,
): Promise<Connection> {
  return new Promise((resolve) => {
    const to = typeof address === 'number' ? { port: address, host: '127.0.0.1' } : address;
    const socket = connect({ ...to, noDelay: true });
    let received = '';
    let closed = false;
    socket.setEncoding('latin1');
    socket.on('error', failed);
    socket.on('close', () => closed || failed(new Error('the server closed a connection')));
    socket.on('data', (chunk: string) => {
      received = received === '' ? chunk : received + chunk;
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const head = received.slice(0, headEnd);
      const end = endOfBody(received, headEnd);
      if (end === undefined || received.length < end) return;
      const answer = { status: Number(received.slice(9, 12)), head, body: received.slice(headEnd + 4, end) };
      received = received.slice(end);
      answered(answer, end);
    });
    socket.on('connect', () =>
      resolve({
        send: (request) => void (typeof request === 'string' ? socket.write(request, 'latin1') : socket.write(request)),
        close() {
          closed = true;
          socket.destroy();
        },
      }),
    );
  });
}

/**
 * Where the body of a response ends; undefined while that is not known. Chunks stay as they were sent: what is searched in them is hardly
 * ever cut in two.
 */
function endOfBody(received: string, headEnd: number): number | undefined {
  const head = received.slice(0, headEnd);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return headEnd + 4 + Number(length);
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return headEnd + 4;
  const last = received.indexOf('\r\n0\r\n\r\n', headEnd + 2);
  return last < 0 ? undefined : last + 7;
}

/** Responses of each port so far, in all loads. */
const answeredBy = new Map<Address, number>();
export const requestsTo = (port: Address): number => answeredBy.get(port) ?? 0;

/** Collects the responses of a load. */
class Results {
  readonly #latencies: number[] = [];
  readonly #processor = cpuUsage();
  readonly #begun = performance.now();
  readonly #port: Address;
  #bytes = 0;
  #wrong: Answer | undefined;

  constructor(port: Address) {
    this.#port = port;
  }

  add(latency: number, bytes: number, answer: Answer, expected: boolean): void {
    this.#latencies.push(latency);
    this.#bytes += bytes;
    if (!expected) this.#wrong ??= answer;
  }

  /** @throws if a response was not the expected one, because a load of errors measures nothing */
  summary(): Measurement {
    const elapsed = performance.now() - this.#begun;
    answeredBy.set(this.#port, requestsTo(this.#port) + this.#latencies.length);
    const { user, system } = cpuUsage(this.#processor);
    if (this.#wrong !== undefined) {
      const { status, head, body } = this.#wrong;
      throw new Error(`unexpected response: ${status}\n${head}\n\n${body.slice(0, 500)}`);
    }
    const sorted = Float64Array.from(this.#latencies).sort();
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return {
      requests: sorted.length,
      seconds: elapsed / 1000,
      perSecond: (sorted.length * 1000) / elapsed,
      p50: at(0.5),
      p95: at(0.95),
      p99: at(0.99),
      p999: at(0.999),
      answerBytes: this.#bytes / sorted.length,
      generatorShare: (user + system) / 1000 / elapsed,
    };
  }
}

/** Runs a closed loop: each connection sends its next request when the previous one is answered. */
export async function load(port: Address, connections: number, seconds: number, driver: Driver): Promise<Measurement> {
  const { promise: failure, reject } = Promise.withResolvers<never>();
  let results = new Results(port);
  let end = Number.POSITIVE_INFINITY;
  const runs = Array.from({ length: connections }, async (_, index) => {
    const { promise: done, resolve } = Promise.withResolvers<void>();
    let sentAt = 0;
    const opened = await openConnection(
      port,
      (answer, bytes) => {
        const now = performance.now();
        results.add(now - sentAt, bytes, answer, driver.answered(index, answer));
        send(now);
      },
      reject,
    );
    function send(now: number): void {
      const request = now < end ? driver.next(index) : undefined;
      sentAt = now;
      if (request === undefined) resolve();
      else opened.send(request);
    }
    return { opened, send, done };
  });
  const opened = await Promise.race([Promise.all(runs), failure]);
  // The clock starts when all are connected.
  results = new Results(port);
  end = performance.now() + seconds * 1000;
  for (const { send } of opened) send(performance.now());
  await Promise.race([Promise.all(opened.map(({ done }) => done)), failure]);
  const summary = results.summary();
  for (const each of opened) each.opened.close();
  return summary;
}

/**
 * Sends requests at a fixed rate, whether or not earlier ones have been answered, and measures latency from the scheduled time, so
 * that a stalled server is charged for all requests that were due meanwhile (no coordinated omission).
 * @param connections the maximum in flight; a request that finds none free waits, and the wait counts
 */
export async function loadAtRate(
  port: number,
  connections: number,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
  driver: Driver,
): Promise<Measurement> {
  const { promise: failure, reject } = Promise.withResolvers<never>();
  const total = Math.floor(perSecond * seconds);
  const free: number[] = [];
  const dueAt: number[] = [];
  let sent = 0;
  let answered = 0;
  const opened = await Promise.race([
    Promise.all(
      Array.from({ length: connections }, (_, index) => {
        free.push(index);
        return openConnection(port, (answer, bytes) => arrive(index, answer, bytes), reject);
      }),
    ),
    failure,
  ]);
  const results = new Results(port);
  const begun = performance.now();
  const { promise: done, resolve } = Promise.withResolvers<void>();

  function arrive(index: number, answer: Answer, bytes: number): void {
    results.add(performance.now() - (dueAt[index] ?? 0), bytes, answer, driver.answered(index, answer));
    free.push(index);
    if (++answered === total) resolve();
    else sendDue();
  }

  function sendDue(): void {
    const due = Math.min(total, Math.floor(((performance.now() - begun) * perSecond) / 1000) + 1);
    while (sent < due) {
      const index = free.pop();
      if (index === undefined) return;
      dueAt[index] = begun + (sent++ * 1000) / perSecond;
      const request = driver.next(index);
      if (request === undefined) reject(new Error('the load ran out of requests'));
      else opened[index]?.send(request);
    }
  }

  const sending = (async () => {
    for (; sent < total; await wait(1)) sendDue();
    await done;
  })();
  await Promise.race([sending, failure]);
  const summary = results.summary();
  for (const connection of opened) connection.close();
  return summary;
}
