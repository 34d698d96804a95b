import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { call, TOKEN, USERINFO } from '../../test/support/api-call.ts';
import type { Tokens } from '../../test/support/flow.ts';
import type { PostgresServer } from '../../test/support/postgres.ts';
import { hold, type Person } from './ledger.ts';
import { authorize, exchange, newClients, revoke, signUp } from './lives.ts';
import { type Node, startNode } from './service.ts';
import { type Options, type Outcome, type Trial, trial } from './trial.ts';

const NODES = 3;
/** How many callers of each kind. */
const CALLERS = 4;
const REQUESTS = 20_000;
/** How often the balancer asks who is ready, in milliseconds. */
const POLL = 200;

/**
 * Three nodes that are stopped in order and started again, one after another, under load. Callers come through a balancer
 * that asks for readiness, or go to one node until it sends them away; no request may fail.
 */
export async function restartNodes(server: PostgresServer, options: Options): Promise<Outcome> {
  return trial({ fault: 'a rolling restart of three nodes', server }, options, async (one) => {
    const { service, ledger, over } = one;
    const settings = { ...service.settings, TESSERA_DRAIN_SECONDS: '2' };
    const nodes = await Promise.all(Array.from({ length: NODES }, () => startNode({ settings })));
    const balancer = balance(one, nodes);
    return {
      async faults() {
        const count = { sent: 0, stopping: false };
        const callers = await Promise.all(
          Array.from({ length: 2 * CALLERS }, async (_, n) => {
            const person = await liveAndRevoked(one);
            return () => keepCalling(one, person, n % 2 === 0, count);
          }),
        );
        const running = callers.map((run) => run());
        let restarts = 0;
        for (let time = 1; time <= options.times || (!options.sample && count.sent < REQUESTS); time++) {
          for (let n = 0; n < NODES; n++, restarts++) {
            await nodes[n]?.stop();
            nodes[n] = await startNode({ settings });
            await ledger.more(5);
          }
          await over();
          options.progress(Math.min(time, options.times));
        }
        count.stopping = true;
        await Promise.all(running);
        if (ledger.left > 0) ledger.violated('the load', `has ${ledger.left} requests without an answer`);
        return [`${count.sent.toLocaleString('en')} requests beside the load during ${restarts} restarts, none failed`];
      },
      async end() {
        balancer.stop();
        for (const node of nodes) await node.stop();
      },
    };
  });
}

/** Leads new connections to those that say they are ready. */
function balance({ service }: Trial, nodes: readonly Node[]): { stop(): void } {
  let stopped = false;
  const ready = async ({ port }: Node) =>
    (await call({ baseUrl: `http://127.0.0.1:${port}` }, 'GET', '/health/ready').catch(() => undefined))?.status ===
    200;
  async function poll(): Promise<void> {
    while (!stopped) {
      const all = await Promise.all(nodes.map(async (node) => ((await ready(node)) ? [node.port] : [])));
      service.front.targets = all.flat();
      await pause(POLL);
    }
  }
  void poll();
  service.front.targets = nodes.map(({ port }) => port);
  return {
    stop() {
      stopped = true;
    },
  };
}

interface Two {
  readonly live: Person;
  readonly gone: Person;
}

async function liveAndRevoked({ service, ledger }: Trial): Promise<Two> {
  const [client] = await newClients(service, 1);
  if (client === undefined) throw new Error('there is no client');
  const [live, gone] = [await signUp(service, ledger, client), await signUp(service, ledger, client)];
  for (const person of [live, gone]) {
    await exchange(service, ledger, person, await authorize(person.browser, client));
    person.granted = true;
  }
  await revoke(service, ledger, gone);
  return { live, gone };
}

/** Asks one thing after another on one connection that is kept, as long as the node keeps it. */
async function keepCalling(
  { service, ledger }: Trial,
  { live, gone }: Two,
  direct: boolean,
  count: { sent: number; stopping: boolean },
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const front = Number(new URL(service.baseUrl).port);
  const pick = () => service.front.targets[count.sent % service.front.targets.length] ?? front;
  let port = direct ? pick() : front;
  const who = direct ? 'a caller of one node' : 'a caller through the balancer';
  const { clientId, clientSecret } = live.client;
  for (let n = 0; !count.stopping; n++) {
    const [held, dead] = [live.held[0], gone.held[0]];
    if (held === undefined || dead === undefined) return;
    const renews = n % 10 === 0;
    const body = { grant_type: 'refresh_token', refresh_token: held.refresh, client_id: clientId };
    const [token, expected] = n % 3 === 1 ? [dead.access, 403] : [held.access, 200];
    try {
      const answer = renews
        ? await send(agent, port, 'POST', TOKEN, JSON.stringify({ ...body, client_secret: clientSecret }))
        : await send(agent, port, 'GET', USERINFO, undefined, token);
      count.sent++;
      if (answer.status !== (renews ? 200 : expected))
        ledger.violated(who, `expected ${renews ? 200 : expected}, got ${answer.status} ${answer.text}`);
      else if (renews) Object.assign(held, hold(JSON.parse(answer.text) as Tokens));
      if (direct && answer.close) port = pick();
    } catch (error) {
      ledger.violated(who, `expected an answer, got ${String(error)}`);
      if (direct) port = pick();
    }
  }
  agent.destroy();
}

function send(
  agent: Agent,
  port: number,
  method: string,
  path: string,
  body?: string,
  token?: string,
): Promise<{ status: number; close: boolean; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const outgoing = request({ agent, host: '127.0.0.1', port, method, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, close: response.headers.connection === 'close', text }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
