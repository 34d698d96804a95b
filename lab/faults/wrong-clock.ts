import assert from 'node:assert/strict';
import { call } from '../../test/support/api-call.ts';
import { type JsonAnswer, redeem, refresh, type TestClient, type Tokens, userinfo } from '../../test/support/flow.ts';
import type { PostgresServer } from '../../test/support/postgres.ts';
import { hold, type Person } from './ledger.ts';
import { authorize, exchange, newClients, revoke, signUp } from './lives.ts';
import { checkRefusal } from './refusal.ts';
import { type Node, SPECIAL, startNode } from './service.ts';
import { type Options, type Outcome, type Trial, trial } from './trial.ts';

type At = { readonly baseUrl: string };

/** How long the wrong node runs at least, in milliseconds: its housekeeping comes once a second. */
const WHILE = 8000;

/**
 * A node whose clock is wrong starts beside a right one, under load at that one. The wrong one answers 503 or as the right
 * one would, and what callers hold with the right one survives.
 */
export async function wrongClock(
  server: PostgresServer,
  fault: string,
  shift: number,
  options: Options,
): Promise<Outcome> {
  return trial({ fault, server }, options, async (one) => {
    const { service, ledger, over } = one;
    const { settings, front } = service;
    const right = await startNode({ settings });
    front.targets = [right.port];
    return {
      async faults() {
        const tally = new Map<string, number>();
        for (let time = 1; time <= options.times; time++) {
          const held = await credentials(one);
          const extra = { TEST_CLOCK_SHIFT: String(shift), TEST_HURRY: '1' };
          const wrong = await startNode({ settings: { ...settings, ...extra }, script: SPECIAL }).catch((e: unknown) =>
            checkRefusal(ledger, e),
          );
          if (typeof wrong !== 'string') await beside(one, wrong, held, tally);
          await afterwards(one, held);
          await over();
          options.progress(time);
        }
        const told = [...tally].sort().map(([what, times]) => `${what} ${times.toLocaleString('en')}`);
        if (ledger.left > 0) ledger.violated('the right node', `left ${ledger.left} requests without an answer`);
        return [`the wrong node answered ${told.join(', ') || 'nothing: it did not start'}`];
      },
      end: () => right.stop(),
    };
  });
}

interface Credentials {
  readonly client: TestClient;
  readonly live: Person;
  readonly gone: Person;
  /** One whose code is not redeemed yet. */
  readonly late: Person;
  readonly code: string;
}

async function credentials({ service, ledger }: Trial): Promise<Credentials> {
  const [client] = (await newClients(service, 1)) as [TestClient];
  const [live, gone] = [await signUp(service, ledger, client), await signUp(service, ledger, client)];
  for (const person of [live, gone]) {
    await exchange(service, ledger, person, await authorize(person.browser, client));
    person.granted = true;
  }
  await revoke(service, ledger, gone);
  const late = await signUp(service, ledger, client);
  const code = await authorize(late.browser, client);
  late.granted = true;
  return { client, live, gone, late, code };
}

/** While the wrong node runs: what it answers to everything, again and again. */
async function beside(one: Trial, wrong: Node, held: Credentials, tally: Map<string, number>): Promise<void> {
  const { service, ledger } = one;
  const at: At = { baseUrl: `http://127.0.0.1:${wrong.port}` };
  const right: At = { baseUrl: service.baseUrl };
  const begun = performance.now();
  while (performance.now() - begun < WHILE) {
    for (const [what, expected, answer] of await present(at, held)) {
      const shown = answer.status === 503 ? '503' : `${answer.status} ${answer.body?.error ?? ''}`.trim();
      tally.set(shown, (tally.get(shown) ?? 0) + 1);
      if (answer.status !== 503 && answer.status !== expected)
        ledger.violated(what, `expected ${expected} or 503 of the wrong node, got ${JSON.stringify(answer.body)}`);
    }
    if ((await call(right, 'GET', '/health/ready')).status !== 200) ledger.violated('the right node', 'is not ready');
    await ledger.more(2);
  }
  const { status } = await call(at, 'GET', '/health/ready');
  if (status !== 503) ledger.violated('the wrong node', `says that it is ready (${status}), expected 503`);
  await wrong.kill();
}

type Presented = readonly [what: string, expected: number, answer: JsonAnswer];

async function present(at: At, { client, live, gone }: Credentials): Promise<Presented[]> {
  const [good, dead] = [live.held[0], gone.held[0]];
  assert.ok(good !== undefined && dead !== undefined);
  const renewed = await refresh(at, client, good.refresh);
  if (renewed.status === 200) Object.assign(good, hold(renewed.body as Tokens));
  return [
    ['a live refresh token', 200, renewed],
    ['a live access token', 200, await userinfo(at, good.access)],
    ['a revoked access token', 403, await userinfo(at, dead.access)],
    ['a revoked refresh token', 403, await refresh(at, client, dead.refresh)],
    ['an unknown access token', 401, await userinfo(at, 'unknown')],
    ['an unknown code', 400, await redeem(at, client, 'unknown')],
  ];
}

/** What was held before works at the right node: the code, the chain of refresh tokens, and the session. */
async function afterwards({ service, ledger }: Trial, { client, live, late, code }: Credentials): Promise<void> {
  const redeemed = await redeem(service, client, code);
  if (redeemed.status === 200) late.held.push(hold(redeemed.body as Tokens));
  else ledger.violated('a code', `expected 200 at the right node, got ${JSON.stringify(redeemed.body)}`);
  const [held] = live.held;
  const renewed = held && (await refresh(service, client, held.refresh));
  if (renewed?.status === 200 && held !== undefined) Object.assign(held, hold(renewed.body as Tokens));
  else ledger.violated('a refresh token', `expected 200 at the right node, got ${JSON.stringify(renewed?.body)}`);
  await authorize(live.browser, client).catch((error: unknown) => ledger.violated('a session', error));
}
