import assert from 'node:assert/strict';
import fc from 'fast-check';
import { admin, revokeOnPage } from '../support/flow.ts';
import { banned, disable, liveGrants, losePaths, revoke, rotateSecret, secure, signOut } from './model.ts';
import { enter, proved } from './pages.ts';
import { pick, type State, type User } from './state.ts';
import { step } from './step.ts';
import type { World } from './world.ts';

const nat = fc.nat(11);
const SECOND = 1000;
const DAY = 86_400 * SECOND;

/** An operator's change to a user: 404 where there is none. */
async function change(world: World, user: User, method: string, path: string, body?: unknown): Promise<void> {
  const answer = await admin(world.server, method, `/users/${pick(world.users, user.index).id}${path}`, body);
  assert.equal(answer.status, user.exists ? 200 : 404, JSON.stringify(answer.body));
}

interface Connection {
  readonly clientId: string;
  readonly scopes: string[];
  readonly declinedScopes: string[];
}

const FIXED = ['openid', 'offline_access'];

const BANS = [Number.POSITIVE_INFINITY, 1, SECOND, 60 * SECOND, 1800 * SECOND, DAY];

export const accountSteps = {
  ban: step({
    weight: 2,
    argument: fc.record({ user: nat, length: fc.constantFrom(...BANS) }),
    async act(state, world, argument) {
      const user = pick(state.users, argument.user);
      const until = state.now + argument.length;
      const end = Number.isFinite(until) ? { until: new Date(until).toISOString() } : {};
      await change(world, user, 'PUT', '/ban', end);
      user.bannedUntil = until;
      secure(state, user);
    },
  }),
  unban: step({
    weight: 3,
    argument: nat,
    applies: (state, which) => banned(pick(state.users, which), state.now),
    async act(state, world, which) {
      const user = pick(state.users, which);
      await change(world, user, 'DELETE', '/ban');
      user.bannedUntil = 0;
    },
  }),
  suspend: step({
    weight: 2,
    argument: nat,
    async act(state, world, which) {
      const user = pick(state.users, which);
      await change(world, user, 'PUT', '/suspension', {});
      user.suspended = true;
      secure(state, user);
    },
  }),
  reinstate: step({
    weight: 4,
    argument: nat,
    applies: (state, which) => pick(state.users, which).suspended,
    async act(state, world, which) {
      const user = pick(state.users, which);
      await change(world, user, 'DELETE', '/suspension');
      user.suspended = false;
    },
  }),
  changePassword: step({
    weight: 1,
    argument: fc.record({ browser: nat, byOperator: fc.boolean() }),
    async act(state, world, argument) {
      const browser = pick(state.browsers, argument.browser);
      const { user } = browser;
      const real = pick(world.users, user.index);
      const password = `another password, number ${state.nextGeneration}`;
      if (argument.byOperator) {
        await change(world, user, 'PATCH', '', { password });
        secure(state, user);
      } else {
        if (!(await enter(state, world, browser))) return;
        const agent = pick(world.browsers, browser.index);
        const answer = await proved(world, user, agent, async () =>
          agent.submit(await agent.get('/account/security'), { current: real.password, password }, '/account/password'),
        );
        assert.equal(answer.status, 200);
        secure(state, user);
        // The user stays signed in, but only in the browser that changed it.
        browser.session = { generation: user.generation, began: state.now, used: state.now, touched: state.now };
      }
      real.password = password;
    },
  }),
  signOutEverywhere: step({
    weight: 1,
    argument: nat,
    async act(state, world, which) {
      const browser = pick(state.browsers, which);
      if (!(await enter(state, world, browser))) return;
      const agent = pick(world.browsers, browser.index);
      const answer = await agent.submit(await agent.get('/account/security'), {}, '/account/sign-out-everywhere');
      assert.equal(answer.status, 200);
      secure(state, browser.user);
      browser.session = undefined;
    },
  }),
  signOut: step({
    weight: 3,
    argument: nat,
    applies: (state, which) => pick(state.browsers, which).session !== undefined,
    async act(state, world, which) {
      const browser = pick(state.browsers, which);
      if (!(await enter(state, world, browser))) return;
      const agent = pick(world.browsers, browser.index);
      assert.equal((await agent.submit(await agent.get('/account/security'), {}, '/logout')).status, 303);
      signOut(state, browser);
    },
  }),
  deleteAccount: step({
    weight: 0.3,
    argument: fc.constant(1),
    applies: (state, which) => pick(state.users, which).exists && state.refresh.length > 2,
    async act(state, world, which) {
      const user = pick(state.users, which);
      const answer = await admin(world.server, 'DELETE', `/users/${pick(world.users, user.index).id}`);
      assert.equal(answer.status, 204);
      user.exists = false;
      losePaths(state, {
        memberships: state.memberships.filter((membership) => membership.user === user),
        assignments: state.assignments.filter(({ to }) => to === user),
      });
    },
  }),
};

export const clientSteps = {
  revoke: step({
    weight: 3,
    argument: fc.record({ browser: nat, client: nat, byOperator: fc.boolean() }),
    applies: (state, { browser, client }) =>
      liveGrants(state, pick(state.browsers, browser).user, pick(state.clients, client)).length > 0,
    async act(state, world, argument) {
      const browser = pick(state.browsers, argument.browser);
      const { user } = browser;
      const client = pick(state.clients, argument.client);
      const { clientId } = pick(world.clients, client.index);
      if (argument.byOperator) {
        const path = `/users/${pick(world.users, user.index).id}/connections/${clientId}`;
        assert.equal((await admin(world.server, 'DELETE', path)).status, user.exists ? 204 : 404);
      } else {
        if (!(await enter(state, world, browser))) return;
        const page = await revokeOnPage(pick(world.browsers, browser.index), {
          clientId,
          clientSecret: '',
          redirectUri: '',
        });
        assert.equal(page.status, 200);
      }
      revoke(state, user, client);
    },
  }),
  /** CN-05: the list of connected apps is the list of the grants that live, with what each of them allows. */
  listConnections: step({
    weight: 1,
    argument: nat,
    applies: (state, which) => pick(state.users, which).exists,
    async act(state, world, which) {
      const user = pick(state.users, which);
      const { status, body } = await admin(
        world.server,
        'GET',
        `/users/${pick(world.users, user.index).id}/connections`,
      );
      assert.equal(status, 200);
      const shown = body.items.map(({ clientId, scopes, declinedScopes }: Connection) => [
        clientId,
        ...[scopes, declinedScopes].map((list) => list.filter((scope) => !FIXED.includes(scope)).sort()),
      ]);
      const expected = state.clients.flatMap((client) => {
        const grants = liveGrants(state, user, client);
        if (grants.length === 0) return [];
        // An app is listed once, with what it may see at either sets of endpoints.
        const allowed = grants.reduce((all, { scopes }) => all.union(scopes), new Set<string>());
        const declined = grants
          .reduce((all, grant) => all.union(grant.declined), new Set<string>())
          .difference(allowed);
        return [[pick(world.clients, client.index).clientId, [...allowed].sort(), [...declined].sort()]];
      });
      assert.deepEqual(shown.sort(), expected.sort(), 'the connected apps');
    },
  }),
  disableClient: step({
    weight: 2,
    argument: nat,
    applies: (state, which) => pick(state.clients, which).enabled,
    async act(state, world, which) {
      await setStatus(state, world, which, 'disabled');
      disable(state, pick(state.clients, which));
    },
  }),
  enableClient: step({
    weight: 4,
    argument: nat,
    applies: (state, which) => !pick(state.clients, which).enabled,
    async act(state, world, which) {
      await setStatus(state, world, which, 'active');
      pick(state.clients, which).enabled = true;
    },
  }),
  /** Enabling a client again revives nothing, however soon it comes. */
  disableAndEnableClient: step({
    weight: 1,
    argument: nat,
    applies: (state, which) => pick(state.clients, which).enabled,
    async act(state, world, which) {
      const client = pick(state.clients, which);
      await setStatus(state, world, which, 'disabled');
      disable(state, client);
      await setStatus(state, world, which, 'active');
      client.enabled = true;
    },
  }),
  rotateSecret: step({
    weight: 1,
    argument: fc.record({ client: nat, seconds: fc.constantFrom(undefined, 0, 1, 60) }),
    async act(state, world, { client: which, seconds }) {
      const client = pick(state.clients, which);
      const real = pick(world.clients, which);
      const body = seconds === undefined ? {} : { expirePreviousIn: seconds };
      const answer = await admin(world.server, 'POST', `/clients/${real.clientId}/secrets`, body);
      assert.equal(answer.status, 201);
      real.secrets.push(answer.body.clientSecret);
      rotateSecret(state, client, seconds === undefined ? DAY : seconds * SECOND);
    },
  }),
};

async function setStatus(state: State, world: World, which: number, status: 'active' | 'disabled'): Promise<void> {
  const { clientId } = pick(world.clients, pick(state.clients, which).index);
  assert.equal((await admin(world.server, 'PATCH', `/clients/${clientId}`, { status })).status, 200);
}
