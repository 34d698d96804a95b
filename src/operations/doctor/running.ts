import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { LogLoss } from '../../platform/log-output.ts';
import type { Config } from '../../settings/config.ts';
import type { Finding } from './finding.ts';
import { judgeClocks } from './rules/clock.ts';
import { judgeConfiguration } from './rules/configuration.ts';
import { judgeLog } from './rules/log.ts';
import { judgeMail } from './rules/mail.ts';
import { judgeNodeNumbers } from './rules/node-numbers.ts';
import { type EndingSecret, judgeUpstreams } from './rules/upstreams.ts';
import { countForDoctor } from './running-store.ts';

export interface RunningParts {
  readonly config: Config;
  readonly baseUrl: string;
  readonly database: Database;
  readonly clock: Clock;
  /** How far the clock of the database is ahead, in milliseconds. */
  readonly clockOffset: () => Promise<number>;
  readonly loss: () => LogLoss;
  readonly upstreams: { shown(): Promise<readonly EndingSecret[]> };
}

/** The findings of `tessera doctor` that a running server can make about itself. */
export async function examineRunning(parts: RunningParts): Promise<readonly Finding[]> {
  const { config, baseUrl, database, clock, clockOffset, loss } = parts;
  const counts = await database.read(() => countForDoctor({ now: clock() }));
  const { dead, leases } = counts ?? { dead: 0, leases: 0 };
  const ahead = await clockOffset();
  return [
    ...judgeConfiguration(config, baseUrl),
    ...judgeNodeNumbers(leases),
    ...judgeMail(config, baseUrl, dead),
    ...judgeUpstreams(await parts.upstreams.shown(), clock()),
    ...judgeLog({ log: loss() }),
    ...judgeClocks([{ whose: 'the database', ahead }]),
  ];
}
