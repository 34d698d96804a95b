// store: PostgreSQL, SQLite with --all
/** Decisions §15: the endings of an app that registered itself, beside its refreshes, redemptions and the people who allow it. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { sweep } from '../../src/operations/housekeeping/housekeeping.ts';
import { DAY } from '../../src/platform/clock.ts';
import { admin, authorizeUrl, type JsonAnswer, newSignedInUser, redeem, refresh, userinfo } from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { query } from '../support/outcome.ts';
import { METADATA, manage, newSelfRegistered, registerSelf, type SelfRegistered } from '../support/registration.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import { codesFor, familiesFor, noFault, PLACES, race, ready, times } from './crowd.ts';

const server = spread(
  await startServer(
    {
      TESSERA_REGISTRATION: 'open',
      TESSERA_LIMIT_REGISTRATION_ADDRESS: 'off',
      TESSERA_LIMIT_REGISTRATION: 'off',
      TESSERA_LIMIT_PENDING_ADDRESS: 'off',
      TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off',
      TESSERA_LIMIT_CLIENT_AUTH: 'off',
    },
    SEVERAL,
  ),
);
after(() => server.close());

const SIZE = 8;
const USERINFO = '/oidc/userinfo';
const WITH_SECRET = { token_endpoint_auth_method: 'client_secret_post' };
let hosts = 0;

/** An ending, and the host that the app leads to. */
type End = (app: SelfRegistered, host: string) => Promise<JsonAnswer>;

const ENDINGS: Readonly<Record<string, End>> = {
  'it deletes itself': (app) => manage(server, 'DELETE', app),
  'it authenticates in another way': (app) => manage(server, 'PUT', app, { client_id: app.clientId, ...METADATA }),
  'an operator disables it': (app) => admin(server, 'PATCH', `/clients/${app.clientId}`, { status: 'disabled' }),
  'an operator blocks its domain': (_app, host) => admin(server, 'PUT', `/blocked-domains/${host}`),
};

for (const [ending, end] of Object.entries(ENDINGS)) {
  describe(ending, () => {
    for (const [when, place] of Object.entries(PLACES)) {
      test(`${when} of ${SIZE} refreshes and redemptions each: nothing is left alive, from the answer on`, async () => {
        const host = `app-${++hosts}.example`;
        const app = await newSelfRegistered(server, { ...WITH_SECRET, redirect_uris: [`https://${host}/cb`] });
        const { user, browser } = await newSignedInUser(server);
        const families = await familiesFor(server, app, user, browser, SIZE);
        const codes = await codesFor(server, app, user, browser, SIZE);
        const answers: JsonAnswer[] = [];
        const keep = async (answer: Promise<JsonAnswer>) => void answers.push(await answer);
        const crowd = families.flatMap(({ refresh_token }, index) => [
          () => keep(refresh(server, app, refresh_token)),
          () => keep(redeem(server, app, codes[index] ?? '')),
        ]);
        const look = () => userinfo(server, families[0]?.access_token, USERINFO);
        const { event, atOnce } = await race(crowd, place, () => end(app, host), look);
        assert.ok(event.status < 300, JSON.stringify(event.body));
        assert.equal(atOnce.status, 401);
        noFault(answers);
        const won = answers.filter(({ status }) => status === 200).map(({ body }) => body);
        for (const { access_token, refresh_token } of [...families, ...won]) {
          assert.equal((await userinfo(server, access_token, USERINFO)).status, 401);
          assert.ok([400, 401].includes((await refresh(server, app, refresh_token)).status));
        }
      });
    }
  });
}

test('a domain is blocked while apps of it register: none is left active', async () => {
  const host = `app-${++hosts}.example`;
  const change = { redirect_uris: [`https://${host}/cb`] };
  const answers: JsonAnswer[] = [];
  const crowd = times(12, () => async () => void answers.push(await registerSelf(server, change)));
  await race(
    crowd,
    PLACES.amid,
    () => admin(server, 'PUT', `/blocked-domains/${host}`),
    () => registerSelf(server, change),
  );
  noFault(answers);
  const active = await query(
    server,
    "SELECT id FROM client WHERE status <> 'disabled' AND redirect_uris LIKE ?",
    `%${host}%`,
  );
  assert.deepEqual(active, []);
});

test('a domain is blocked while acceptances of its apps end: none is left active', async () => {
  for (const place of Object.values(PLACES)) {
    const host = `app-${++hosts}.example`;
    const apps = await Promise.all(
      times(6, () => newSelfRegistered(server, { redirect_uris: [`https://${host}/cb`] })),
    );
    const acceptance = ({ clientId }: SelfRegistered) => `/clients/${clientId}/acceptance`;
    for (const app of apps) await admin(server, 'PUT', acceptance(app), {});
    const answers: JsonAnswer[] = [];
    const crowd = apps.map((app) => async () => void answers.push(await admin(server, 'DELETE', acceptance(app))));
    const block = () => admin(server, 'PUT', `/blocked-domains/${host}`);
    await race(crowd, place, block, () => manage(server, 'GET', apps[0] ?? assert.fail()));
    noFault(answers);
    const active = await query(
      server,
      "SELECT id FROM client WHERE status <> 'disabled' AND redirect_uris LIKE ?",
      `%${host}%`,
    );
    assert.deepEqual(active, []);
  }
});

test('people allow an app while it is removed for want of use: it stays with their consent, or is gone with all of it', async () => {
  for (const place of Object.values(PLACES)) {
    const app = await newSelfRegistered(server, WITH_SECRET);
    const people = await Promise.all(times(4, () => newSignedInUser(server)));
    const forms = await Promise.all(
      people.map(async ({ browser }) => {
        const { location } = await browser.get(authorizeUrl(app, { scope: 'openid' }));
        const page = await browser.get(location?.href ?? '');
        return ready(browser, page, '/consent', { decision: 'allow' });
      }),
    );
    const answers: { status: number; location?: URL | undefined }[] = [];
    const crowd = forms.map((send) => async () => void answers.push(await send()));
    const sweepLater = () =>
      withData(server, ({ database, clock }) => sweep(database, clock() + 30 * DAY + 1)).then(() => undefined);
    await race(crowd, place, sweepLater, () => manage(server, 'GET', app));
    noFault(answers);
    const codes = answers.flatMap(({ location }) => location?.searchParams.get('code') ?? []);
    const exists = (await manage(server, 'GET', app)).status === 200;
    if (codes.length > 0 && exists) {
      const [row] = await query(server, 'SELECT unused_until FROM client WHERE id = ?', app.clientId);
      assert.equal(row?.['unused_until'], null);
    }
    if (!exists) {
      for (const code of codes) assert.ok((await redeem(server, app, code)).status >= 400);
      assert.deepEqual(await query(server, 'SELECT id FROM consent_grant WHERE client_id = ?', app.clientId), []);
    }
  }
});
