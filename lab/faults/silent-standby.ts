import { setTimeout as pause } from 'node:timers/promises';
import { ask } from '../../test/support/ask-postgres.ts';
import { userinfo } from '../../test/support/flow.ts';
import { authorize, exchange, newClients, signUp } from './lives.ts';
import type { Network } from './network.ts';
import type { Pair } from './pair.ts';
import { untilBack } from './probes.ts';
import { readRecords } from './records.ts';
import { startNode } from './service.ts';
import { type Options, type Outcome, type Trial, trial } from './trial.ts';

/** How long commits hang, in milliseconds: longer than any caller waits. */
const SILENCE = 15_000;

/** How many connections a process of a node takes at most: docs/how-to/use-postgresql.md. */
const CONNECTIONS = 16;

/**
 * A synchronous standby falls silent, and commits hang. In turns it comes back; and the primary dies, and the standby
 * becomes the primary, with nothing but what it was sent.
 */
export async function silentStandby(pair: Pair, network: Network, options: Options): Promise<Outcome> {
  const { primary, standby } = pair;
  const setting = { fault: 'a silent synchronous standby', server: primary, through: network.through, leave: true };
  return trial(setting, options, async (one) => {
    const { service, ledger, over } = one;
    const node = await startNode({ settings: service.settings });
    service.front.targets = [node.port];
    return {
      async faults() {
        const told = { reads: 0, backends: 0, acknowledged: 0 };
        const token = await liveToken(one);
        const most = CONNECTIONS * (options.processes ?? 1);
        for (let time = 1; time <= options.times; time++) {
          await ledger.more(10);
          const [receiver] = await ask<{ pid: number }>(standby.url, 'SELECT pid FROM pg_stat_wal_receiver');
          if (receiver === undefined) throw new Error('the standby does not follow');
          process.kill(receiver.pid, 'SIGSTOP');
          const before = ledger.acknowledged;
          await silence(one, { primary: primary.url, token, most }, told);
          told.acknowledged += ledger.acknowledged - before;
          if (time < options.times) process.kill(receiver.pid, 'SIGCONT');
          else await failOver(one, pair, network, receiver.pid);
          await untilBack(service);
          await over();
          options.progress(time);
        }
        return [
          `${told.reads} reads meanwhile, all 200; ${told.backends} connections at most; ${told.acknowledged} changes acknowledged meanwhile`,
          'at the end the standby took over',
        ];
      },
      end: () => node.stop(),
    };
  });
}

async function liveToken({ service, ledger }: Trial): Promise<string> {
  const [client] = await newClients(service, 1);
  if (client === undefined) throw new Error('there is no client');
  const person = await signUp(service, ledger, client);
  await exchange(service, ledger, person, await authorize(person.browser, client));
  person.granted = true;
  return person.held[0]?.access ?? '';
}

/** Reads go on, and commits that hang take no more connections than the node may have. */
async function silence(
  { service, ledger }: Trial,
  { primary, token, most }: { primary: string; token: string; most: number },
  told: { reads: number; backends: number },
): Promise<void> {
  const begun = performance.now();
  while (performance.now() - begun < SILENCE) {
    const { status, body } = await userinfo(service, token);
    told.reads++;
    if (status !== 200) ledger.violated('a read', `expected 200 while commits hang, got ${status} ${body?.error}`);
    const sql = "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'tessera'";
    const count = (await ask<{ count: number }>(primary, sql))[0]?.count ?? 0;
    told.backends = Math.max(told.backends, count);
    await pause(50);
  }
  if (told.backends > most) {
    ledger.violated('the node', `has ${told.backends} connections, expected ${most} at most`);
  }
}

async function failOver(one: Trial, { primary, standby }: Pair, network: Network, receiver: number): Promise<void> {
  await primary.kill();
  process.kill(receiver, 'SIGCONT');
  await ask(standby.url, 'SELECT pg_promote()');
  network.lead(standby);
  const copied = new URL(standby.url);
  copied.pathname = new URL(one.databaseUrl).pathname;
  one.snapshot = () => readRecords(copied.href);
}
