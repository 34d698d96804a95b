import { setTimeout as pause } from 'node:timers/promises';
import { call } from '../../test/support/api-call.ts';
import { userinfo } from '../../test/support/flow.ts';
import { authorize, exchange, newClients, revoke, signUp } from '../faults/lives.ts';
import { readRecords } from '../faults/records.ts';
import { type Node, startNode } from '../faults/service.ts';
import { type Options, type Outcome, type Trial, trial } from '../faults/trial.ts';
import type { Cluster } from './cluster.ts';

/** What is done to the primary: without an answer, its sockets still take connections, and nothing is ever sent on them. */
const HOWS = ['killed', 'without an answer', 'halted, and woken after the promotion'] as const;
type How = (typeof HOWS)[number];

/** What a fail-over was like, in milliseconds since the primary was struck. */
export interface FailOver {
  readonly how: How;
  /** When the promotion was asked for; undefined where nobody has to. */
  readonly asked: number | undefined;
  /** When the new primary took writes. */
  readonly promoted: number;
  /** When the last of the nodes answered again. */
  readonly back: number;
  readonly rebuilt: string;
}

/** How long after the promotion the service may take, in milliseconds. */
export const LIMIT = 5000;

/** From when on a node that is not back says why, in milliseconds after the promotion. */
const LATE = 2000;

/** How many answers in a row make a node that is back. */
const STEADY = 3;

/**
 * Two nodes with both servers in their address, under load. The primary is struck, the standby promoted by hand, and the former
 * primary rebuilt as a standby; then the same the other way round.
 * @param silent how many times, before the halted ones, the primary answers nothing until the service is back
 * @param halted how many times, at the end, it is halted instead of killed, and woken when it was replaced
 */
export async function failOver(
  cluster: Cluster,
  options: Options,
  { silent, halted }: { readonly silent: number; readonly halted: number },
): Promise<{ readonly outcome: Outcome; readonly all: readonly FailOver[] }> {
  const all: FailOver[] = [];
  const setting = {
    ...{ fault: 'loss of the primary', server: cluster.primary, leave: true },
    through: (url: string) => cluster.through(url),
  };
  const outcome = await trial(setting, options, async (one) => {
    const { service, ledger, over } = one;
    const nodes = [await startNode({ settings: service.settings }), await startNode({ settings: service.settings })];
    // An interrupted run would leave them.
    process.once('exit', () => nodes.forEach((node) => void node.process.kill('SIGKILL')));
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
          const how =
            HOWS[time > options.times - halted ? 2 : time > options.times - halted - silent ? 1 : 0] ?? 'killed';
          all.push(await failOverOnce(one, cluster, nodes, { token, how }));
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
  readonly how: How;
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
  const wake = cluster.strike(strike.how === 'killed' ? 'SIGKILL' : 'SIGSTOP');
  // As long as an operator takes to notice.
  if (!cluster.promotesItself) await pause(random(3000));
  const asked = cluster.promotesItself ? undefined : since();
  await cluster.promote();
  const promoted = since();
  if (strike.how === 'halted, and woken after the promotion') wake();
  const backs = await Promise.all(nodes.map((node) => untilBack(node, since, promoted)));
  const back = Math.max(...backs);
  if (back - promoted > LIMIT)
    ledger.violated(
      'the service',
      `is back ${Math.round(back - promoted)} ms after the promotion, expected ${LIMIT} at most`,
    );
  wake();
  const rebuilt = await cluster.rebuild();
  over = true;
  await Promise.all(presented);
  return { how: strike.how, asked, promoted, back, rebuilt };
}

/** When a node is ready again, which includes that it writes. */
async function untilBack({ port }: Node, since: () => number, promoted: number): Promise<number> {
  let first = 0;
  let said = '';
  for (let answers = 0; answers < STEADY; ) {
    const answer = await call({ baseUrl: `http://127.0.0.1:${port}` }, 'GET', '/health/ready').catch(() => undefined);
    if (answer?.status !== 200) answers = 0;
    else if (++answers === 1) first = since();
    const why = answer?.status === 200 ? '' : String(answer?.body?.error_description);
    if (why !== said && since() - promoted > LATE)
      process.stderr.write(`${Math.round(since() - promoted)} ms after the promotion: ${why || 'ready'}\n`);
    said = why;
    if (since() > 600_000) throw new Error('a node does not come back');
    await pause(20);
  }
  return first;
}
