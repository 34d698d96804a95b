import { connect, type Socket } from 'node:net';

/** What one run of load measured. */
export interface Measurement {
  readonly requests: number;
  readonly failures: number;
  readonly seconds: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Makes the next request of a connection, and sees its answer. */
export interface Driver {
  next(connection: number): string;
  /** @returns whether the answer is the expected one */
  answered(connection: number, status: number, body: string): boolean;
}

/**
 * Keeps a number of connections busy for a while: each sends its next request as soon as the last is answered. The
 * requests are written and the answers cut apart by hand, so that the generator costs less than what it measures.
 */
export async function load(port: number, connections: number, seconds: number, driver: Driver): Promise<Measurement> {
  const latencies: number[] = [];
  let failures = 0;
  const begun = performance.now();
  const end = begun + seconds * 1000;

  function run(index: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let received = '';
      let sentAt = 0;
      const send = () => {
        sentAt = performance.now();
        socket.write(driver.next(index), 'latin1');
      };
      socket.setEncoding('latin1');
      socket.on('connect', send);
      socket.on('error', reject);
      socket.on('data', (chunk: string) => {
        received += chunk;
        const headEnd = received.indexOf('\r\n\r\n');
        if (headEnd < 0) return;
        const length = Number(/content-length: (\d+)/i.exec(received.slice(0, headEnd))?.[1]);
        if (received.length < headEnd + 4 + length) return;
        const now = performance.now();
        latencies.push(now - sentAt);
        const status = Number(received.slice(9, 12));
        if (!driver.answered(index, status, received.slice(headEnd + 4, headEnd + 4 + length))) failures++;
        received = received.slice(headEnd + 4 + length);
        if (now < end) return send();
        socket.destroy();
        resolve();
      });
    });
  }

  await Promise.all(Array.from({ length: connections }, (_, index) => run(index)));
  const elapsed = (performance.now() - begun) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    requests: latencies.length,
    failures,
    seconds: elapsed,
    perSecond: latencies.length / elapsed,
    p50: at(0.5),
    p99: at(0.99),
  };
}
