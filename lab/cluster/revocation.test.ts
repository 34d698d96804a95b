// store: PostgreSQL
/** Decisions §5: what one process has acknowledged, every other keeps from the next request on. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { WHOLE } from '../../test/support/whole.ts';
import { type Cluster, type ClusterKind, startCluster } from './cluster.ts';
import {
  BANNED,
  CONSENT,
  DISPLAYED,
  INVALID_CLIENT,
  INVALID_GRANT,
  INVALID_TOKEN,
  LOGIN,
  MESSAGES,
  SUSPENDED,
} from './expected.ts';
import { type EndpointSet, OK } from './history.ts';
import { begin, newest, nodeOf, type Outcomes, presentAll, type Situation } from './situation.ts';
import { postJson, type Wire } from './wire.ts';
import type { World } from './world.ts';

/** The same answer to all. */
const all = (outcome: string): Outcomes => ({
  ...{ userInfo: outcome, refresh: outcome, redeem: outcome },
  authorize: outcome,
});
const SIGNED_OUT: Outcomes = {
  ...{ userInfo: INVALID_TOKEN, refresh: INVALID_GRANT, redeem: INVALID_GRANT },
  authorize: LOGIN,
};
const FAMILY_DEAD: Outcomes = { userInfo: INVALID_TOKEN, refresh: INVALID_GRANT, redeem: OK, authorize: OK };

const REVOKED = `403 ${MESSAGES.revoked}`;

interface Event {
  /** Answers anything but undefined where it has been acknowledged. */
  happen(at: World, situation: Situation, wire: Wire): Promise<unknown>;
  readonly after: Outcomes;
  /** What ends it, and what all of it answers then. */
  readonly lift?: (at: World, situation: Situation) => Promise<unknown>;
  readonly lifted?: Outcomes;
}

const EVENTS: Readonly<Record<string, Event>> = {
  'a consent revoked by the person': {
    happen: (at, { person, app }) => at.revoke(person, app, person.session),
    after: { ...all(REVOKED), authorize: CONSENT },
    // A new consent makes a new grant: the old one stays what it is.
    lift: async (at, { person, app, code }) => (await at.authorize(person, app, code.endpointSet)).code,
    lifted: { ...all(REVOKED), authorize: OK },
  },
  'a consent revoked by an operator': {
    happen: (at, { person, app }) => at.revoke(person, app),
    after: { ...all(REVOKED), authorize: CONSENT },
  },
  'a ban': {
    happen: (at, { person }) => at.ban(person),
    after: all(BANNED),
    lift: (at, { person }) => at.unban(person),
    lifted: SIGNED_OUT,
  },
  'a suspension': {
    happen: (at, { person }) => at.suspend(person),
    after: all(SUSPENDED),
    lift: (at, { person }) => at.reinstate(person),
    lifted: SIGNED_OUT,
  },
  'a new password': { happen: (at, { person }) => at.newPassword(person), after: SIGNED_OUT },
  'signing out everywhere': {
    async happen(at, { person }) {
      assert.ok(person.session);
      return at.signOutEverywhere(person, person.session);
    },
    after: SIGNED_OUT,
  },
  'a client disabled': {
    happen: (at, { app }) => at.setStatus(app, 'disabled'),
    after: { userInfo: INVALID_TOKEN, refresh: INVALID_CLIENT, redeem: INVALID_CLIENT, authorize: DISPLAYED },
    lift: (at, { app }) => at.setStatus(app, 'active'),
    lifted: { ...SIGNED_OUT, authorize: OK },
  },
  'a code replayed': {
    async happen(at, { family }) {
      assert.equal(await at.redeem(family.code), INVALID_GRANT);
      return true;
    },
    after: FAMILY_DEAD,
  },
  'a refresh token reused': {
    async happen(at, { family }) {
      const [oldest] = family.refresh;
      assert.ok(oldest && oldest !== newest(family.refresh));
      assert.equal(await at.refresh(family, oldest), INVALID_GRANT);
      return true;
    },
    after: FAMILY_DEAD,
  },
  'a token revoked by its client': {
    async happen(_at, { app, family }, wire) {
      const credentials = { client_id: app.id, client_secret: app.secret };
      const { status } = await postJson(wire, '/oidc/revoke', { ...credentials, token: newest(family.access).text });
      assert.equal(status, 200);
      return true;
    },
    after: FAMILY_DEAD,
  },
};

/** Decisions §10: at the endpoints of the OIDC endpoints a bar has the status of an invalid credential. */
function atEndpoints(endpointSet: EndpointSet, outcomes: Outcomes): Outcomes {
  if (endpointSet === 'v2') return outcomes;
  const { userInfo, refresh, redeem, authorize } = outcomes;
  const barred = (outcome: string, status: number) => outcome.replace('403', `${status}`);
  return { userInfo: barred(userInfo, 401), refresh: barred(refresh, 400), redeem: barred(redeem, 400), authorize };
}

const kidOf = (token: string): string => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;

async function keys(cluster: Cluster, ...args: readonly string[]): Promise<{ kid: string }> {
  const { code, stdout, stderr } = await cluster.command('keys', ...args, '--json');
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

/** At one node, seen at another, on one of the sets of endpoints. */
type Way = readonly [here: number, there: number, endpointSet: EndpointSet];
const WAYS: readonly Way[] = [
  [0, 1, 'v2'],
  [1, 0, 'oidc'],
];
const OTHER_WAYS: readonly Way[] = [
  [1, 0, 'v2'],
  [0, 1, 'oidc'],
];

const CLUSTERS: Readonly<Record<string, ClusterKind>> = {
  'two nodes on PostgreSQL': {},
  'two processes of one service on SQLite': { isOneService: true, store: 'SQLite' },
  ...(WHOLE && { 'two processes of one service on PostgreSQL': { isOneService: true } }),
};
for (const [kind, how] of Object.entries(CLUSTERS)) {
  describe(kind, { timeout: Number.POSITIVE_INFINITY }, () => {
    let cluster: Cluster;
    before(async () => {
      cluster = await startCluster(2, how);
    });
    after(() => cluster.close());

    for (const [name, { happen, after: expected, lift, lifted }] of Object.entries(EVENTS)) {
      for (const [here, there, endpointSet] of [...WAYS, ...(WHOLE ? OTHER_WAYS : [])]) {
        test(`${endpointSet}: ${name} at node ${here}: the very next request at node ${there} keeps it`, async () => {
          const [acting, other] = [nodeOf(cluster, here), nodeOf(cluster, there)];
          const situation = await begin(acting, other, endpointSet);
          const wire = cluster.wires[here];
          assert.ok(wire);
          assert.notEqual(await happen(acting, situation, wire), undefined, 'it was acknowledged');
          assert.deepEqual(await presentAll(other, situation), atEndpoints(endpointSet, expected));
          if (lift === undefined || lifted === undefined) return;
          // Lifted where it was not done: nothing that is dead comes back, at either node.
          assert.notEqual(await lift(other, situation), undefined);
          for (const at of [acting, other]) {
            // The sign-in that a dead session is led to is not made.
            const { session } = situation.person;
            assert.deepEqual(await presentAll(at, situation), atEndpoints(endpointSet, lifted));
            situation.person.session = session;
          }
        });
      }
    }

    test('decisions §5, key sets: keys rotated and dropped by the command are so at every node at the next request', async () => {
      const [one, two] = [nodeOf(cluster, 0), nodeOf(cluster, 1)];
      const { person, app, family } = await begin(one, two);
      const old = newest(family.access);
      const kids = [kidOf(old.text)];

      for (const [signing, reading] of [
        [two, one],
        [one, two],
      ] as const) {
        const { kid } = await keys(cluster, 'rotate');
        assert.ok(!kids.includes(kid));
        kids.push(kid);
        assert.equal(await signing.refresh(family, newest(family.refresh)), OK);
        assert.deepEqual([kidOf(newest(family.access).text), kidOf(newest(family.refresh).text)], [kid, kid]);
        // The first that this node hears of the new key.
        assert.equal(await reading.look(newest(family.access)), OK);
        assert.deepEqual(await Promise.all([one.look(old), two.look(old)]), [OK, OK], 'a retired key still verifies');
      }

      const [first = '', , current = ''] = kids;
      await keys(cluster, 'drop', first, '--yes');
      assert.deepEqual(await Promise.all([one.look(old), two.look(old)]), [INVALID_TOKEN, INVALID_TOKEN]);
      const live = newest(family.access);
      assert.deepEqual(await Promise.all([one.look(live), two.look(live)]), [OK, OK]);

      await keys(cluster, 'drop', current, '--yes');
      assert.deepEqual(await Promise.all([one.look(live), two.look(live)]), [INVALID_TOKEN, INVALID_TOKEN]);
      assert.equal(await one.refresh(family, newest(family.refresh)), INVALID_GRANT);
      assert.equal(await two.refresh(family, newest(family.refresh)), INVALID_GRANT);
      // The key that took its place signs at once, everywhere.
      const { code } = await one.authorize(person, app);
      assert.ok(code);
      assert.equal(await two.redeem(code), OK);
      const [made] = two.families;
      assert.ok(made && !kids.includes(kidOf(newest(made.access).text)));
      assert.equal(await one.look(newest(made.access)), OK);
      assert.equal(await one.refresh(made, newest(made.refresh)), OK);
    });
  });
}
