import { setTimeout as pause } from 'node:timers/promises';
import { isBusy } from '../../test/support/busy.ts';
import { startPublisher } from '../../test/support/metadata-publisher.ts';
import { Random } from '../../test/support/random.ts';
import { check, type Violation } from './checker.ts';
import type { Cluster } from './cluster.ts';
import { type Operation, strictClock } from './history.ts';
import { Load } from './load.ts';
import { World } from './world.ts';

/** How many operations make a stretch, which is checked and then forgotten. */
const STRETCH = 2500;
/**
 * Stretches that run side by side, so that the nodes have work while one begins or ends. Each has a host of its own for the metadata
 * documents of its apps; the one that is a name is blocked at times.
 */
const HOSTS = ['localhost', '127.0.0.1'];
/** Kills are up to so many seconds apart. */
const BETWEEN_KILLS = 6;
/** Each of so many kills is that of the supervisor. */
const SUPERVISOR = 4;
/** How long connections to a process that was killed may be used without notice, in milliseconds. */
const STALE = 500;

export interface Summary {
  readonly operations: number;
  readonly seconds: number;
  /** How often a process was killed. */
  readonly kills: number;
  /** How often each outcome came, by kind of operation. */
  readonly outcomes: ReadonlyMap<string, number>;
  readonly violations: readonly { readonly violation: Violation; readonly history: readonly Operation[] }[];
}

interface Order {
  readonly operations: number;
  readonly seed: number;
  /** Asked before every stretch. */
  readonly enough?: (summary: Summary) => boolean;
  /** Whether processes are killed meanwhile. */
  readonly kills?: boolean;
  /** Called after every stretch. */
  readonly progress?: (summary: Summary) => void;
}

/** On a machine that is too busy for the database to answer in time, 503 is no fault: it may have been done or not, as after a kill. */
const isRightRefusal = ({ fault, operation }: Violation): boolean =>
  fault === 'server fault' && operation.outcome.startsWith('503') && isBusy();

/** Loads a cluster with so many operations, and checks every stretch of their history. */
export async function run(cluster: Cluster, { operations, seed, kills, enough, progress }: Order): Promise<Summary> {
  const clock = strictClock();
  const began = clock();
  const outcomes = new Map<string, number>();
  const violations: { violation: Violation; history: readonly Operation[] }[] = [];
  const interruptions: { start: number; end: number }[] = [];
  const size = cluster.wires.length;
  let done = 0;
  let begun = 0;
  let stretches = 0;
  const summary = (): Summary => ({
    ...{ operations: done, seconds: (clock() - began) / 1000, outcomes, violations },
    kills: interruptions.length,
  });

  const publisher = await startPublisher();
  async function lane(host: string): Promise<void> {
    while (begun < operations && violations.length === 0 && enough?.(summary()) !== true) {
      const length = Math.min(STRETCH, Math.ceil(operations / HOSTS.length));
      begun += length;
      const number = stretches++;
      const random = new Random(seed + number * 7919);
      const publication = { publisher, host };
      const label = `x${seed}-${number}`;
      const world = new World(cluster.wires, clock, random, label, { isPatient: kills === true, publication });
      const aside = number % 16 === 1 ? rotateKeys(cluster, world) : undefined;
      await new Load(world, random).run(length);
      await aside;
      const { history } = world;
      done += history.length;
      for (const { kind, outcome } of history) {
        const key = `${kind}: ${outcome}`;
        outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
      }
      for (const violation of check(history, interruptions)) {
        if (!isRightRefusal(violation)) violations.push({ violation, history });
      }
      progress?.(summary());
    }
  }
  let working = true;
  async function killing(): Promise<void> {
    const random = new Random(seed);
    for (let time = 1; working; time++) {
      await pause(BETWEEN_KILLS * random.below(1000));
      const interruption = { start: clock(), end: Number.POSITIVE_INFINITY };
      interruptions.push(interruption);
      await cluster.kill(time % SUPERVISOR === 0 ? undefined : random.below(size));
      await pause(STALE);
      interruption.end = clock();
    }
  }
  const killer = kills === true ? killing() : undefined;
  await Promise.all(HOSTS.map(lane)).finally(() => {
    working = false;
    return publisher.close();
  });
  await killer;
  return summary();
}

/** New signing keys in the middle of it all: no token is refused for that. */
const rotateKeys = (cluster: Cluster, world: World) =>
  world.aside('rotate keys', async () => (await cluster.command('keys', 'rotate')).code === 0);
