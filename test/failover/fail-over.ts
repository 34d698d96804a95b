import { setTimeout as pause } from 'node:timers/promises';
import { authorize, exchange, newClients, revoke, signUp } from '../faults/lives.ts';
import { readRecords } from '../faults/records.ts';
import { type Node, startNode } from '../faults/service.ts';
import { type Options, type Outcome, type Trial, trial } from '../faults/trial.ts';
import { call } from '../support/api-call.ts';
import { userinfo } from '../support/flow.ts';
import type { Cluster } from './cluster.ts';

/** What a fail-over was like, in milliseconds since the primary was struck. */
export interface FailOver {
  readonly how: 'killed' | 'halted, and woken after the promotion';
  /** When the promotion was asked for, and when the new primary took writes. */
  readonly asked: number;
  readonly promoted: number;
  /** When the last of the nodes answered again. */
  readonly back: number;
  readonly rebuilt: string;
}

/** How long after the promotion the service may take, in milliseconds. */
export const LIMIT = 5000;

/** How many answers in a row make a node that is back. */
const STEADY = 3;

/**
 * Two nodes with both servers in their address, under load. The primary is struck, the standby promoted by hand, and the former
 * primary rebuilt as a standby; then the same the other way round.
 * @param halted after how many fail-overs the primary is halted instead of killed, and woken when it was replaced
 */
export async function failOver(
  cluster: Cluster,
  options: Options,
  halted: number,
): Promise<{ readonly outcome: Outcome; readonly all: readonly FailOver[] }> {
  const all: FailOver[] = [];
  const setting = {
    ...{ fault: 'loss of the primary', server: cluster.primary, leave: true },
    through: (url: string) => cluster.through(url),
  };
  const outcome = await trial(setting, options, async (one) => {
    const { service, ledger, over } = one;
    const nodes = [await startNode({ settings: service.settings }), await startNode({ settings: service.settings })];
    service.front.targets = nodes.map(({ port }) => port);
    one.snapshot = () => {
      const current = new URL(cluster.primary.url);
      current.pathname = new URL(one.databaseUrl).pathname;
      return readRecords(current.href);
    };
    return {
      async faults() {
        for (let time = 1; time <= options.times; time++) {
          await cluster.synchronize();
          const token = await revokedToken(one);
          await ledger.more(5 + one.random(20));
          all.push(await failOverOnce(one, cluster, nodes, { token, killed: time <= options.times - halted }));
          await over();
          options.progress(time);
        }
        return [];
      },
      async end() {
        await Promise.all(nodes.map((node) => node.stop()));
      },
    };
  });
  return { outcome, all };
}

/** The token of a person who took the app's access away, which the service has acknowledged. */
async function revokedToken({ service, ledger }: Trial): Promise<string> {
  const [client] = await newClients(service, 1);
  if (client === undefined) throw new Error('there is no client');
  const person = await signUp(service, ledger, client);
  await exchange(service, ledger, person, await authorize(person.browser, client));
  person.granted = true;
  await revoke(service, ledger, person);
  return person.held[0]?.access ?? '';
}

interface Strike {
  readonly token: string;
  readonly killed: boolean;
}

async function failOverOnce(one: Trial, cluster: Cluster, nodes: readonly Node[], strike: Strike): Promise<FailOver> {
  const { ledger, random } = one;
  let over = false;
  const presented = nodes.map(async ({ port }) => {
    while (!over) {
      const answer = await userinfo({ baseUrl: `http://127.0.0.1:${port}` }, strike.token).catch(() => undefined);
      if (answer !== undefined && answer.status !== 403 && answer.status !== 503)
        ledger.violated('a revoked token', `expected 403 or 503, got ${answer.status} ${JSON.stringify(answer.body)}`);
      await pause(20);
    }
  });
  const begun = performance.now();
  const since = () => performance.now() - begun;
  const wake = cluster.strike(strike.killed ? 'SIGKILL' : 'SIGSTOP');
  // As long as an operator, or what watches the servers, takes to notice.
  await pause(random(3000));
  const asked = since();
  await cluster.promote();
  const promoted = since();
  if (!strike.killed) wake();
  const backs = await Promise.all(nodes.map((node) => untilBack(node, since)));
  const back = Math.max(...backs);
  if (back - promoted > LIMIT)
    ledger.violated(
      'the service',
      `is back ${Math.round(back - promoted)} ms after the promotion, expected ${LIMIT} at most`,
    );
  const rebuilt = await cluster.rebuild();
  over = true;
  await Promise.all(presented);
  const how = strike.killed ? 'killed' : 'halted, and woken after the promotion';
  return { how, asked, promoted, back, rebuilt };
}

/** When a node is ready again, which includes that it writes. */
async function untilBack({ port }: Node, since: () => number): Promise<number> {
  let first = 0;
  for (let answers = 0; answers < STEADY; ) {
    const answer = await call({ baseUrl: `http://127.0.0.1:${port}` }, 'GET', '/health/ready').catch(() => undefined);
    if (answer?.status !== 200) answers = 0;
    else if (++answers === 1) first = since();
    if (since() > 600_000) throw new Error('a node does not come back');
    await pause(20);
  }
  return first;
}
