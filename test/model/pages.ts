import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Agent, Answer as PageAnswer } from '../support/agent.ts';
import { admin, authorizeUrl } from '../support/flow.ts';
import { enroll } from '../support/second-factor.ts';
import {
  banned,
  consent,
  dropDeadSession,
  grantsNothing,
  hasRunOut,
  liveGrants,
  newCode,
  newSession,
  presence,
  REQUEST_LIFE,
  revocations,
  revoke,
  stage,
} from './model.ts';
import { type Browser, type EndpointSet, type Pending, pick, type Request, type State, type User } from './state.ts';
import { step } from './step.ts';
import { advance, CHALLENGE, OPTIONAL, type OwnFactor, otherEndpoints, REDIRECTS, type World } from './world.ts';

const SWITCH = /name="allow ([a-z.]+)"/g;
const nat = fc.nat(11);
const DAY = 86_400_000;

/** Makes sure that the service and the model agree on who is in this browser. */
function settle(state: State, world: World, browser: Browser): void {
  if (presence(state, browser) !== 'unclear') return;
  pick(world.browsers, browser.index).clearCookies();
  browser.session = undefined;
}

/** Goes on from the first factor of a sign-in: by a recovery code where the person has set up a second one. */
export async function passSecondFactor(world: World, user: User, real: Agent, first: PageAnswer): Promise<PageAnswer> {
  const person = pick(world.users, user.index);
  assert.equal(
    first.location?.pathname === '/login/verify',
    person.factor !== undefined,
    'a second factor is asked for',
  );
  if (person.factor === undefined) return first;
  assert.equal((await real.get('/account')).location?.pathname, '/login', 'the first factor alone signs nobody in');
  if (person.factor.recoveryCodes.length < 2) person.factor = await newFactor(world, user);
  const code = person.factor.recoveryCodes.shift() ?? '';
  const page = await real.get(first.location?.href ?? '');
  const answer = await real.submit(page, { code, with: 'recovery-code' }, '/login/verify');
  assert.equal(answer.status, 303, 'a recovery code');
  // The page in between says how many codes are left, and leads on.
  const used = await real.get(answer.location?.href ?? '');
  const [, next = ''] = /<a class="button primary" href="([^"]+)"/.exec(used.text) ?? [];
  return real.get(next.replaceAll('&amp;', '&'));
}

/** Sets an authenticator app up, as if that had been in an earlier session. */
export async function newFactor(world: World, user: User): Promise<OwnFactor> {
  const { seed, recoveryCodes } = await enroll(world.server, pick(world.users, user.index));
  return { seed, recoveryCodes: [...recoveryCodes] };
}

/** Proves once more who is at the browser, where the answer to a form asks for it, and sends the form again. */
export async function proved(
  world: World,
  user: User,
  real: Agent,
  send: () => Promise<PageAnswer>,
): Promise<PageAnswer> {
  const answer = await send();
  if (answer.location?.pathname !== '/account/confirm') return answer;
  const person = pick(world.users, user.index);
  assert.ok(person.factor !== undefined, 'the password was in the form');
  if (person.factor.recoveryCodes.length < 2) person.factor = await newFactor(world, user);
  const page = await real.get(`${answer.location.href}&with=recovery-code`);
  const code = person.factor.recoveryCodes.shift() ?? '';
  const confirmed = await real.submit(page, { code, with: 'recovery-code' }, '/account/confirm');
  assert.equal(confirmed.status, 303, confirmed.text);
  return send();
}

/** Signs somebody in who knows the password and has the second factor, in a browser that was never here. */
export async function signInAnew(world: World, user: User, real: Agent): Promise<boolean> {
  const { username, password } = pick(world.users, user.index);
  const first = await real.submit(await real.get('/login'), { identifier: username, password }, '/login');
  if (first.status !== 303) return false;
  await passSecondFactor(world, user, real, first);
  return (await real.get('/account')).status === 200;
}

/** Sends a sign-in form and says whether that signed the person in. */
async function submitSignIn(state: State, world: World, browser: Browser, page: PageAnswer) {
  const { username, password, factor } = pick(world.users, browser.user.index);
  const real = pick(world.browsers, browser.index);
  const first = await real.submit(page, { identifier: username, password }, '/login');
  const { user } = browser;
  const expected = !user.exists ? 401 : banned(user, state.now) || user.suspended ? 403 : 303;
  assert.equal(first.status, expected, 'sign-in');
  const answer = expected === 303 ? await passSecondFactor(world, user, real, first) : first;
  if (expected === 303) {
    // With a second factor, the account was looked at in between, and that answer took the cookie away.
    if (factor === undefined) dropDeadSession(state, browser);
    newSession(state, browser);
  }
  return { answer, signedIn: expected === 303 };
}

/** Signs in where there is no session; false where the account is banned or suspended. */
export async function enter(state: State, world: World, browser: Browser): Promise<boolean> {
  settle(state, world, browser);
  const who = presence(state, browser);
  if (typeof who === 'object') {
    who.used = who.touched = state.now;
    return true;
  }
  const real = pick(world.browsers, browser.index);
  // SE-03: the cookie of a dead session opens nothing.
  const closed = await real.get('/account');
  assert.equal(closed.location?.pathname, '/login', 'a dead session opens no page of the account');
  // The answer takes its cookie away.
  browser.session = undefined;
  return (await submitSignIn(state, world, browser, await real.get('/login'))).signedIn;
}

function takeCode(state: State, world: World, request: Request, browser: Browser, target: URL | undefined): void {
  const query = target?.searchParams;
  assert.deepEqual(
    [target && target.origin + target.pathname, query?.get('state')],
    [pick(REDIRECTS, request.redirect), 'st4te'],
  );
  const text = query?.get('code');
  assert.ok(text, `no code in ${target}`);
  world.texts.set(newCode(state, request, browser), text);
}

function checkRefusal(answer: PageAnswer, message: string): void {
  const query = answer.location?.searchParams;
  assert.deepEqual([query?.get('error'), query?.get('error_description')], ['access_denied', message]);
}

/** Walks from an authorization request to its end, or to the consent page; that page, where it came. */
async function walk(state: State, world: World, request: Request, browser: Browser): Promise<Pending | undefined> {
  settle(state, world, browser);
  const real = pick(world.browsers, browser.index);
  // A sign-in beside the cookie of a session that has run out would go on with that session's name.
  if (browser.session !== undefined && hasRunOut(browser.session, state.now)) {
    assert.equal((await real.get('/account')).location?.pathname, '/login');
    browser.session = undefined;
  }
  const client = {
    endpointSet: request.endpointSet,
    clientId: pick(world.clients, request.client.index).clientId,
    clientSecret: '',
  };
  const scope = [...request.fixed, ...request.scopes].join(' ');
  const url = authorizeUrl(
    { ...client, redirectUri: pick(REDIRECTS, request.redirect) },
    {
      scope,
      ...(request.always && { prompt: 'consent' }),
      ...(request.pkce && { code_challenge: CHALLENGE, code_challenge_method: 'S256' }),
    },
  );
  let answer = await real.get(url);
  for (let hop = 0; hop < 3; hop++) {
    const expected = stage(state, request, browser);
    switch (expected.kind) {
      case 'displayed':
        assert.deepEqual([answer.status, answer.location], [400, undefined], 'an error page');
        return undefined;
      case 'refused':
        checkRefusal(answer, expected.message);
        return undefined;
      case 'login': {
        assert.equal(answer.location?.pathname, '/login');
        const sent = await submitSignIn(state, world, browser, await real.get(answer.location.href));
        if (!sent.signedIn) return undefined;
        answer = sent.answer;
        break;
      }
      case 'no access':
        assert.equal(answer.location?.pathname, '/no-access');
        if (browser.session !== undefined) browser.session.touched = state.now;
        return undefined;
      case 'issue':
        takeCode(state, world, request, browser, answer.location);
        return undefined;
      case 'consent': {
        assert.equal(answer.location?.pathname, '/consent');
        const page = await real.get(answer.location.href);
        checkSwitches(page, expected.asked);
        const expires = state.now + REQUEST_LIFE;
        if (browser.session !== undefined) browser.session.touched = state.now;
        const taken = revocations(state, browser.user, request.client);
        const pending = { browser, request, asked: expected.asked, revocations: taken, expires };
        world.pages.set(pending, page);
        return pending;
      }
    }
  }
  throw new Error('the walk did not end');
}

function checkSwitches(page: PageAnswer, asked: readonly string[]): void {
  const shown = [...page.text.matchAll(SWITCH)].map((match) => match[1]);
  assert.deepEqual([page.status, shown.sort()], [200, [...asked].sort()], 'the consent page');
}

interface Decision {
  readonly allow: boolean;
  readonly scopes: readonly string[];
}

/** Sends a consent page's form, at once or after much has happened. */
async function decide(state: State, world: World, pending: Pending, decision: Decision): Promise<void> {
  const { browser, request, asked } = pending;
  const page = world.pages.get(pending);
  assert.ok(page !== undefined);
  world.pages.delete(pending);
  settle(state, world, browser);
  const real = pick(world.browsers, browser.index);
  const on = asked.filter((scope) => decision.scopes.includes(scope));
  const answer = await real.submit(
    page,
    { decision: decision.allow ? 'allow' : 'deny', ...Object.fromEntries(on.map((scope) => [`allow ${scope}`, 'on'])) },
    '/consent',
  );
  const now = stage(state, request, browser);
  const overtaken = revocations(state, browser.user, request.client) !== pending.revocations;
  if (state.now >= pending.expires || now.kind === 'displayed') {
    assert.deepEqual([answer.status, answer.location], [400, undefined], 'a page that is no longer good');
  } else if (now.kind === 'refused') {
    checkRefusal(answer, now.message);
  } else if (now.kind === 'login') {
    assert.equal(answer.location?.pathname, '/login');
  } else if (now.kind === 'no access') {
    assert.equal(answer.location?.pathname, '/no-access');
    if (browser.session !== undefined) browser.session.touched = state.now;
  } else if (!decision.allow) {
    // A refusal is one, whatever another tab has been told meanwhile.
    checkRefusal(answer, 'User denied the request');
    if (browser.session !== undefined) browser.session.touched = state.now;
  } else if (now.kind === 'issue' && overtaken) {
    // What has been allowed since the revocation answers the request; the form adds nothing to it.
    takeCode(state, world, request, browser, answer.location);
  } else if (now.kind === 'consent' && (overtaken || now.asked.join() !== asked.join())) {
    assert.equal(answer.status, 409, 'a question that has changed');
    checkSwitches({ ...answer, status: 200 }, now.asked);
    if (browser.session !== undefined) browser.session.touched = state.now;
  } else {
    // Where another tab has answered everything, this answer is the later one.
    consent(state, browser.user, request, asked, new Set(on));
    if (grantsNothing(state, request, browser.user)) {
      checkRefusal(answer, 'User denied the request');
      if (browser.session !== undefined) browser.session.used = browser.session.touched = state.now;
      return;
    }
    takeCode(state, world, request, browser, answer.location);
  }
}

export const request = fc.record({
  browser: nat,
  client: nat,
  endpointSet: fc.constantFrom<EndpointSet>('v2', 'oidc'),
  scopes: fc.subarray([...OPTIONAL]),
  // The OIDC endpoints alone has a switch for it.
  profile: fc.boolean(),
  fixed: fc.constantFrom(['openid'], ['openid', 'offline_access'], ['offline_access'], []),
  always: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  redirect: nat,
  pkce: fc.boolean(),
});
/** The open pages of people whose app has access. */
const overGrants = (state: Readonly<State>): Pending[] =>
  state.pending.filter(({ browser, request }) => liveGrants(state, browser.user, request.client).length > 0);

/** What gives something that a decision can take away, now or once it is redeemed. */
const granted = ({ codes, families }: Readonly<State>) =>
  [...codes.filter(({ family }) => family === undefined), ...families].filter(({ scopes }) => scopes.length > 0);

export const decision = fc.record({
  allow: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  scopes: fc.subarray(['profile', ...OPTIONAL]),
});

type RequestArgument = Omit<Request, 'client' | 'clientGeneration'> & { client: number; profile: boolean };

function asked(state: State, argument: RequestArgument): Request {
  const client = pick(state.clients, argument.client);
  const { endpointSet, always, redirect, pkce } = argument;
  const scopes = [...(argument.profile && endpointSet === 'oidc' ? ['profile'] : []), ...argument.scopes];
  // A request without scopes is for openid.
  const fixed = scopes.length + argument.fixed.length === 0 ? ['openid'] : argument.fixed;
  return { endpointSet, client, clientGeneration: client.generation, scopes, fixed, always, redirect, pkce };
}

export const pageSteps = {
  /** A browser in which something happens every few days is never idle: decisions §7. */
  comeBack: step({
    weight: 0.3,
    argument: fc.record({ request, decision, days: fc.integer({ min: 1, max: 13 }) }),
    async act(state, world, { request: wanted, decision: { scopes }, days }) {
      const browser = pick(state.browsers, wanted.browser);
      for (let visit = 0; visit < 4; visit++) {
        const pending = await walk(state, world, asked(state, wanted), browser);
        if (pending !== undefined) await decide(state, world, pending, { allow: true, scopes });
        if (visit < 3) advance(state, world, days * DAY);
      }
    },
  }),
  authorize: step({
    weight: 9,
    argument: fc.record({ request, decision }),
    async act(state, world, argument) {
      const browser = pick(state.browsers, argument.request.browser);
      const pending = await walk(state, world, asked(state, argument.request), browser);
      if (pending !== undefined) await decide(state, world, pending, argument.decision);
    },
  }),
  /** RT-07: another decision about what a code or a family was granted. */
  changeMind: step({
    weight: 3,
    argument: fc.record({ which: nat, browser: nat, decision }),
    applies: (state) => granted(state).length > 0,
    async act(state, world, { which, browser: at, decision }) {
      const { endpointSet, user, client, scopes, fixed } = pick(granted(state), which);
      const browsers = state.browsers.filter((browser) => browser.user === user);
      const terms = { endpointSet, client, clientGeneration: client.generation, scopes, fixed };
      const request = { ...terms, always: true, redirect: 0, pkce: false };
      const pending = await walk(state, world, request, pick(browsers, at));
      if (pending !== undefined) await decide(state, world, pending, decision);
    },
  }),
  /** Decisions §10: an app that has access at one set of endpoints asks on the other. */
  askAtTheOtherEndpoints: step({
    weight: 4,
    argument: fc.record({ which: nat, browser: nat, decision, profile: fc.boolean() }),
    applies: ({ grants }) => grants.some(({ revoked }) => !revoked),
    async act(state, world, { which, browser: at, decision, profile }) {
      const live = state.grants.filter(({ revoked }) => !revoked);
      const { user, client, endpointSet, scopes, declined } = pick(live, which);
      const browsers = state.browsers.filter((browser) => browser.user === user);
      const request = asked(state, {
        ...{ browser: 0, client: client.index, endpointSet: otherEndpoints(endpointSet), profile },
        ...{ scopes: OPTIONAL.filter((scope) => scopes.has(scope) || declined.has(scope)), fixed: ['openid'] },
        ...{ always: false, redirect: 0, pkce: false },
      });
      const pending = await walk(state, world, request, pick(browsers, at));
      if (pending !== undefined) await decide(state, world, pending, decision);
    },
  }),
  openConsentPage: step({
    weight: 2,
    argument: request,
    async act(state, world, argument) {
      const browser = pick(state.browsers, argument.browser);
      const pending = await walk(state, world, asked(state, argument), browser);
      if (pending !== undefined) state.pending.push(pending);
    },
  }),
  /** CN-06: access is taken away under an open page. */
  answerAfterRevocation: step({
    weight: 3,
    argument: fc.record({ which: nat, decision }),
    applies: (state) => overGrants(state).length > 0,
    async act(state, world, { which, decision }) {
      const pending = pick(overGrants(state), which);
      const { user } = pending.browser;
      const { client } = pending.request;
      const path = `/users/${pick(world.users, user.index).id}/connections/${pick(world.clients, client.index).clientId}`;
      assert.equal((await admin(world.server, 'DELETE', path)).status, user.exists ? 204 : 404);
      revoke(state, user, client);
      state.pending.splice(state.pending.indexOf(pending), 1);
      await decide(state, world, pending, decision);
    },
  }),
  answerConsentPage: step({
    weight: 2,
    argument: fc.record({ which: nat, decision }),
    applies: ({ pending }) => pending.length > 0,
    async act(state, world, { which, decision }) {
      const pending = pick(state.pending, which);
      state.pending.splice(state.pending.indexOf(pending), 1);
      await decide(state, world, pending, decision);
    },
  }),
};
