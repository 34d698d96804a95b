// store: PostgreSQL, SQLite with --all
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  type JsonAnswer,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  type TestClient,
  type TestUser,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { SEVERAL, spread, startServer, type TestServer } from '../support/server.ts';
import { allow, allRefused, codeOf, codesFor, consentPages, familiesFor, noFault, PLACES, race, won } from './crowd.ts';

// Decisions §12: access is taken away in two ways at once, amid redemptions, refreshes, consents and sign-ins. When both calls have
// returned, nothing that was issued before is accepted, and what ran beside them got nothing that lasts.

const INVALID_TOKEN = { status: 401, error: 'invalid_token' };
const INVALID_GRANT = { status: 400, error: 'invalid_grant' };

let server: TestServer;
before(async () => {
  server = spread(await startServer({}, SEVERAL));
});
after(() => server.close());

const call = async (method: string, path: string, body?: unknown) => {
  const answer = await admin(server, method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

let made = 0;
/** An app that a person may use by a group of an organization, and the ways in which that ends. */
async function begin() {
  const client = await newClient(server, { access: 'assigned' });
  const user = await newUser(server);
  const organization = await call('POST', '/organizations', { name: `races-${++made}`, domain: 'races.example' });
  const membership = `/organizations/${organization.id}/members/${user.id}`;
  await call('PUT', membership, {});
  const group = await call('POST', '/groups', { name: `races-${made}`, organizationId: organization.id });
  const member = `/groups/${group.id}/members/${user.id}`;
  await call('PUT', member);
  const assignments = `/clients/${client.clientId}/assignments`;
  const assignment = await call('POST', assignments, { groupId: group.id });
  const send = (method: string, path: string, body?: unknown) => () => admin(server, method, path, body);
  const acts = {
    'leaving the group': send('DELETE', member),
    'leaving the organization': send('DELETE', membership),
    'taking the assignment away': send('DELETE', `${assignments}/${assignment.id}`),
    'deleting the group': send('DELETE', `/groups/${group.id}`),
    'deleting the organization': send('DELETE', `/organizations/${organization.id}`),
    'opening and closing the app': async () => {
      const opened = await admin(server, 'PATCH', `/clients/${client.clientId}`, { access: 'everyone' });
      return opened.status >= 500
        ? opened
        : admin(server, 'PATCH', `/clients/${client.clientId}`, { access: 'assigned' });
    },
    'being added again': send('PUT', member),
    'being assigned again': send('POST', assignments, { groupId: group.id }),
  } satisfies Record<string, () => Promise<JsonAnswer>>;
  return { client, user, acts };
}
type Act = keyof Awaited<ReturnType<typeof begin>>['acts'];

/** What happens at once. The first of each ends access; the second does, too, or gives access again. */
const PAIRS: readonly (readonly [Act, Act])[] = [
  ['leaving the group', 'leaving the organization'],
  ['leaving the group', 'taking the assignment away'],
  ['leaving the group', 'deleting the group'],
  ['taking the assignment away', 'deleting the group'],
  ['deleting the group', 'deleting the organization'],
  ['leaving the organization', 'deleting the organization'],
  ['opening and closing the app', 'leaving the group'],
  ['leaving the group', 'being added again'],
  ['taking the assignment away', 'being assigned again'],
  ['deleting the organization', 'being added again'],
];

/** Whether the person has access when both are done; unclear where it is given and taken away at once. */
const isOver = ([, second]: readonly [Act, Act]): boolean => !second.endsWith('again');

interface Held {
  readonly client: TestClient;
  readonly user: TestUser;
  readonly browser: Agent;
}

/** Requests that meet the endings; answers of the token endpoint are kept. */
async function crowdOf({ client, user, browser }: Held, answers: JsonAnswer[], pages: (string | undefined)[]) {
  const families = await familiesFor(server, client, user, browser, 3);
  const codes = await codesFor(server, client, user, browser, 3);
  const consents = await consentPages(browser, client, 2);
  const keep = async (sent: Promise<JsonAnswer>) => void answers.push(await sent);
  return {
    families,
    crowd: [
      ...families.map(
        ({ refresh_token }) =>
          () =>
            keep(refresh(server, client, refresh_token)),
      ),
      ...codes.map((code) => () => keep(redeem(server, client, code))),
      ...consents.map((page) => async () => void pages.push(codeOf(await allow(browser, page)))),
      async () => void pages.push(codeOf(await browser.get(authorizeUrl(client)))),
      async () => void (await signedIn(server, user)),
    ],
  };
}

for (const pair of PAIRS) {
  describe(`${pair[0]}, and ${pair[1]}`, () => {
    for (const [place, turn] of Object.entries(PLACES)) {
      test(`${place} among what is sent side by side`, async () => {
        const { client, user, acts } = await begin();
        const browser = await signedIn(server, user);
        const answers: JsonAnswer[] = [];
        const codes: (string | undefined)[] = [];
        const { crowd, families } = await crowdOf({ client, user, browser }, answers, codes);
        const [first] = families;
        assert.ok(first);
        const both = () => Promise.all(pair.map((act) => acts[act]()));
        const { event, atOnce } = await race(crowd, turn, both, () => userinfo(server, first.access_token));
        noFault([...event, ...answers, atOnce]);
        // Where both end the same, the later one may find it gone.
        for (const { status } of event) assert.ok([200, 201, 204, 404, 409].includes(status), String(status));
        assert.ok(event.some(({ status }) => status < 300));

        // What was issued before is dead, and so is all that followed from it.
        assert.equal(atOnce.status, 401);
        await allRefused(server, client, [...families, ...won(answers)], INVALID_TOKEN, INVALID_GRANT);
        if (!isOver(pair)) return;
        for (const code of codes) {
          if (code === undefined) continue;
          const { status, body } = await redeem(server, client, code);
          assert.deepEqual([status, body.error], [400, 'invalid_grant']);
        }
        const silent = await browser.get(authorizeUrl(client, { prompt: 'none' }));
        assert.notEqual(silent.location?.searchParams.get('error'), null);

        // Given again, the person signs in, and nothing of before comes back.
        await call('POST', `/clients/${client.clientId}/assignments`, { userId: user.id });
        const again = await tokensFor(server, client, user);
        assert.equal((await userinfo(server, again.access_token)).status, 200);
        await allRefused(server, client, families, INVALID_TOKEN, INVALID_GRANT);
      });
    }
  });
}
