// store: SQLite, PostgreSQL with --all
/** Decisions and revocations side by side at both sets of endpoints: decisions §10. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Answer } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newSignedInUser,
  redeem,
  refresh,
  standard,
  type TestClient,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import { codeOf, noFault, PLACES, race, ready } from './crowd.ts';

const server = spread(
  await startServer({ TESSERA_LIMIT_PENDING_ADDRESS: 'off', TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off' }, SEVERAL),
);
after(() => server.close());
const contract = await newClient(server);
const ENDPOINT_SETS: readonly TestClient[] = [contract, standard(contract)];
const SCOPE = 'openid email phone social';
const SIZES = [2, 10];

type Visit = Awaited<ReturnType<typeof newSignedInUser>>;

/** Consent pages, of the sets of endpoints in turn, each ready to be sent at once. */
async function forms({ browser }: Visit, count: number, allow: (index: number) => readonly string[]) {
  const sends: (() => Promise<Answer>)[] = [];
  for (let index = 0; index < count; index++) {
    const client = ENDPOINT_SETS[index % 2] ?? contract;
    const asked = await browser.get(authorizeUrl(client, { scope: SCOPE, prompt: 'consent' }));
    const page = await browser.get(asked.location?.href ?? '');
    const switches = Object.fromEntries(allow(index).map((scope) => [`allow ${scope}`, 'on']));
    sends.push(ready(browser, page, '/consent', { decision: 'allow', ...switches }));
  }
  return sends;
}

for (const size of SIZES) {
  for (const [when, place] of Object.entries(PLACES)) {
    test(`revoking ${when} of ${2 * size} first consents at both sets of endpoints leaves no access`, async () => {
      const visit = await newSignedInUser(server);
      const sends = await forms(visit, 2 * size, () => ['email', 'phone']);
      const answers: Answer[] = [];
      const crowd = sends.map((send) => async () => void answers.push(await send()));
      const path = `/users/${visit.user.id}/connections`;
      const { event } = await race(
        crowd,
        place,
        () => admin(server, 'DELETE', `${path}/${contract.clientId}`),
        () => userinfo(server, 'none'),
      );
      assert.equal(event.status, 204);
      noFault(answers);
      // Each came before the revocation, which ended what it made, or after it, and the page was shown again.
      for (const code of answers.flatMap((answer) => codeOf(answer) ?? [])) {
        for (const client of ENDPOINT_SETS) assert.notEqual((await redeem(server, client, code)).status, 200);
      }
      assert.deepEqual((await admin(server, 'GET', path)).body.items, []);
    });
  }

  test(`${2 * size} decisions at both sets of endpoints side by side: what one of them switches off is off on both`, async () => {
    const visit = await newSignedInUser(server);
    const { user, browser } = visit;
    const [first, second] = [
      await tokensFor(server, contract, user, { scope: SCOPE }, { browser }),
      await tokensFor(server, standard(contract), user, { scope: SCOPE }, { browser }),
    ];
    // Each of the two is switched off by all decisions at one set, and left on by all at the other. The address is left on:
    // the contract's page is shown again after it was switched off at the OIDC endpoints.
    const sends = await forms(visit, 2 * size, (index) => ['email', index % 2 === 0 ? 'social' : 'phone']);
    const [ofContract, ofStandard, ...answers] = await Promise.all([
      refresh(server, contract, first.refresh_token),
      refresh(server, standard(contract), second.refresh_token),
      ...sends.map((send) => send()),
    ]);
    noFault([ofContract, ofStandard, ...answers]);
    const later = [
      await refresh(server, contract, ofContract.body.refresh_token),
      await refresh(server, standard(contract), ofStandard.body.refresh_token),
    ];
    for (const { status, body } of later) {
      assert.deepEqual([status, claimsOf(body.access_token).scope], [200, 'openid email']);
    }
  });
}
