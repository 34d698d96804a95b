// store: PostgreSQL, SQLite with --all
/** RFC 8628, decisions §15: a device, and everything that may end it in the same moment. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Agent, Answer } from '../support/agent.ts';
import { answerDevice, newDeviceClient, poll, startDevice, typeUserCode } from '../support/devices.ts';
import {
  admin,
  type JsonAnswer,
  newClient,
  newSignedInUser,
  refresh,
  type TestUser,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import { WHOLE } from '../support/whole.ts';
import { noFault, PLACES, race, ready, times } from './crowd.ts';

const server = spread(
  await startServer(
    {
      TESSERA_LIMIT_CLIENT_AUTH: 'off',
      TESSERA_LIMIT_USER_CODE: 'off',
      TESSERA_LIMIT_USER_CODE_ADDRESS: 'off',
      TESSERA_LIMIT_DEVICE_ADDRESS: 'off',
      TESSERA_LIMIT_PENDING_ADDRESS: 'off',
      TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off',
    },
    SEVERAL,
  ),
);
after(() => server.close());

const SIZE = 4;
/** A sample has the crowd on both sides of the ending. */
const WHEN = WHOLE ? PLACES : { amid: PLACES.amid };
const USERINFO = '/oidc/userinfo';

interface At {
  readonly user: TestUser;
  readonly browser: Agent;
  readonly clientId: string;
}
type End = (at: At) => Promise<{ readonly status: number }>;

/** What ends what a person allowed on devices. Each is done when it has answered. */
const ENDINGS: Readonly<Record<string, End>> = {
  'the account is banned': ({ user }) => admin(server, 'PUT', `/users/${user.id}/ban`, {}),
  'the account is suspended': ({ user }) => admin(server, 'PUT', `/users/${user.id}/suspension`, {}),
  'an operator signs the person out everywhere': ({ user }) => admin(server, 'DELETE', `/users/${user.id}/sessions`),
  'the person takes the access away': async ({ browser, clientId }) =>
    browser.submit(await browser.get('/account/connections'), { client_id: clientId }, '/account/connections'),
  'the client is disabled': ({ clientId }) => admin(server, 'PATCH', `/clients/${clientId}`, { status: 'disabled' }),
  'the client is deleted': ({ clientId }) => admin(server, 'DELETE', `/clients/${clientId}`),
};

for (const [ending, end] of Object.entries(ENDINGS)) {
  describe(ending, () => {
    for (const [when, place] of Object.entries(WHEN)) {
      test(`${when} of ${SIZE} polls, refreshes and approvals each: nothing of before is left alive, from the answer on`, async () => {
        const client = await newDeviceClient(server);
        const { clientId } = client;
        const { user, browser } = await newSignedInUser(server);
        const at = { user, browser, clientId };
        const begun = await Promise.all(times(3 * SIZE, () => startDevice(server, client)));
        const [waiting, allowed, connected] = times(3, (part) => begun.slice(part * SIZE, (part + 1) * SIZE));
        assert.ok(waiting && allowed && connected);
        for (const device of [...allowed, ...connected]) await answerDevice(server, browser, device);
        const families = await Promise.all(connected.map(async (device) => (await poll(server, client, device)).body));
        const pages: (() => Promise<Answer>)[] = [];
        for (const device of waiting) {
          const page = await typeUserCode(server, browser, device.user_code);
          pages.push(ready(browser, page, '/consent', { decision: 'allow' }));
        }
        const answers: JsonAnswer[] = [];
        const approvals: Answer[] = [];
        const keep = async (answer: Promise<JsonAnswer>) => void answers.push(await answer);
        const crowd = families.flatMap(({ refresh_token }, index) => [
          () => keep(refresh(server, client, refresh_token)),
          () => keep(poll(server, client, allowed[index] ?? assert.fail())),
          async () => void approvals.push(await (pages[index]?.() ?? assert.fail())),
        ]);
        const look = () => userinfo(server, families[0].access_token, USERINFO);
        const { event, atOnce } = await race(crowd, place, () => end(at), look);
        assert.ok(event.status < 300, `${event.status}`);
        assert.equal(atOnce.status, 401);
        noFault([...answers, ...approvals]);
        const won = answers.filter(({ status }) => status === 200).map(({ body }) => body);
        for (const { access_token, refresh_token } of [...families, ...won]) {
          assert.equal((await userinfo(server, access_token, USERINFO)).status, 401);
          assert.ok([400, 401].includes((await refresh(server, client, refresh_token)).status));
        }
        for (const device of allowed) assert.notEqual((await poll(server, client, device)).status, 200);
        // A person may allow a device beside the end of the earlier access, and that is a new one.
        if (ending === 'the person takes the access away') return;
        for (const device of waiting) assert.notEqual((await poll(server, client, device)).status, 200);
      });
    }
  });
}

test('polls at once: one gets tokens, and they end with the second', async () => {
  const client = await newDeviceClient(server);
  const { browser } = await newSignedInUser(server);
  const device = await startDevice(server, client);
  await answerDevice(server, browser, device);
  const answers = await Promise.all(times(12, () => poll(server, client, device)));
  noFault(answers);
  const won = answers.filter(({ status }) => status === 200);
  assert.equal(won.length, 1);
  assert.equal((await userinfo(server, won[0]?.body.access_token, USERINFO)).status, 401);
});

test('all access is taken away beside a sign-out everywhere: all of it, or none of it where the session was gone', async () => {
  const clients = await Promise.all(times(8, () => newClient(server)));
  for (let before = 0; before < 6; before++) {
    const { user, browser } = await newSignedInUser(server);
    for (const client of clients) await tokensFor(server, client, user, {}, { browser });
    const send = ready(browser, await browser.get('/account/connections'), '/account/connections', { all: 'yes' });
    const answers: Answer[] = [];
    const look = () => admin(server, 'GET', `/users/${user.id}`);
    // Each time a little later.
    const out = async () => {
      for (let n = 0; n < before; n++) await look();
      return admin(server, 'DELETE', `/users/${user.id}/sessions`);
    };
    await race([async () => void answers.push(await send())], PLACES.last, out, look);
    noFault(answers);
    const left = (await admin(server, 'GET', `/users/${user.id}/connections`)).body.items.length;
    assert.equal(left, answers[0]?.status === 200 ? 0 : clients.length);
  }
});
