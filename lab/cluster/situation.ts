import assert from 'node:assert/strict';
import { Random } from '../../test/support/random.ts';
import type { App } from './apps.ts';
import type { Cluster } from './cluster.ts';
import { type EndpointSet, OK, strictClock } from './history.ts';
import { type Code, type Family, type Person, type Token, World } from './world.ts';

export interface Situation {
  readonly person: Person;
  readonly app: App;
  /** Not yet redeemed. */
  readonly code: Code;
  /** Has been refreshed twice. */
  readonly family: Family;
}

/** What four requests that were sent side by side were answered. */
export interface Outcomes {
  readonly userInfo: string;
  readonly refresh: string;
  readonly redeem: string;
  readonly authorize: string;
}

export const newest = (tokens: readonly Token[]): Token => {
  const token = tokens.at(-1);
  assert.ok(token);
  return token;
};

const clock = strictClock();
let count = 0;

/** One node of a cluster, as its callers see it. */
export function nodeOf({ wires }: Cluster, index: number): World {
  const wire = wires[index];
  assert.ok(wire);
  return new World([wire], clock, new Random(1), `n${count++}`);
}

/** A user of an app at one node, whose tokens the other node has just accepted over connections that stay open. */
export async function begin(here: World, there: World, endpointSet: EndpointSet = 'v2'): Promise<Situation> {
  const [person, app] = await Promise.all([here.newPerson(), here.newApp()]);
  await here.signIn(person);
  const first = await here.authorize(person, app, endpointSet);
  const { code } = await here.authorize(person, app, endpointSet);
  assert.ok(first.code && code);
  assert.equal(await here.redeem(first.code), OK);
  const family = here.families.at(-1);
  assert.ok(family);
  for (let times = 0; times < 2; times++) assert.equal(await there.refresh(family, newest(family.refresh)), OK);
  assert.equal((await there.authorize(person, app, endpointSet)).outcome, OK);
  // As many side by side as there will be afterwards, so that nothing waits for a connection.
  const looks = await Promise.all([1, 2, 3, 4].map(() => there.look(newest(family.access), endpointSet)));
  assert.deepEqual(looks, [OK, OK, OK, OK]);
  return { person, app, code, family };
}

/** Presents everything at a node, each in a request of its own, all of them sent before any is answered. */
export async function presentAll(at: World, { person, app, code, family }: Situation): Promise<Outcomes> {
  const [userInfo, refresh, redeem, { outcome: authorize }] = await Promise.all([
    at.look(newest(family.access), code.endpointSet),
    at.refresh(family, newest(family.refresh)),
    at.redeem(code),
    at.authorize(person, app, code.endpointSet),
  ]);
  return { userInfo, refresh, redeem, authorize };
}
