import { ask } from '../../test/support/ask-postgres.ts';
import { userinfo } from '../../test/support/flow.ts';
import { authorize, exchange, newClients, revoke, signUp } from './lives.ts';
import type { Network } from './network.ts';
import type { Pair } from './pair.ts';
import { untilBack } from './probes.ts';
import { startNode } from './service.ts';
import { type Options, type Outcome, type Trial, trial } from './trial.ts';

/** How often the revoked token is presented while connections end at the standby, too. */
const TRIES = 50;

/** A standby that does not learn of what is revoked, and every other connection of the node leads there. */
export async function laggingStandby({ primary, standby }: Pair, network: Network, options: Options): Promise<Outcome> {
  const setting = { fault: 'a standby that lags behind', server: primary, through: network.through };
  return trial(setting, options, async (one) => {
    const { service, ledger, over } = one;
    const node = await startNode({ settings: service.settings });
    service.front.targets = [node.port];
    return {
      async faults() {
        const told = new Map<number, number>();
        for (let time = 1; time <= options.times; time++) {
          const token = await revokedBehind(one, standby.url);
          for (let n = 0; n < TRIES; n++) {
            // New connections each time: those that ended at the primary would be kept.
            network.lead(primary, standby);
            const { status, body } = await userinfo(service, token);
            told.set(status, (told.get(status) ?? 0) + 1);
            if (status !== 403 && status !== 503)
              ledger.violated('a revoked token', `expected 403 or 503, got ${status} ${JSON.stringify(body)}`);
          }
          await ledger.more(10);
          network.lead(primary);
          await ask(standby.url, 'SELECT pg_wal_replay_resume()');
          await untilBack(service);
          await over();
          options.progress(time);
        }
        return [
          `a token revoked behind its back: ${[...told].map(([status, n]) => `${status} ${n} times`).join(', ')}`,
        ];
      },
      end: () => node.stop(),
    };
  });
}

/** A token that the standby knows as live, and will go on to. */
async function revokedBehind({ service, ledger, databaseUrl }: Trial, standby: string): Promise<string> {
  const [client] = await newClients(service, 1);
  if (client === undefined) throw new Error('there is no client');
  const person = await signUp(service, ledger, client);
  await exchange(service, ledger, person, await authorize(person.browser, client));
  person.granted = true;
  const [held] = person.held;
  const copied = new URL(standby);
  copied.pathname = new URL(databaseUrl).pathname;
  const known = () => ask(copied.href, `SELECT id FROM token_family WHERE id = ${held?.family}`).catch(() => []);
  while ((await known()).length === 0);
  await ask(standby, 'SELECT pg_wal_replay_pause()');
  while ((await ask<{ at: string }>(standby, 'SELECT pg_get_wal_replay_pause_state() AS at'))[0]?.at !== 'paused');
  await revoke(service, ledger, person);
  return held?.access ?? '';
}
