import { start } from '../../app.ts';
import { pictures } from '../../pictures/pictures.ts';
import { HASH_COST, passwords } from '../../platform/crypto/passwords.ts';
import { watchWaiting } from '../../platform/http/waiting.ts';
import type { LogLoss } from '../../platform/log-output.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { Turn } from '../../platform/turns.ts';
import type { Config } from '../../settings/config.ts';
import { developerTerminal } from '../developer-terminal.ts';
import type { Logs } from '../logs.ts';
import { reportLong } from '../session.ts';
import { end } from '../stop.ts';
import { takeAcceptTimes } from './accept-times.ts';
import type { Order, Report, Scarce } from './messages.ts';

/**
 * Runs one of several processes that share the port, as their supervisor orders. It ends when the supervisor has ended, whatever the
 * reason, because the channel between them closes.
 */
export async function serveAsWorker(config: Config, logs: Logs): Promise<void> {
  // A service manager or a terminal sends signals to all processes. The supervisor alone says what follows from them.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {});
  const waiting = watchWaiting();
  takeAcceptTimes(waiting);
  const { promise: ordered, resolve: order } = Promise.withResolvers<Extract<Order, { kind: 'start' }>>();
  const asked = new Map<number, () => void>();
  let requests = 0;
  let metrics: Metrics | undefined;
  /** Of the lines that the supervisor passes on. */
  let lossOfAll: LogLoss | undefined;
  const tell = (report: Report): void => void process.send?.(report);

  const turnFor =
    (what: Scarce): Turn =>
    async (task) => {
      const request = ++requests;
      const { promise: turn, resolve } = Promise.withResolvers<void>();
      asked.set(request, resolve);
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
        asked.get(message.request)?.();
        return asked.delete(message.request);
      case 'measure':
        return metrics?.registry.getMetricsAsJSON().then((values) => tell({ kind: 'measured', values }));
      case 'look':
        lossOfAll = message.log;
        return tell({ kind: 'works' });
      case 'drain':
        // Where it cannot start, that is said below.
        return serving.then(
          (tessera) => tessera.drain(),
          () => {},
        );
      case 'close':
        tell({ kind: 'closing' });
        return end(() => serving.then((tessera) => tessera.close(message.patiently)), logs, { isSupervised: true });
    }
  });

  const serving = ordered.then(({ number, port, joins }) =>
    start({ ...config, port }, Date.now, {
      migration: { progress: reportLong },
      // Once is enough.
      warn: joins === undefined ? (text) => logs.err.write(`Warning: ${text}\n`) : () => {},
      log: logs.out,
      developerTerminal: developerTerminal(config, logs),
      waiting,
      passwords: (concurrency) =>
        passwords(concurrency, HASH_COST, { turn: turnFor('hash'), processes: config.processes }),
      pictures: pictures(turnFor('picture')),
      share: {
        number,
        joins,
        lossOfAll: () => lossOfAll,
        addMetrics(own) {
          metrics = own;
        },
      },
    }),
  );
  try {
    const { baseUrl, port, setupAddress } = await serving;
    tell({ kind: 'ready', baseUrl, port, setupAddress });
  } catch (error) {
    // The channel to the supervisor would keep the process alive.
    process.channel?.unref();
    throw error;
  }
}
