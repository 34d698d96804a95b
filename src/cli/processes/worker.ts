import { start } from '../../app.ts';
import { pictures } from '../../pictures/pictures.ts';
import type { Config } from '../../platform/config/config.ts';
import { HASH_COST, passwords } from '../../platform/crypto/passwords.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { Turn } from '../../platform/turns.ts';
import { reportLong } from '../session.ts';
import type { Order, Report, Scarce } from './messages.ts';

/**
 * Runs one of several processes that share the port, as their supervisor orders. It ends when the supervisor has ended, whatever the
 * reason, because the channel between them closes.
 * @param warn reports what puts the data at risk
 */
export async function serveAsWorker(config: Config, warn: (text: string) => void): Promise<void> {
  // A service manager or a terminal sends signals to all processes. The supervisor alone says what follows from them.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {});
  const { promise: ordered, resolve: order } = Promise.withResolvers<Extract<Order, { kind: 'start' }>>();
  const waiting = new Map<number, () => void>();
  let requests = 0;
  let metrics: Metrics | undefined;
  const tell = (report: Report): void => void process.send?.(report);

  const turnFor =
    (what: Scarce): Turn =>
    async (task) => {
      const request = ++requests;
      const { promise: turn, resolve } = Promise.withResolvers<void>();
      waiting.set(request, resolve);
      tell({ kind: 'asks', what, request });
      await turn;
      try {
        return await task();
      } finally {
        tell({ kind: 'gives back', what });
      }
    };

  process.on('message', (message: Order) => {
    switch (message.kind) {
      case 'start':
        return order(message);
      case 'turn':
        waiting.get(message.request)?.();
        return waiting.delete(message.request);
      case 'measure':
        return metrics?.registry.getMetricsAsJSON().then((values) => tell({ kind: 'measured', values }));
      case 'look':
        return tell({ kind: 'works' });
      case 'drain':
        // Where it cannot start, that is said below.
        return serving.then(
          (tessera) => tessera.drain(),
          () => {},
        );
      case 'close':
        return serving
          .then((tessera) => tessera.close(message.patiently))
          .then(
            () => process.exit(0),
            (error: unknown) => {
              process.stderr.write(`${String(error)}\n`);
              process.exit(1);
            },
          );
    }
  });

  const serving = ordered.then(({ number, port, joins }) =>
    start({ ...config, port }, Date.now, {
      migration: { progress: reportLong },
      // Once is enough.
      warn: joins === undefined ? warn : () => {},
      passwords: (concurrency) =>
        passwords(concurrency, HASH_COST, { turn: turnFor('hash'), processes: config.processes }),
      pictures: pictures(turnFor('picture')),
      share: {
        number,
        joins,
        addMetrics(own) {
          metrics = own;
        },
      },
    }),
  );
  try {
    const { baseUrl, port } = await serving;
    tell({ kind: 'ready', baseUrl, port });
  } catch (error) {
    // The channel to the supervisor would keep the process alive.
    process.channel?.unref();
    throw error;
  }
}
