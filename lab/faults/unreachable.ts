import assert from 'node:assert/strict';
import { agent } from '../../test/support/agent.ts';
import { call, USERINFO } from '../../test/support/api-call.ts';
import { PASSWORD, redeem, refresh, type TestClient } from '../../test/support/flow.ts';
import type { PostgresServer } from '../../test/support/postgres.ts';
import { ADMIN_KEY } from '../../test/support/server.ts';
import { seconds } from './kill-postgres.ts';
import type { Ledger } from './ledger.ts';
import { authorize, exchange, newClients, revoke, signUp } from './lives.ts';
import type { Network } from './network.ts';
import { untilBack } from './probes.ts';
import { type Service, startNode } from './service.ts';
import { type Options, type Outcome, trial } from './trial.ts';

export type Outage =
  | 'silent, and its connections resumed'
  | 'silent, and its connections lost'
  | 'refusing connections';

interface Refused {
  readonly status: number;
  readonly headers: Headers;
}

type Probe = readonly [name: string, send: () => Promise<Refused>];

/** Requests with credentials of every kind, good and bad, none of which may be decided without the database. */
async function credentials(service: Service, ledger: Ledger): Promise<Probe[]> {
  const [client] = (await newClients(service, 1)) as [TestClient];
  const [live, gone] = [await signUp(service, ledger, client), await signUp(service, ledger, client)];
  const code = await authorize(live.browser, client);
  for (const person of [live, gone]) {
    await exchange(service, ledger, person, await authorize(person.browser, client));
    person.granted = true;
  }
  await revoke(service, ledger, gone);
  const [good, dead] = [live.held[0], gone.held[0]];
  assert.ok(good !== undefined && dead !== undefined);
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const visitor = agent(service.baseUrl);
  const login = await visitor.get('/login');
  const signIn = (password: string) => visitor.submit(login, { identifier: live.username, password });
  const wrong = { ...client, clientSecret: `${client.clientSecret.slice(0, -4)}AAAA` };
  return [
    ['a live access token', () => call(service, 'GET', USERINFO, bearer(good.access))],
    ['a revoked access token', () => call(service, 'GET', USERINFO, bearer(dead.access))],
    ['a live refresh token', () => refresh(service, client, good.refresh)],
    ['a revoked refresh token', () => refresh(service, client, dead.refresh)],
    ['a wrong client secret', () => refresh(service, wrong, good.refresh)],
    ['a code', () => redeem(service, client, code)],
    ['an unknown code', () => redeem(service, client, 'unknown')],
    ['the right password', () => signIn(PASSWORD)],
    ['a wrong password', () => signIn('wrong')],
    ['an admin key', () => call(service, 'GET', '/api/v2/admin/users', bearer(ADMIN_KEY))],
    ['an unknown admin key', () => call(service, 'GET', '/api/v2/admin/users', bearer('x'.repeat(43)))],
    ['the probe of readiness', () => call(service, 'GET', '/health/ready')],
  ];
}

/**
 * The database out of reach under load.
 * @param enough is asked after each round of requests whether the outage has lasted long enough
 */
export async function unreachable(
  server: PostgresServer,
  network: Network,
  outage: Outage,
  options: Options,
  enough: (begun: number) => boolean,
): Promise<Outcome> {
  const setting = { fault: `the database ${outage}`, server, through: network.through };
  return trial(setting, options, async ({ service, ledger, over }) => {
    const node = await startNode({ settings: service.settings });
    service.front.targets = [node.port];
    return {
      async faults() {
        let [answers, longest, back, lasted] = [0, 0, 0, 0];
        for (let time = 1; time <= options.times; time++) {
          const probes = await credentials(service, ledger);
          const begun = performance.now();
          if (outage === 'refusing connections') await network.refuse();
          else network.silence();
          do {
            const round = probes.map(async ([name, send]) => {
              const asked = performance.now();
              const { status, headers } = await send();
              longest = Math.max(longest, performance.now() - asked);
              if (status !== 503) ledger.violated(name, `was answered ${status} while the database was out of reach`);
              else if (!headers.has('retry-after')) ledger.violated(name, 'was answered 503 without Retry-After');
              answers++;
            });
            await Promise.all(round);
          } while (!enough(begun));
          lasted = Math.max(lasted, performance.now() - begun);
          if (outage === 'refusing connections') await network.accept();
          else network.speak(outage.endsWith('lost') ? 'lost' : 'resumed');
          back = Math.max(back, await untilBack(service));
          await over();
          options.progress(time);
        }
        return [
          `out of reach for ${seconds(lasted)}`,
          `${answers} requests with credentials: all 503 with Retry-After, the slowest after ${seconds(longest)}`,
          `answers again ${seconds(back)} after its return`,
        ];
      },
      end: () => node.stop(),
    };
  });
}
