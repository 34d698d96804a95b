import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  PASSWORD,
  redeem,
  refresh,
  type TestClient,
  type TestUser,
  walk,
} from '../support/flow.ts';
import type { TestServer } from '../support/server.ts';
import type { TestUpstream } from '../upstreams/people.ts';

/*
 * What the model knows of other providers, and of what ends there (decisions §14). It shares no code with the service. Subjects have the
 * numbers of the people whose they are, until somebody connects another one's.
 */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** For how long a browser may be away. */
const AWAY = 15 * MINUTE;
/** For how long a sign-in with the password is a fresh proof, with something to spare. */
const FRESH = 9 * MINUTE;

interface Person {
  readonly index: number;
  generation: number;
  banned: boolean;
}

interface Identity {
  readonly subject: number;
  readonly person: Person;
  /** The last time that the provider ended all sessions of it, in whole seconds as its tokens have them. */
  endedAt: number;
}

interface Provider {
  readonly index: number;
  enabled: boolean;
  generation: number;
  readonly identities: Identity[];
  readonly endedSids: Set<string>;
  /** When all sessions of a subject ended that was not connected. */
  readonly endedSubjects: Map<number, number>;
}

interface Session {
  readonly person: Person;
  generation: number;
  readonly began: number;
  /** Undefined where it began with the password. */
  readonly through: { readonly provider: Provider; readonly identity: Identity; readonly sid: string } | undefined;
}

interface Browser {
  readonly index: number;
  session: Session | undefined;
  /** It was sent to a provider, and has not come back. */
  away:
    | {
        readonly provider: Provider;
        readonly generation: number;
        readonly subject: number;
        readonly sid: string;
        readonly at: number;
      }
    | undefined;
}

interface Family {
  readonly session: Session;
  readonly generation: number;
  readonly isOffline: boolean;
  dead: boolean;
}

export interface State {
  now: number;
  next: number;
  readonly people: Person[];
  readonly providers: Provider[];
  readonly browsers: Browser[];
  readonly families: Family[];
}

export interface World {
  readonly server: TestServer;
  readonly client: TestClient;
  readonly people: readonly TestUser[];
  readonly upstreams: readonly TestUpstream[];
  readonly agents: Agent[];
  /** Where a browser that is away comes back. */
  readonly callbacks: Map<Browser, string>;
  /** The latest refresh token of each family. */
  readonly tokens: Map<Family, string>;
}

export const newState = (now: number, counts: { people: number; providers: number; browsers: number }): State => ({
  ...{ now, next: 1, families: [] },
  people: Array.from({ length: counts.people }, (_, index) => ({ index, generation: 0, banned: false })),
  providers: Array.from({ length: counts.providers }, (_, index) => ({
    ...{ index, enabled: true, generation: 0, identities: [] },
    ...{ endedSids: new Set<string>(), endedSubjects: new Map<number, number>() },
  })),
  browsers: Array.from({ length: counts.browsers }, (_, index) => ({ index, session: undefined, away: undefined })),
});

function pick<T>(list: readonly T[], index: number): T {
  const found = list[index % list.length];
  assert.ok(found !== undefined, 'picked from an empty list');
  return found;
}

const wholeSecond = (now: number): number => Math.floor(now / SECOND) * SECOND;

const isAlive = ({ person, generation }: Session): boolean => !person.banned && generation === person.generation;
const sessionOf = ({ session }: Browser): Session | undefined =>
  session !== undefined && isAlive(session) ? session : undefined;
const lives = ({ session: { person }, generation, dead }: Family): boolean =>
  !dead && !person.banned && generation === person.generation;
const identityOf = ({ identities }: Provider, subject: number): Identity | undefined =>
  identities.find((one) => one.subject === subject);

/** Ends sessions with what is bound to them; with `all`, also what outlives a session. */
function end(state: State, isEnded: (session: Session) => boolean, all: boolean): void {
  for (const browser of state.browsers) {
    if (browser.session !== undefined && isEnded(browser.session)) browser.session = undefined;
  }
  for (const family of state.families) {
    if (isEnded(family.session) && (all || !family.isOffline)) family.dead = true;
  }
}

/** Whether a provider vouches for a person who comes back from it now. */
function vouches(
  state: State,
  { provider, generation, subject, sid, at }: NonNullable<Browser['away']>,
): Identity | undefined {
  if (!provider.enabled || provider.generation !== generation || state.now - at >= AWAY) return undefined;
  const identity = identityOf(provider, subject);
  if (identity === undefined || identity.person.banned || provider.endedSids.has(sid)) return undefined;
  const endedAt = Math.max(identity.endedAt, provider.endedSubjects.get(subject) ?? 0);
  return wholeSecond(state.now) <= endedAt ? undefined : identity;
}

/** A browser that was never here. */
function begin(world: World, browser: Browser): Agent {
  const { server, agents } = world;
  browser.session = undefined;
  browser.away = undefined;
  const fresh = agent(server.baseUrl, server.nodeInTurn);
  agents[browser.index] = fresh;
  return fresh;
}

export interface Definition<A> {
  readonly weight: number;
  readonly argument: fc.Arbitrary<A>;
  applies?(state: Readonly<State>, argument: A): boolean;
  act(state: State, world: World, argument: A): Promise<void>;
}
const step = <A>(definition: Definition<A>): Definition<A> => definition;
const nat = fc.nat(11);
const LOGOUT = 'backchannel-logout';

/** Sends a logout token of a provider. */
async function tell(world: World, provider: Provider, about: Readonly<Record<string, unknown>>): Promise<void> {
  const { provider: real, name } = pick(world.upstreams, provider.index);
  const body = new URLSearchParams({ logout_token: await real.sign(real.logoutClaims(about)) });
  const answer = await fetch(`${world.server.baseUrl}/upstreams/${name}/${LOGOUT}`, { method: 'POST', body });
  assert.equal(answer.status, 200, await answer.text());
}

const isFresh = (state: Readonly<State>, browser: Browser): boolean => {
  const session = sessionOf(browser);
  return session !== undefined && session.through === undefined && state.now - session.began < FRESH;
};

/** Sends a browser to a provider. */
async function leave(state: State, world: World, browser: Browser, provider: Provider, subject: number, sid: string) {
  const { name, provider: real } = pick(world.upstreams, provider.index);
  const left = await begin(world, browser).get(`/login/with/${name}`);
  assert.equal(left.status, provider.enabled ? 302 : 404, 'a provider that is disabled is not offered');
  if (left.location === undefined) return;
  real.person = { sub: `subject-${subject}`, sid };
  world.callbacks.set(browser, real.authorize(left.location.href).href);
  browser.away = { provider, generation: provider.generation, subject, sid, at: state.now };
}

/** Lets a browser come back. */
async function comeBack(state: State, world: World, browser: Browser): Promise<void> {
  const { away } = browser;
  assert.ok(away !== undefined);
  const answer = await pick(world.agents, browser.index).get(world.callbacks.get(browser) ?? '');
  const identity = vouches(state, away);
  browser.away = undefined;
  assert.equal(answer.location?.pathname === '/account', identity !== undefined, `${answer.status} ${answer.location}`);
  if (identity === undefined) return;
  const { person } = identity;
  const through = { provider: away.provider, identity, sid: away.sid };
  browser.session = { person, generation: person.generation, began: state.now, through };
}

const some = fc.record({ browser: nat, provider: nat, subject: nat, sameSid: fc.boolean() });
/** A new session at the provider, or one of an earlier sign-in there. */
function sidFor(state: State, { provider, sameSid }: { provider: number; sameSid: boolean }): string {
  const known = state.browsers.find(
    ({ session }) => session?.through?.provider.index === provider % state.providers.length,
  );
  return sameSid && known?.session?.through !== undefined ? known.session.through.sid : `sid-${state.next++}`;
}

export const steps = {
  signIn: step({
    weight: 2,
    argument: fc.record({ browser: nat, person: nat }),
    async act(state, world, argument) {
      const browser = pick(state.browsers, argument.browser);
      const person = pick(state.people, argument.person);
      const real = begin(world, browser);
      const { username } = pick(world.people, person.index);
      const form = { identifier: username, password: PASSWORD };
      const answer = await real.submit(await real.get('/login'), form, '/login');
      assert.equal(answer.status, person.banned ? 403 : 303);
      if (!person.banned)
        browser.session = { person, generation: person.generation, began: state.now, through: undefined };
    },
  }),
  signInThrough: step({
    weight: 12,
    argument: some,
    async act(state, world, argument) {
      const browser = pick(state.browsers, argument.browser);
      const sid = sidFor(state, argument);
      const subject = argument.subject % state.people.length;
      await leave(state, world, browser, pick(state.providers, argument.provider), subject, sid);
      if (browser.away !== undefined) await comeBack(state, world, browser);
    },
  }),
  leave: step({
    weight: 3,
    argument: some,
    async act(state, world, argument) {
      const subject = argument.subject % state.people.length;
      const browser = pick(state.browsers, argument.browser);
      await leave(state, world, browser, pick(state.providers, argument.provider), subject, sidFor(state, argument));
    },
  }),
  comeBack: step({
    weight: 5,
    argument: nat,
    applies: (state, which) => pick(state.browsers, which).away !== undefined,
    act: (state, world, which) => comeBack(state, world, pick(state.browsers, which)),
  }),
  connect: step({
    weight: 3,
    argument: some,
    applies: (state, { browser, provider }) =>
      isFresh(state, pick(state.browsers, browser)) && pick(state.providers, provider).enabled,
    async act(state, world, argument) {
      const browser = pick(state.browsers, argument.browser);
      const provider = pick(state.providers, argument.provider);
      const session = sessionOf(browser);
      assert.ok(session !== undefined);
      const subject = argument.subject % state.people.length;
      const { name, provider: real } = pick(world.upstreams, provider.index);
      const at = pick(world.agents, browser.index);
      const left = await at.get(`/account/security/connect/${name}`);
      real.person = { sub: `subject-${subject}` };
      const back = await at.get(real.authorize(left.location?.href ?? '').href);
      const path = back.location?.pathname ?? '';
      const done = await at.submit(await at.get(path), {}, path);
      const isEnded = wholeSecond(state.now) <= (provider.endedSubjects.get(subject) ?? 0);
      const isFree = identityOf(provider, subject) === undefined && !isEnded;
      assert.equal(done.status, isFree ? 200 : 409, done.text.slice(0, 500));
      if (isFree) provider.identities.push({ subject, person: session.person, endedAt: 0 });
    },
  }),
  /** All sessions and tokens of the account end, apart from this browser. */
  disconnect: step({
    weight: 2,
    argument: fc.record({ browser: nat, provider: nat }),
    applies: (state, { browser, provider }) => {
      const session = sessionOf(pick(state.browsers, browser));
      const { identities } = pick(state.providers, provider);
      return (
        isFresh(state, pick(state.browsers, browser)) && identities.some(({ person }) => person === session?.person)
      );
    },
    async act(state, world, argument) {
      const browser = pick(state.browsers, argument.browser);
      const provider = pick(state.providers, argument.provider);
      const session = sessionOf(browser);
      assert.ok(session !== undefined);
      const at = pick(world.agents, browser.index);
      const identity = provider.identities.find(({ person }) => person === session.person);
      assert.ok(identity !== undefined);
      const page = await at.get('/account/security');
      const done = await at.submit(
        page,
        { id: idOnPage(page, world, state, identity) },
        '/account/security/disconnect',
      );
      assert.equal(done.status, 200, done.text.slice(0, 500));
      provider.identities.splice(provider.identities.indexOf(identity), 1);
      session.person.generation = state.next++;
      session.generation = session.person.generation;
    },
  }),
  endAtProvider: step({
    weight: 6,
    argument: fc.record({ browser: nat, withSubject: fc.boolean() }),
    applies: (state, { browser }) => pick(state.browsers, browser).session?.through !== undefined,
    async act(state, world, { browser: which, withSubject }) {
      const through = pick(state.browsers, which).session?.through;
      assert.ok(through !== undefined);
      const { provider, sid, identity } = through;
      await tell(world, provider, { sid, ...(withSubject && { sub: `subject-${identity.subject}` }) });
      provider.endedSids.add(sid);
      const known = withSubject ? identityOf(provider, identity.subject) : undefined;
      const isEnded = ({ through: of, person }: Session): boolean =>
        of?.provider === provider && of.sid === sid && (known === undefined || person === known.person);
      end(state, isEnded, false);
    },
  }),
  endAllAtProvider: step({
    weight: 2,
    argument: fc.record({ provider: nat, subject: nat }),
    async act(state, world, argument) {
      const provider = pick(state.providers, argument.provider);
      const subject = argument.subject % state.people.length;
      await tell(world, provider, { sub: `subject-${subject}` });
      const identity = identityOf(provider, subject);
      const at = wholeSecond(state.now);
      if (identity === undefined) provider.endedSubjects.set(subject, at);
      else identity.endedAt = at;
      end(state, ({ through }) => identity !== undefined && through?.identity === identity, false);
    },
  }),
  disable: step({
    weight: 4,
    argument: fc.record({ provider: nat, endSessions: fc.boolean() }),
    async act(state, world, { provider: which, endSessions }) {
      const provider = pick(state.providers, which);
      const { id } = pick(world.upstreams, provider.index);
      const { status } = await admin(world.server, 'POST', `/upstreams/${id}/disable`, { endSessions });
      assert.equal(status, 200);
      if (provider.enabled) provider.generation = state.next++;
      provider.enabled = false;
      if (endSessions) end(state, ({ through }) => through?.provider === provider, true);
    },
  }),
  enable: step({
    weight: 10,
    argument: nat,
    applies: (state, which) => !pick(state.providers, which).enabled,
    async act(state, world, which) {
      const provider = pick(state.providers, which);
      const { id } = pick(world.upstreams, provider.index);
      assert.equal((await admin(world.server, 'POST', `/upstreams/${id}/enable`, {})).status, 200);
      provider.enabled = true;
    },
  }),
  getTokens: step({
    weight: 12,
    argument: fc.record({ browser: nat, isOffline: fc.boolean() }),
    applies: (state, { browser }) => sessionOf(pick(state.browsers, browser)) !== undefined,
    async act(state, world, { browser: which, isOffline }) {
      const browser = pick(state.browsers, which);
      const session = sessionOf(browser);
      assert.ok(session !== undefined);
      const scope = isOffline ? 'openid offline_access' : 'openid';
      const { server, client } = world;
      const target = await walk(pick(world.agents, browser.index), authorizeUrl(client, { scope, prompt: 'consent' }));
      const { body } = await redeem(server, client, target.searchParams.get('code') ?? '');
      const family = { session, generation: session.generation, isOffline, dead: false };
      state.families.push(family);
      world.tokens.set(family, body.refresh_token);
    },
  }),
  signOut: step({
    weight: 1,
    argument: nat,
    applies: (state, which) => sessionOf(pick(state.browsers, which)) !== undefined,
    async act(state, world, which) {
      const browser = pick(state.browsers, which);
      const { session } = browser;
      const at = pick(world.agents, browser.index);
      assert.equal((await at.submit(await at.get('/account'), {}, '/logout')).status, 303);
      end(state, (one) => one === session, false);
    },
  }),
  ban: step({
    weight: 0.5,
    argument: nat,
    async act(state, world, which) {
      const person = pick(state.people, which);
      const { id } = pick(world.people, person.index);
      assert.equal((await admin(world.server, 'PUT', `/users/${id}/ban`, {})).status, 200);
      person.banned = true;
      person.generation = state.next++;
    },
  }),
  unban: step({
    weight: 4,
    argument: nat,
    applies: (state, which) => pick(state.people, which).banned,
    async act(state, world, which) {
      const person = pick(state.people, which);
      const { id } = pick(world.people, person.index);
      assert.equal((await admin(world.server, 'DELETE', `/users/${id}/ban`)).status, 200);
      person.banned = false;
    },
  }),
  wait: step({
    weight: 3,
    argument: fc.constantFrom(1, SECOND, MINUTE, AWAY - 1, AWAY),
    async act(state, world, milliseconds) {
      world.server.advance(milliseconds);
      state.now += milliseconds;
    },
  }),
};

/** What every run begins with: both people are connected at one provider, and one of them at the other one. */
export async function connectAll(state: State, world: World): Promise<void> {
  for (const [person, providers] of [[0, 1], [0]].entries()) {
    await steps.signIn.act(state, world, { browser: person, person });
    for (const provider of providers) {
      await steps.connect.act(state, world, { browser: person, provider, subject: person, sameSid: false });
    }
  }
}

/** The id of an identity on the page: its account has them in the order in which they were connected. */
function idOnPage(page: Answer, world: World, state: State, identity: Identity): string {
  const name = (provider: Provider) => pick(world.upstreams, provider.index).name;
  const of = state.providers.find(({ identities }) => identities.includes(identity));
  assert.ok(of !== undefined);
  const ids = [...page.text.matchAll(/<article class="app session" aria-labelledby="([^"]+)"><h3[^>]*>(.*?)<\/h3>/g)];
  const own = of.identities.filter(({ person }) => person === identity.person);
  const there = ids.filter(([, , title]) => title?.includes(`Provider ${name(of).replace('provider-', '')}<`));
  return there[own.indexOf(identity)]?.[1] ?? '';
}

/** After every step: each browser and each token is as the model says. */
export async function observe(state: State, world: World): Promise<void> {
  for (const browser of state.browsers) {
    // A browser that is away keeps its cookies as they are.
    if (browser.away !== undefined) continue;
    const { status } = await pick(world.agents, browser.index).get('/account');
    assert.equal(status === 200, sessionOf(browser) !== undefined, `browser ${browser.index}`);
  }
  for (const [index, family] of state.families.entries()) {
    const { status, body } = await refresh(world.server, world.client, world.tokens.get(family) ?? '');
    assert.equal(status === 200, lives(family), `the tokens of sign-in ${index}`);
    if (status === 200) world.tokens.set(family, body.refresh_token);
  }
}
