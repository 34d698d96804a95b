// store: SQLite, PostgreSQL
/** Parallel consents, and consents beside revocations: RC-04. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Answer } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newSignedInUser,
  redeem,
  revokeOnPage,
  type TestUser,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import {
  allow,
  allRefused,
  codeOf,
  consentPages,
  noFault,
  PLACES,
  REVOKED,
  race,
  ready,
  refused,
  SIZES,
  times,
  won,
} from './crowd.ts';

const server = spread(
  await startServer({ TESSERA_LIMIT_PENDING_ADDRESS: 'off', TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off' }, SEVERAL),
);
after(() => server.close());
const client = await newClient(server);

async function connections({ id }: TestUser): Promise<string[]> {
  const { body } = await admin(server, 'GET', `/users/${id}/connections`);
  return body.items.map((item: { clientId: string }) => item.clientId);
}

for (const size of SIZES) {
  test(`decisions §2: ${size} parallel consents of one person for one app make one grant`, async () => {
    const { user, browser } = await newSignedInUser(server);
    const pages = await consentPages(browser, client, size);
    const answers = await Promise.all(pages.map((page) => allow(browser, page)));
    noFault(answers);
    const codes = answers.flatMap((answer) => codeOf(answer) ?? []);
    assert.equal(codes.length, size, 'each tab ends with a code of its own');
    assert.equal(new Set(codes).size, size);
    assert.deepEqual(await connections(user), [client.clientId]);
    const families = won(await Promise.all(codes.map((code) => redeem(server, client, code))));
    assert.equal(families.length, size);
    // One grant: its one revocation ends them all.
    await revokeOnPage(browser, client);
    assert.deepEqual(await connections(user), []);
    await allRefused(server, client, families, REVOKED, REVOKED);
  });

  test(`decisions §3: ${size} submits of one consent page end in one code`, async () => {
    const { browser } = await newSignedInUser(server);
    const [page] = await consentPages(browser, client, 1);
    const answers = await Promise.all(Array.from({ length: size }, () => allow(browser, page as Answer)));
    noFault(answers);
    // A submit that came second is led there by way of the page that it came from.
    const ends = await Promise.all(
      answers.map((answer) => (answer.location?.pathname === '/consent' ? browser.get(answer.location.href) : answer)),
    );
    const codes = new Set(ends.map(codeOf));
    assert.equal(codes.size, 1);
    const [code] = codes;
    assert.equal((await redeem(server, client, code ?? '')).status, 200);
  });

  for (const [when, place] of Object.entries(PLACES)) {
    test(`decisions §2: revoking ${when} of ${size} new consents: the old grant is dead, and no form from before makes another`, async () => {
      const { user, browser } = await newSignedInUser(server);
      const old = await tokensFor(server, client, user, { scope: 'openid email' }, { browser });
      const [late, ...pages] = await consentPages(browser, client, size + 1);
      assert.ok(late !== undefined);
      const answers: Answer[] = [];
      const crowd = pages.map((consent) => async () => void answers.push(await allow(browser, consent)));
      const path = `/users/${user.id}/connections/${client.clientId}`;
      const { event, atOnce } = await race(
        crowd,
        place,
        () => admin(server, 'DELETE', path),
        () => userinfo(server, old.access_token),
      );

      assert.equal(event.status, 204);
      refused(atOnce, REVOKED);
      noFault(answers);
      await allRefused(server, client, [old], REVOKED, REVOKED);
      // Each was before the revocation, and its code is dead with the grant; or after it, and the page was shown again.
      const codes = answers.flatMap((answer) => codeOf(answer) ?? []);
      assert.equal(codes.length + answers.filter(({ status }) => status === 409).length, size);
      for (const code of codes) refused(await redeem(server, client, code), REVOKED);
      assert.equal((await allow(browser, late)).status, 409);
      assert.deepEqual(await connections(user), []);
      // What is allowed from now on is a new grant.
      await tokensFor(server, client, user, { scope: 'openid email' }, { browser });
      assert.equal((await allow(browser, late)).status, 409);
      assert.deepEqual(await connections(user), [client.clientId]);
    });
  }
}

for (const size of [2, 10]) {
  for (const [when, place] of Object.entries(PLACES)) {
    test(`decisions §2: allowing and revoking ${when} of ${size} first consents: none of them outlives the revocation`, async () => {
      const { user, browser } = await newSignedInUser(server);
      const [first, ...pages] = await consentPages(browser, client, size + 1);
      const answers: Answer[] = [];
      const crowd = pages.map((consent) => async () => void answers.push(await allow(browser, consent)));
      const path = `/users/${user.id}/connections/${client.clientId}`;
      const allowAndRevoke = async () => {
        noFault([await allow(browser, first as Answer)]);
        return admin(server, 'DELETE', path);
      };
      const { event } = await race(crowd, place, allowAndRevoke, () => userinfo(server, 'none'));
      assert.equal(event.status, 204);
      noFault(answers);
      const codes = answers.flatMap((answer) => codeOf(answer) ?? []);
      assert.equal(codes.length + answers.filter(({ status }) => status === 409).length, size);
      for (const code of codes) refused(await redeem(server, client, code), REVOKED);
      assert.deepEqual(await connections(user), []);
    });
  }
}

// Each comes from a person of its own, who takes two password hashes to make.
for (const size of [2, 10]) {
  for (const [place, at] of Object.entries(PLACES)) {
    test(`consent is for an owner: an app changes hands ${place} among ${size} consents: none that showed the former owner holds for the new one`, async () => {
      const sold = await newClient(server);
      const people = await Promise.all(times(size, () => newSignedInUser(server)));
      const sends = await Promise.all(
        people.map(async ({ browser }) => {
          const [page] = await consentPages(browser, sold, 1);
          return ready(browser, page as Answer, '/consent', { decision: 'allow', 'allow email': 'on' });
        }),
      );
      const answers: Answer[] = [];
      const crowd = sends.map((send) => async () => void answers.push(await send()));
      await race(
        crowd,
        at,
        () => admin(server, 'PATCH', `/clients/${sold.clientId}`, { owner: 'Another Ltd' }),
        () => userinfo(server, 'none'),
      );
      noFault(answers);
      const asked = await Promise.all(
        people.map(({ browser }) => browser.get(authorizeUrl(sold, { scope: 'openid' }))),
      );
      for (const answer of asked) assert.equal(answer.location?.pathname, '/consent', `${answer.location}`);
    });
  }
}
