import assert from 'node:assert/strict';
import { Random } from '../../test/support/random.ts';
import { ADMIN_KEY } from '../../test/support/server.ts';
import type { App } from './apps.ts';
import type { Cluster } from './cluster.ts';
import { INVALID_GRANT, INVALID_TOKEN } from './expected.ts';
import { type EndpointSet, OK, strictClock } from './history.ts';
import { admin, type Wire } from './wire.ts';
import { type Code, type Family, type Person, type Token, World } from './world.ts';

// Decisions §12: losing access to an app is a revocation. Access is given and taken away all the time, at any node, beside sign-ins,
// redemptions, refreshes and looks at any other. What was issued before an ending began is dead once it has returned, on every node.

/** How access is taken away. */
export const ENDINGS = [
  'a person is unassigned',
  'a person leaves a group',
  'a group is unassigned',
  'a group is deleted',
  'a person leaves an organization',
  'an organization is unassigned',
  'an organization is deleted',
  'a person leaves the group of an organization',
  'a person leaves the organization of a group',
  'an app is opened and closed',
] as const;
export type Ending = (typeof ENDINGS)[number];

/** What was seen. The first three must be all, or none, of what was asked. */
export interface Counts {
  endings: number;
  readonly byEnding: Map<Ending, number>;
  /** Credentials of before an ending, presented after it: none may be accepted. */
  presented: number;
  accepted: number;
  /** The same at an app that is open to everyone: all must be. It shows that an accepted one would be seen. */
  presentedElsewhere: number;
  acceptedElsewhere: number;
  /** Credentials of people with another way to the app: all must be accepted. */
  presentedByOthers: number;
  acceptedOfOthers: number;
  /** Sign-ins after access was given back: all must succeed. */
  givenBack: number;
  signedIn: number;
  /** Requests beside endings, which may go either way. */
  beside: number;
}

export interface EndingsSummary extends Counts {
  readonly seconds: number;
  /** What must not have been answered, in words. */
  readonly faults: readonly string[];
}

interface Held {
  readonly family: Family;
  readonly code: Code;
}

/** A way to an app that was given to a person. */
interface Given {
  /** Takes it away, and answers when that is acknowledged. */
  readonly take: () => Promise<void>;
}

const LANES = 6;

/** Takes access away so many times, in lanes side by side, each with an app and people of its own. */
export async function runEndings(
  cluster: Pick<Cluster, 'wires'>,
  { endings, seed, progress }: { endings: number; seed: number; progress?: (summary: EndingsSummary) => void },
): Promise<EndingsSummary> {
  const clock = strictClock();
  const began = clock();
  const faults: string[] = [];
  const counts: Counts = {
    ...{ endings: 0, presented: 0, accepted: 0, presentedElsewhere: 0, acceptedElsewhere: 0 },
    ...{ presentedByOthers: 0, acceptedOfOthers: 0, givenBack: 0, signedIn: 0, beside: 0 },
    byEnding: new Map(),
  };
  const summary = (): EndingsSummary => ({ ...counts, seconds: (clock() - began) / 1000, faults });
  let begun = 0;
  async function lane(number: number): Promise<void> {
    const random = new Random(seed + number * 7919);
    const run = new Lane(cluster.wires, clock, random, `e${seed}-${number}`, counts, faults);
    await run.begin();
    while (begun < endings && faults.length === 0) {
      // Each round ends access in one of these ways, and then once more.
      const ending = ENDINGS[(begun / 2) % ENDINGS.length] as Ending;
      begun += 2;
      await run.round(ending);
      progress?.(summary());
    }
  }
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
  return summary();
}

class Lane {
  readonly #wires: readonly Wire[];
  readonly #random: Random;
  readonly #label: string;
  readonly #counts: Counts;
  readonly #faults: string[];
  readonly #world: World;
  #made = 0;
  #app: App | undefined;
  #open: App | undefined;
  /** Loses access, and has another way to the app. */
  #victim: Person | undefined;
  #keeper: Person | undefined;
  /** Sign-ins that go on from round to round. */
  #elsewhere: Held | undefined;
  #others: Held | undefined;

  constructor(
    wires: readonly Wire[],
    clock: () => number,
    random: Random,
    label: string,
    counts: Counts,
    faults: string[],
  ) {
    this.#wires = wires;
    this.#random = random;
    this.#label = label;
    this.#counts = counts;
    this.#faults = faults;
    this.#world = new World(wires, clock, random, label);
  }

  async begin(): Promise<void> {
    [this.#app, this.#open] = [await this.#world.newApp(), await this.#world.newApp()];
    await this.#setAccess('assigned');
    [this.#victim, this.#keeper] = [await this.#world.newPerson(), await this.#world.newPerson()];
    const group = await this.#newGroup();
    await this.#join(group, this.#keeper);
    await this.#assign({ groupId: group });
    for (const person of [this.#victim, this.#keeper]) await this.#world.signIn(person);
  }

  /** Gives access, takes it away beside other requests, and gives it back; each time everything of before is presented. */
  async round(ending: Ending): Promise<void> {
    const [app, open, victim, keeper] = [this.#app, this.#open, this.#victim, this.#keeper];
    assert.ok(app && open && victim && keeper);
    const endpointSet: EndpointSet = this.#random.below(2) === 0 ? 'v2' : 'oidc';
    const given = await this.#give(ending, victim, keeper);
    const held = await this.#hold(victim, app, endpointSet);
    this.#elsewhere ??= await this.#hold(victim, open, endpointSet);
    this.#others ??= await this.#hold(keeper, app, endpointSet);
    // What is about to be refused is accepted now.
    await this.#expect(held, ending);

    const beside = this.#beside(victim, app, held, endpointSet);
    await given.take();
    this.#count(ending);
    // At once, while requests from before are perhaps under way.
    await Promise.all([this.#present(held, ending), beside]);
    await this.#presentElsewhere(this.#elsewhere);
    // That ends what the app has, for everybody.
    if (ending === 'an app is opened and closed') this.#others = undefined;
    else await this.#presentOthers(this.#others, ending);

    const back = await this.#give('a person is unassigned', victim, keeper);
    this.#counts.givenBack++;
    const again = await this.#hold(victim, app, endpointSet);
    await this.#expect(again, 'access was given back');
    this.#counts.signedIn++;
    await this.#present(held, `${ending}, and access was given back`);
    await back.take();
    this.#count('a person is unassigned');
    await this.#present(again, 'a person is unassigned');
    // What a stretch keeps is not needed any more.
    this.#world.history.length = 0;
    this.#world.families.length = 0;
    this.#world.codes.length = 0;
  }

  #count(ending: Ending): void {
    this.#counts.endings++;
    this.#counts.byEnding.set(ending, (this.#counts.byEnding.get(ending) ?? 0) + 1);
  }

  async #hold(person: Person, app: App, endpointSet: EndpointSet): Promise<Held> {
    for (let attempt = 0; attempt < 2; attempt++) {
      if (person.session === undefined) await this.#world.signIn(person);
      const first = await this.#world.authorize(person, app, endpointSet);
      if (first.code === undefined) continue;
      assert.equal(await this.#world.redeem(first.code), OK);
      const family = this.#world.families.at(-1);
      const { code } = await this.#world.authorize(person, app, endpointSet);
      assert.ok(family && code, 'a family and a code');
      return { family, code };
    }
    throw new Error(`no code for ${person.name}`);
  }

  /** Requests that meet the ending: they may go either way, and whatever they got counts as issued before. */
  async #beside(person: Person, app: App, { family, code }: Held, at: EndpointSet): Promise<void> {
    this.#counts.beside += 4;
    await Promise.all([
      this.#world.refresh(family, newest(family.refresh)),
      this.#world.look(newest(family.access), at),
      this.#random.below(2) === 0 ? this.#world.redeem(code) : undefined,
      this.#world.authorize(person, app, at),
    ]);
  }

  /** Everything of before an ending, each at any node. */
  async #present({ family, code }: Held, what: string): Promise<void> {
    const at = family.code.endpointSet;
    const asked = [
      ...family.access.map((token) => [this.#world.look(token, at), INVALID_TOKEN] as const),
      [this.#world.refresh(family, newest(family.refresh)), INVALID_GRANT] as const,
      [this.#world.redeem(code), INVALID_GRANT] as const,
    ];
    for (const [answer, expected] of asked) {
      const outcome = await answer;
      this.#counts.presented++;
      if (outcome === OK) this.#counts.accepted++;
      if (outcome !== expected) this.#faults.push(`${outcome} after ${what}`);
    }
  }

  async #presentElsewhere({ family }: Held): Promise<void> {
    this.#counts.presentedElsewhere++;
    if ((await this.#refreshAndLook(family)) === OK) this.#counts.acceptedElsewhere++;
    else this.#faults.push('refused at an app that is open to everyone');
  }

  async #presentOthers({ family }: Held, ending: Ending): Promise<void> {
    this.#counts.presentedByOthers++;
    const outcome = await this.#refreshAndLook(family);
    if (outcome === OK) this.#counts.acceptedOfOthers++;
    else this.#faults.push(`${outcome} for a person with another way to the app, after ${ending}`);
  }

  async #refreshAndLook(family: Family): Promise<string> {
    const refreshed = await this.#world.refresh(family, newest(family.refresh));
    if (refreshed !== OK) return refreshed;
    return this.#world.look(newest(family.access), family.code.endpointSet);
  }

  async #expect({ family }: Held, when: string): Promise<void> {
    const outcome = await this.#world.look(newest(family.access), family.code.endpointSet);
    if (outcome !== OK) this.#faults.push(`${outcome} before ${when}`);
  }

  /** Gives the victim the way that the ending takes away, and the keeper the same beside their other one. */
  async #give(ending: Ending, victim: Person, keeper: Person): Promise<Given> {
    switch (ending) {
      case 'a person is unassigned':
      case 'an app is opened and closed': {
        const id = await this.#assign({ userId: victim.id });
        if (ending === 'a person is unassigned') return { take: () => this.#unassign(id) };
        return {
          take: async () => {
            await this.#setAccess('everyone');
            await this.#setAccess('assigned');
            await this.#unassign(id);
          },
        };
      }
      case 'a person leaves a group':
      case 'a group is unassigned':
      case 'a group is deleted': {
        const group = await this.#newGroup();
        for (const person of [victim, keeper]) await this.#join(group, person);
        const id = await this.#assign({ groupId: group });
        if (ending === 'a group is unassigned') return { take: () => this.#unassign(id) };
        const path = ending === 'a group is deleted' ? `/groups/${group}` : `/groups/${group}/members/${victim.id}`;
        return { take: () => this.#delete(path) };
      }
      case 'a person leaves an organization':
      case 'an organization is unassigned':
      case 'an organization is deleted': {
        const organization = await this.#newOrganization(victim);
        const id = await this.#assign({ organizationId: organization });
        const path = `/organizations/${organization}`;
        const take = {
          'a person leaves an organization': () => this.#delete(`${path}/members/${victim.id}`),
          'an organization is deleted': () => this.#delete(path),
          'an organization is unassigned': async () => {
            await this.#unassign(id);
            // A person is in one organization only.
            await this.#delete(path);
          },
        };
        return { take: take[ending] };
      }
      case 'a person leaves the group of an organization':
      case 'a person leaves the organization of a group': {
        const organization = await this.#newOrganization(victim);
        const group = await this.#newGroup(organization);
        await this.#join(group, victim);
        await this.#assign({ groupId: group });
        const members = `members/${victim.id}`;
        if (ending === 'a person leaves the organization of a group') {
          return { take: () => this.#delete(`/organizations/${organization}/${members}`) };
        }
        return {
          take: async () => {
            await this.#delete(`/groups/${group}/${members}`);
            await this.#delete(`/organizations/${organization}`);
          },
        };
      }
    }
  }

  async #call(method: string, path: string, body?: unknown): Promise<Record<string, string>> {
    const wire = this.#wires[this.#world.node()];
    assert.ok(wire);
    const answer = await admin(wire, ADMIN_KEY, method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.text === '' ? {} : JSON.parse(answer.text);
  }

  async #delete(path: string): Promise<void> {
    await this.#call('DELETE', path);
  }

  async #newGroup(organizationId?: string): Promise<string> {
    const name = `${this.#label}-${++this.#made}`;
    return (
      (await this.#call('POST', '/groups', { name, ...(organizationId !== undefined && { organizationId }) }))['id'] ??
      ''
    );
  }

  async #newOrganization(member: Person): Promise<string> {
    const body = { name: `${this.#label}-${++this.#made}`, domain: 'endings.example' };
    const { id = '' } = await this.#call('POST', '/organizations', body);
    await this.#call('PUT', `/organizations/${id}/members/${member.id}`, {});
    return id;
  }

  #join = (group: string, { id }: Person) => this.#call('PUT', `/groups/${group}/members/${id}`);
  #assign = async (whom: object): Promise<string> =>
    (await this.#call('POST', `/clients/${this.#app?.id}/assignments`, whom))['id'] ?? '';
  #unassign = (id: string) => this.#delete(`/clients/${this.#app?.id}/assignments/${id}`);
  #setAccess = (access: 'everyone' | 'assigned') => this.#call('PATCH', `/clients/${this.#app?.id}`, { access });
}

const newest = (tokens: readonly Token[]): Token => {
  const token = tokens.at(-1);
  assert.ok(token);
  return token;
};

/** What a run came to, in lines. */
export function summarizeEndings(summary: EndingsSummary): string {
  const count = (number: number) => number.toLocaleString('en').padStart(10);
  const of = (part: number, all: number) => `${count(part)} of ${all.toLocaleString('en')}`;
  return [
    `${summary.endings.toLocaleString('en')} endings in ${summary.seconds.toFixed(0)} s`,
    ...[...summary.byEnding].sort().map(([ending, number]) => `${count(number)}  ${ending}`),
    `${count(summary.beside)}  requests beside endings`,
    `${of(summary.accepted, summary.presented)} accepted after the ending (none may be)`,
    `${of(summary.acceptedElsewhere, summary.presentedElsewhere)} accepted at an app that is open to everyone (all must be)`,
    `${of(summary.acceptedOfOthers, summary.presentedByOthers)} accepted of people with another way to the app (all must be)`,
    `${of(summary.signedIn, summary.givenBack)} signed in after access was given back (all must)`,
    `${count(summary.faults.length)}  faults`,
    ...summary.faults.slice(0, 10).map((fault) => `            ${fault}`),
  ].join('\n');
}
