import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { call } from '../../test/support/api-call.ts';
import { userinfo } from '../../test/support/flow.ts';
import { fillable } from './full-disk.ts';
import { seconds } from './kill-postgres.ts';
import { change, type Person } from './ledger.ts';
import { authorize, exchange, newClients, revoke, signUp } from './lives.ts';
import { readRecords, type Snapshot } from './records.ts';
import { startNode } from './service.ts';
import { type Options, type Outcome, type Trial, trial } from './trial.ts';

const READER = fileURLToPath(new URL('./read-records.ts', import.meta.url));

/** How many changes have to fail before there is room again. */
const FAILURES = 20;

/** The disk full under SQLite, under load. @throws where this system has no disk that could be filled */
export async function fillDisk(options: Options, way: 'any' | 'limit' = 'any'): Promise<Outcome> {
  return trial({ fault: way === 'limit' ? 'files that cannot grow' : 'the disk full' }, options, async (one) => {
    const { service, ledger, folder, over } = one;
    const data = join(folder, 'data');
    mkdirSync(data);
    const disk = fillable(data, way);
    if (disk === undefined) throw new Error('there is no disk here that could be filled');
    const url = `sqlite:${join(data, 'tessera.db')}`;
    const settings = { ...service.settings, TESSERA_DATABASE_URL: url };
    const node = await startNode({ settings, wrapper: disk.wrapper });
    const pid = node.process.pid ?? 0;
    service.front.targets = [node.port];
    const enter = disk.enter(pid);
    const read = async () => JSON.parse(await output([...enter, process.execPath, READER, url])) as Snapshot;
    one.snapshot = enter.length > 0 ? read : () => readRecords(url);
    return {
      async faults() {
        let [reads, back] = [0, 0];
        for (let time = 1; time <= options.times; time++) {
          const [live, gone] = await twoPeople(one);
          disk.fill(pid);
          await ledger.less(FAILURES);
          reads += await readWhileFull(one, live, gone);
          disk.free(pid);
          const freed = performance.now();
          await ledger.more(1);
          back = Math.max(back, performance.now() - freed);
          await over();
          options.progress(time);
        }
        if (node.process.exitCode !== null) ledger.violated('the node', 'ended');
        return [
          disk.name,
          `${ledger.left} changes answered 503 with Retry-After, ${reads} reads as ever`,
          `takes changes again ${seconds(back)} after there is room`,
        ];
      },
      end: () => node.stop(),
    };
  });
}

/** What a command prints: of itself alone, and not what a process of the test runner would add. */
const output = (command: readonly string[]) => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return promisify(execFile)(command[0] ?? '', command.slice(1), { env, maxBuffer: 1 << 30 }).then(
    ({ stdout }) => stdout,
  );
};

/** One with live tokens and one with revoked ones. */
async function twoPeople({ service, ledger }: Trial): Promise<[Person, Person]> {
  const [client] = await newClients(service, 1);
  if (client === undefined) throw new Error('no client');
  const people: Person[] = [];
  for (let n = 0; n < 2; n++) {
    const person = await signUp(service, ledger, client);
    const code = await change(service, ledger, 'a consent', () => authorize(person.browser, client));
    person.granted = true;
    await exchange(service, ledger, person, code);
    people.push(person);
  }
  await revoke(service, ledger, people[1] as Person);
  return people as [Person, Person];
}

/** The verdicts go on while nothing can be written. */
async function readWhileFull({ service, ledger }: Trial, live: Person, gone: Person): Promise<number> {
  const expected = [
    ['a live token', live.held[0]?.access, 200],
    ['a revoked token', gone.held[0]?.access, 403],
  ] as const;
  for (const [what, token, status] of expected) {
    const answer = await userinfo(service, token);
    if (answer.status !== status) ledger.violated(what, `was answered ${answer.status} while the disk was full`);
  }
  const { status } = await call(service, 'GET', '/health/live');
  if (status !== 200) ledger.violated('/health/live', `was answered ${status} while the disk was full`);
  return expected.length + 1;
}
