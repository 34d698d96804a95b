// store: SQLite, PostgreSQL
/**
 * Random runs of people who sign in through other providers, beside a small model of what ends when (decisions §14).
 *
 * A failure prints the shortest run that it could be shrunk to, and its seed:
 *   TESSERA_MODEL_SEED=<seed> TESSERA_MODEL_RUNS=1 node --test test/model/upstreams.test.ts
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { agent } from '../support/agent.ts';
import { newClient, newUser, standard } from '../support/flow.ts';
import { startServer } from '../support/server.ts';
import { WHOLE } from '../support/whole.ts';
import { newUpstream } from '../upstreams/people.ts';
import { connectAll, type Definition, newState, observe, type State, steps, type World } from './upstreams.ts';

const { TESSERA_MODEL_SEED, TESSERA_MODEL_RUNS } = process.env;
const SAMPLE = process.env['TESSERA_TEST_POSTGRES'] === undefined ? 10 : 4;
const runs = Number(TESSERA_MODEL_RUNS ?? (WHOLE ? 40 : SAMPLE));
const firstSeed = Number(TESSERA_MODEL_SEED ?? 1);
const SHRINKING_MS = 60_000;
const COUNTS = { people: 2, providers: 2, browsers: 3 };

async function newWorld(): Promise<{ model: State; real: World }> {
  const server = await startServer({
    TESSERA_LIMIT_CLIENT_AUTH: 'off',
    TESSERA_LIMIT_PENDING_ADDRESS: 'off',
    TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off',
    TESSERA_LIMIT_SESSION_ACCOUNT: 'off',
    TESSERA_LIMIT_GENERATION_ACCOUNT: 'off',
    TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
    TESSERA_LIMIT_MAIL_ADDRESS: 'off',
    TESSERA_MAILBOX: 'on',
  });
  const people = [];
  for (let index = 0; index < COUNTS.people; index++) people.push(await newUser(server, { emailVerified: true }));
  const upstreams = [];
  for (let index = 0; index < COUNTS.providers; index++) upstreams.push(await newUpstream(server));
  const real: World = {
    ...{ server, people, upstreams, client: standard(await newClient(server)) },
    agents: Array.from({ length: COUNTS.browsers }, () => agent(server.baseUrl, server.nodeInTurn)),
    ...{ callbacks: new Map(), tokens: new Map() },
  };
  return { model: newState(server.now(), COUNTS), real };
}

class Step<A> implements fc.AsyncCommand<State, World> {
  readonly #name: string;
  readonly #argument: A;
  readonly #definition: Definition<A>;

  constructor(name: string, argument: A, definition: Definition<A>) {
    this.#name = name;
    this.#argument = argument;
    this.#definition = definition;
  }

  check(state: Readonly<State>): boolean {
    return this.#definition.applies?.(state, this.#argument) ?? true;
  }

  async run(state: State, world: World): Promise<void> {
    await this.#definition.act(state, world, this.#argument);
    await observe(state, world);
  }

  toString(): string {
    return `${this.#name}(${JSON.stringify(this.#argument)})`;
  }
}

const weighted = <A>([name, definition]: [string, Definition<A>]) => ({
  weight: definition.weight * 10,
  arbitrary: definition.argument.map((argument) => new Step(name, argument, definition)),
});
// The arguments differ from step to step; each is generated and used by its own definition alone.
const some = fc.oneof(...Object.entries(steps).map((entry) => weighted(entry as [string, Definition<unknown>])));
const commands = fc.commands([some], { maxCommands: 120, size: 'max' });

const property = fc.asyncProperty(commands, async (run) => {
  const { model, real } = await newWorld();
  try {
    await connectAll(model, real);
    await fc.asyncModelRun(() => ({ model, real }), run);
  } finally {
    for (const { provider } of real.upstreams) await provider[Symbol.asyncDispose]();
    await real.server.close();
  }
});

test('what ends at a provider, or with it, ends here at once, and no more than the decisions say', async (t) => {
  for (let done = 0; done < runs; done++) {
    const seed = (firstSeed + done) % 2 ** 31;
    const options = {
      ...{ seed, numRuns: 1, unbiased: true, interruptAfterTimeLimit: SHRINKING_MS, markInterruptAsFailure: false },
      endOnFailure: process.env['TESSERA_MODEL_SHRINK'] === 'off',
    };
    const details = await fc.check(property, options);
    if (!details.failed) continue;
    assert.fail(
      `TESSERA_MODEL_SEED=${seed} TESSERA_MODEL_RUNS=1 fails after:\n${String(details.counterexample)}\n${details.errorInstance}`,
    );
  }
  t.diagnostic(`${runs} runs from seed ${firstSeed}`);
});
