// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { userHandleOf } from '../../src/account-actions/authentication/passkey.ts';
import { ACR_MFA } from '../../src/authenticators/rules/authentication-context.ts';
import { consoleActs } from '../../src/console/acts.ts';
import type { AppActName } from '../../src/console/apps/acts.ts';
import { appActAddress } from '../../src/console/apps/addresses.ts';
import { memberAddress } from '../../src/console/groups/pages.ts';
import { type ActName, actAddress, actNames } from '../../src/console/people/acts.ts';
import { startRouted } from '../security/routes.ts';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import { bulkPages, prepareAct, preparedAddress } from '../support/console-acts.ts';
import { newDeviceClient, startDevice } from '../support/devices.ts';
import { admin, authorizeUrl, newClient, newUser, PASSWORD, signedIn, type TestUser, walk } from '../support/flow.ts';
import { png } from '../support/images.ts';
import { assertStaysHere, dataVersionOf, MINUTE, query, settle } from '../support/outcome.ts';
import { newPasskey, passkeyOptions } from '../support/passkeys.ts';
import { enroll, type SecondFactor } from '../support/second-factor.ts';
import { setupLink } from '../support/setup.ts';
import { softAuthenticator } from '../support/soft-authenticator.ts';

// SE-04: every form that changes something is one of ours, sent from our own page by the browser that it was made for.

const server = await startRouted({
  // The forms begin more sign-ins than one address may within a minute, which never ends here.
  TESSERA_LIMIT_PENDING_ADDRESS: 'off',
  TESSERA_LIMIT_PLAYGROUND_ADDRESS: 'off',
  TESSERA_LIMIT_EXPORT_ACCOUNT: 'off',
  TESSERA_CONSOLE_SECOND_FACTOR: 'off',
});
after(() => server.close());
const client = await newClient(server);
const closed = await newClient(server, { access: 'assigned' });

interface Sender {
  readonly browser: Agent;
  readonly user: TestUser;
}

/** A page with a form, and what a person would type into it. */
interface Case {
  page(at: Sender): Promise<Answer>;
  fields(user: TestUser): Readonly<Record<string, string>>;
  /** Whether the browser is signed in already. */
  readonly signedIn: boolean;
  /** Whether the form, filled in so, changes something; true unless set. */
  readonly changes?: boolean;
  /** Whether the form may bring a file. */
  readonly takesFiles?: boolean;
}

let names = 0;
const factors = new Map<string, SecondFactor>();
const account = async ({ browser }: Sender) => browser.get('/account');
let renamed = 0;
const security = async ({ browser }: Sender) => browser.get('/account/security');
/** What the passkeys of people answered. */
const responses = new Map<string, string>();
/** The Security page of a person with an authenticator app, who has just proved who they are. */
async function withApp({ browser, user }: Sender): Promise<Answer> {
  await query(
    server,
    `UPDATE browser_session SET proved_by = 'passkey', proved_at = ${server.now()} WHERE account_id = '${user.id}'`,
  );
  await enroll(server, user);
  return browser.get('/account/security');
}
/** The code of a device that waits. */
let waiting = '';
/** test/contract/console-people.test.ts and test/security/forms-of-others.test.ts have mail. */
const CONSOLE_ELSEWHERE = [
  ...['/console/people/send-recovery', '/console/people/remind-verification', '/console/system/mail/test'],
  // They change nothing: test/contract/console-upstreams.test.ts and console-preview.test.ts.
  ...['/console/upstreams/test', '/console/upstreams/preview', '/console/apps/preview'],
];

/** An act of the console on a person for whom it changes something, by a person who may do it. */
const consoleAct = (name: ActName): Case => ({
  async page({ browser, user }) {
    await admin(server, 'PUT', `/users/${user.id}/roles/owner`, {});
    const subject = await newUser(server, { emailVerified: true });
    const there = await signedIn(server, subject);
    if (name === 'revoke-app') await walk(there, authorizeUrl(client));
    if (name === 'reinstate') await admin(server, 'PUT', `/users/${subject.id}/suspension`, {});
    if (name === 'unban') await admin(server, 'PUT', `/users/${subject.id}/ban`, {});
    if (name === 'remove-factor') await enroll(server, subject);
    const session = name === 'end-session' ? await firstSession(subject) : '';
    return browser.get(actAddress(name, { id: subject.id, factor: 'totp', session, app: client.clientId }));
  },
  fields: () => ({}),
  signedIn: true,
});

/** An act of the console on an app for which it changes something. */
const consoleAppAct = (name: AppActName | 'new', fields: Readonly<Record<string, string>> = {}): Case => ({
  async page({ browser, user }) {
    await admin(server, 'PUT', `/users/${user.id}/roles/owner`, {});
    const app = await newClient(server);
    const rotated = await admin(server, 'POST', `/clients/${app.clientId}/secrets`, {});
    if (name === 'enable') await admin(server, 'PATCH', `/clients/${app.clientId}`, { status: 'disabled' });
    return browser.get(appActAddress(name, { app: app.clientId, secret: rotated.body.secrets[0].id }));
  },
  fields: () => fields,
  signedIn: true,
});

let groups = 0;

/** A member of a group that is added or removed. */
const consoleMember = (name: 'add-member' | 'remove-member'): Case => ({
  async page({ browser, user }) {
    await admin(server, 'PUT', `/users/${user.id}/roles/owner`, {});
    const subject = await newUser(server);
    const { id } = (await admin(server, 'POST', '/groups', { name: `forms-${++groups}` })).body;
    if (name === 'remove-member') await admin(server, 'PUT', `/groups/${id}/members/${subject.id}`);
    return browser.get(memberAddress(name, { id, user: subject.id, member: subject.username }));
  },
  fields: () => ({}),
  signedIn: true,
});

/** A list that is saved to a file. */
const consoleExport = (address: string): Case => ({
  async page({ browser, user }) {
    await admin(server, 'PUT', `/users/${user.id}/roles/owner`, {});
    return browser.get(address);
  },
  fields: () => ({ format: 'csv' }),
  signedIn: true,
});

/** A form of an act on many people. */
const consoleBulk = (name: 'new' | 'start' | 'stop'): Case => ({
  async page({ browser, user }) {
    await admin(server, 'PUT', `/users/${user.id}/roles/owner`, {});
    return browser.get((await bulkPages(server, browser))[name]);
  },
  fields: () => ({}),
  signedIn: true,
});

/** An act of the console that is prepared in one place for all tests. */
const consolePrepared = (address: string): Case => {
  let typed: Readonly<Record<string, string>> = {};
  return {
    async page({ browser, user }) {
      await admin(server, 'PUT', `/users/${user.id}/roles/owner`, {});
      const prepared = await prepareAct(address, server, user.id);
      typed = prepared.typed;
      return browser.get(preparedAddress(address, prepared));
    },
    fields: () => typed,
    signedIn: true,
  };
};

async function firstSession({ id }: TestUser): Promise<string> {
  return (await admin(server, 'GET', `/users/${id}/sessions`)).body.items[0].id;
}

const cases: Record<string, Case> = {
  '/login': {
    page: ({ browser }) => browser.get('/login'),
    fields: ({ username }) => ({ identifier: username, password: PASSWORD }),
    signedIn: false,
  },
  '/device': {
    async page({ browser }) {
      waiting = (await startDevice(server, await newDeviceClient(server))).user_code;
      return browser.get('/device');
    },
    fields: () => ({ user_code: waiting }),
    signedIn: false,
  },
  '/invitation': {
    async page({ browser }) {
      const name = `inviting${++names}`;
      const { id } = (await admin(server, 'POST', '/organizations', { name, domain: 'inviting.example' })).body;
      const { link } = (await admin(server, 'POST', '/invitations', { organizationId: id })).body;
      return browser.get(link.slice(server.baseUrl.length));
    },
    fields: () => ({}),
    signedIn: true,
  },
  '/login/verify': {
    async page({ browser, user }) {
      const login = await browser.get('/login');
      if (login.status !== 200) return login;
      if (!factors.has(user.id)) factors.set(user.id, await enroll(server, user));
      const first = await browser.submit(login, { identifier: user.username, password: PASSWORD }, '/login');
      return first.location === undefined ? first : browser.get(first.location.href);
    },
    fields: ({ id }) => ({ code: factors.get(id)?.recoveryCodes[0] ?? '', with: 'recovery-code' }),
    signedIn: false,
  },
  '/login/passkey': {
    page: async ({ browser, user }) => {
      const page = await browser.get('/login');
      const authenticator = await newPasskey(server, user.id);
      responses.set(user.id, authenticator.use(await passkeyOptions(browser, '/login/passkey')));
      return page;
    },
    fields: ({ id }) => ({ passkey: responses.get(id) ?? '' }),
    signedIn: false,
  },
  '/account/security/remove-password': {
    page: async ({ browser, user }) => {
      await newPasskey(server, user.id);
      await query(
        server,
        `UPDATE browser_session SET proved_by = 'passkey', proved_at = ${server.now()} WHERE account_id = '${user.id}'`,
      );
      return browser.get('/account/security');
    },
    fields: () => ({}),
    signedIn: true,
  },
  '/account/security/passkeys': {
    page: async ({ browser, user }) => {
      await query(
        server,
        `UPDATE browser_session SET proved_by = 'passkey', proved_at = ${server.now()} WHERE account_id = '${user.id}'`,
      );
      const page = await browser.get('/account/security');
      const authenticator = softAuthenticator(server.baseUrl, userHandleOf(user.id));
      const options = await browser.get('/account/security/passkeys/new', { accept: 'application/json' });
      if (options.status === 200) responses.set(user.id, authenticator.create(JSON.parse(options.text)));
      return page;
    },
    fields: ({ id }) => ({ action: 'add', passkey: responses.get(id) ?? '' }),
    signedIn: true,
  },
  '/signup': {
    page: ({ browser }) => browser.get('/signup'),
    fields: () => {
      const username = `form-person-${++names}`;
      return { displayName: 'P', username, email: `${username}@example.com`, password: 'some passphrase' };
    },
    signedIn: false,
  },
  '/no-access': {
    page: async ({ browser }) => {
      const { location } = await browser.get(authorizeUrl(closed));
      return browser.get(`${location?.pathname}${location?.search}`);
    },
    fields: () => ({}),
    signedIn: true,
  },
  '/consent': {
    page: async ({ browser }) =>
      settle(browser, server, await browser.get(authorizeUrl(client, { prompt: 'consent', scope: 'openid email' }))),
    fields: () => ({ decision: 'allow', 'allow email': 'on' }),
    signedIn: true,
  },
  '/logout': { page: account, fields: () => ({}), signedIn: true },
  '/oidc/logout/confirm': { page: ({ browser }) => browser.get('/oidc/logout'), fields: () => ({}), signedIn: true },
  '/continue': {
    page: async ({ browser }) =>
      settle(browser, server, await browser.get(authorizeUrl(client, { prompt: 'select_account' }))),
    fields: () => ({}),
    signedIn: true,
  },
  '/setup': {
    async page({ browser }) {
      // Where there is an owner, there is no such page.
      await query(server, 'DELETE FROM operator_grant');
      return browser.get(`/setup?link=${await setupLink(server)}`);
    },
    fields: () => {
      const username = `owner${++names}`;
      return { displayName: 'Ada', username, email: `${username}@example.com`, password: PASSWORD };
    },
    signedIn: false,
  },
  '/playground': {
    page: ({ browser }) => browser.get('/playground'),
    fields: () => ({ action: 'start' }),
    signedIn: false,
  },
  '/account/profile': {
    page: ({ browser }) => browser.get('/account'),
    fields: () => ({ displayName: `Person ${++names}` }),
    signedIn: true,
  },
  '/account/picture': {
    page: async (at) => {
      const picture = new File([new Uint8Array(png(9, 9))], 'me.png', { type: 'image/png' });
      return at.browser.upload(await account(at), { picture }, '/account/picture');
    },
    fields: () => ({ action: 'remove' }),
    signedIn: true,
    takesFiles: true,
  },
  '/account/password': {
    page: security,
    fields: () => ({ current: PASSWORD, password: 'a new passphrase' }),
    signedIn: true,
  },
  '/account/username': {
    page: ({ browser }) => browser.get('/account'),
    fields: () => ({ username: `renamed-${++renamed}` }),
    signedIn: true,
  },
  '/account/data/export': {
    page: ({ browser }) => browser.get('/account/data/export'),
    fields: () => ({}),
    signedIn: true,
  },
  '/account/data/export/download': {
    async page({ browser }) {
      const page = await browser.get('/account/data/export');
      if (page.status !== 200) return page;
      await browser.submit(page, {}, '/account/data/export');
      await server.makeExports();
      return browser.get('/account/data/export');
    },
    fields: () => ({ file: 'data' }),
    signedIn: true,
  },
  '/account/organization/leave': {
    async page({ browser, user }) {
      const organization = { name: `guild-${++names}`, domain: 'guild.example' };
      const { body } = await admin(server, 'POST', '/organizations', organization);
      await admin(server, 'PUT', `/organizations/${body.id}/members/${user.id}`, {});
      return browser.get('/account/organization');
    },
    fields: () => ({}),
    signedIn: true,
  },
  '/account/deletion': {
    page: ({ browser }) => browser.get('/account/data'),
    fields: () => ({ confirm: 'yes' }),
    signedIn: true,
  },
  '/login/enroll': {
    async page({ browser }) {
      const claims = JSON.stringify({ id_token: { acr: { essential: true, values: [ACR_MFA] } } });
      const { location } = await browser.get(authorizeUrl(client, { claims }));
      return browser.get(location?.href ?? '');
    },
    // What a person sends is in enrollment-in-flow.test.ts.
    fields: () => ({ code: '000000' }),
    signedIn: true,
    changes: false,
  },
  '/login/come-back': {
    async page({ browser }) {
      const login = await browser.get('/login');
      if (login.status !== 200) return login;
      const user = await newUser(server);
      const leaving = await signedIn(server, user);
      await leaving.submit(await leaving.get('/account/data'), { confirm: 'yes' }, '/account/deletion');
      const first = await browser.submit(login, { identifier: user.username, password: PASSWORD }, '/login');
      return first.location === undefined ? first : browser.get(first.location.href);
    },
    fields: () => ({}),
    signedIn: false,
  },
  '/account/confirm': {
    page: ({ browser }) => {
      // The sign-in itself was a proof.
      server.advance(10 * MINUTE);
      return browser.get('/account/confirm?next=password');
    },
    fields: () => ({ current: PASSWORD }),
    signedIn: true,
  },
  '/account/sign-out-everywhere': { page: security, fields: () => ({}), signedIn: true },
  '/account/connections': {
    page: ({ browser }) => browser.get('/account/connections'),
    fields: () => ({ client_id: client.clientId }),
    signedIn: true,
  },
  '/account/sessions': {
    page: async ({ browser, user }) => {
      await signedIn(server, user);
      return browser.get('/account/sessions');
    },
    fields: () => ({ session: 'others' }),
    signedIn: true,
  },
  // After those that sign in a second time: these people then need a second factor.
  '/account/trusted-browsers': {
    async page(at) {
      await query(
        server,
        `INSERT INTO trusted_browser (hash, account_id, generation, created_at, expires_at)
         SELECT hash, account_id, generation, auth_time, expires_at FROM browser_session WHERE account_id = '${at.user.id}'`,
      );
      await withApp(at);
      return at.browser.get('/account/sessions');
    },
    fields: () => ({}),
    signedIn: true,
  },
  '/account/security/authenticator': {
    page: ({ browser }) => browser.get('/account/security/authenticator'),
    // What a person sends is in second-factor.test.ts.
    fields: () => ({ code: '000000' }),
    signedIn: true,
    changes: false,
  },
  '/account/security/authenticator/remove': { page: withApp, fields: () => ({}), signedIn: true },
  '/account/security/recovery-codes': { page: withApp, fields: () => ({}), signedIn: true },
  '/account/security/recovery': {
    async page(at) {
      await query(server, `INSERT INTO recovery_setting (account_id, code_required_at) VALUES ('${at.user.id}', 1)`);
      return security(at);
    },
    fields: () => ({ require: 'no' }),
    signedIn: true,
  },
  ...Object.fromEntries(
    actNames
      .map((name) => [`/console/people/${name}`, consoleAct(name)] as const)
      .filter(([action]) => !CONSOLE_ELSEWHERE.includes(action)),
  ),
  ...Object.fromEntries(
    consoleActs
      .filter(({ address }) => !CONSOLE_ELSEWHERE.includes(address))
      .map(({ address }) => [address, consolePrepared(address)]),
  ),
  '/console/people/export': consoleExport('/console/people/export'),
  '/console/events/export': consoleExport('/console/events/export'),
  '/console/people/bulk/new': {
    ...consoleBulk('new'),
    fields: ({ username }) => ({ names: username }),
  },
  '/console/people/bulk/start': consoleBulk('start'),
  '/console/people/bulk/stop': consoleBulk('stop'),
  '/console/groups/add-member': consoleMember('add-member'),
  '/console/groups/remove-member': consoleMember('remove-member'),
  '/console/apps/redirect-uris': consoleAppAct('redirect-uris', { uris: 'https://other.example/callback' }),
  '/console/apps/rotate-secret': consoleAppAct('rotate-secret', { overlap: '3600' }),
  '/console/apps/end-secret': consoleAppAct('end-secret'),
  '/console/apps/disable': consoleAppAct('disable'),
  '/console/apps/enable': consoleAppAct('enable'),
  '/console/apps/new': consoleAppAct('new', { kind: 'service', name: 'Another app' }),
};

async function sender(action: string): Promise<Sender> {
  const user = await newUser(server);
  if (cases[action]?.signedIn !== true) return { user, browser: agent(server.baseUrl) };
  const browser = await signedIn(server, user);
  await walk(browser, authorizeUrl(client));
  return { user, browser };
}

const dataVersion = dataVersionOf(server);
let latest: { readonly version: unknown; readonly now: number; readonly rows: Record<string, unknown>[] } | undefined;

/** {@link readState}, which is what it was before where nothing was written since: it is asked for thousands of times. */
async function state(now = server.now()): Promise<Record<string, unknown>[]> {
  // Otherwise those that were begun go on in the background, at any time.
  await server.runBulkActs();
  const version = dataVersion();
  if (version === undefined || latest?.version !== version || latest.now !== now)
    latest = { version, now, rows: await readState(now) };
  return latest.rows;
}

/** What a form may change, without counts and times of use, and without what has expired, which may be removed at any time: rows by table. */
async function readState(now: number): Promise<Record<string, unknown>[]> {
  const parts: Record<string, string> = {
    account:
      "concat_ws(' ', id, username, display_name, coalesce(picture, '-'), password_hash, generation, coalesce(suspended_at, 0), coalesce(banned_at, 0)) AS held FROM account",
    client: `concat_ws(' ', id, status, redirect_uris) FROM client LEFT JOIN playground_visit ON client_id = id WHERE client_id IS NULL OR expires_at > ${now}`,
    client_secret: `concat_ws(' ', id, client_secret.expires_at) FROM client_secret
      LEFT JOIN playground_visit USING (client_id) WHERE (playground_visit.client_id IS NULL OR playground_visit.expires_at > ${now})
      AND (client_secret.expires_at IS NULL OR client_secret.expires_at > ${now})`,
    browser_session: "concat_ws(' ', hash, account_id, proved_at) FROM browser_session",
    consent_grant: "concat_ws(' ', id, scopes, declined_scopes, revoked_at) FROM consent_grant",
    trusted_browser: "concat_ws(' ', hash) FROM trusted_browser",
    recovery_setting: "concat_ws(' ', account_id) FROM recovery_setting",
    interaction: `concat_ws(' ', hash, outcome, coalesce(chosen_session, '-')) FROM interaction WHERE expires_at > ${now}`,
    upstream:
      "concat_ws(' ', id, display_name, client_id, coalesce(sealed_secret, '-'), sign_up, domains, status) FROM upstream",
    organization_upstream: "concat_ws(' ', organization_id, upstream_id) FROM organization_upstream",
    group_member: "concat_ws(' ', group_id, account_id) FROM group_member",
    membership: "concat_ws(' ', account_id, organization_id, role) FROM membership",
    organization: "concat_ws(' ', id, require_second_factor) FROM organization",
    operator_grant: "concat_ws(' ', id, account_id, role) FROM operator_grant",
    admin_key: "concat_ws(' ', id, coalesce(revoked_at, 0)) FROM admin_key",
    invitation: "concat_ws(' ', id) FROM invitation",
    bulk_act: "concat_ws(' ', id, state) FROM bulk_act",
    scope_request: "concat_ws(' ', id, coalesce(outcome, '-')) FROM scope_request",
    // They end with the account's generation.
    data_export: `concat_ws(' ', data_export.id) FROM data_export JOIN account ON account.id = account_id
      WHERE account.generation = data_export.generation`,
    // The events instead of the codes.
    audit_event:
      "concat_ws(' ', id) FROM audit_event WHERE type IN ('authorization.issued', 'export.downloaded', 'list.exported', 'account.unlocked', 'account.factor_removed')",
  };
  const selects = Object.entries(parts).map(([table, rows]) => `SELECT '${table}' AS part, ${rows}`);
  return query(server, `${selects.join(' UNION ALL ')} ORDER BY 1, 2`);
}

async function assertUnchanged(send: () => Promise<Answer>): Promise<Answer> {
  // One time for both: a request or visit may expire in between.
  const now = server.now();
  const before = await state(now);
  const answer = await send();
  assert.deepEqual(await state(now), before);
  assert.ok(!answer.location?.href.startsWith(client.redirectUri), `${answer.location}`);
  return answer;
}

const foreign: Record<string, Readonly<Record<string, string>>> = {
  'another origin': { origin: 'https://evil.example' },
  'another scheme': { origin: 'https://localhost' },
  'another port': { origin: 'http://localhost:1' },
  'an origin that begins like ours': { origin: 'http://localhost.evil.example' },
  'Sec-Fetch-Site: cross-site': { 'sec-fetch-site': 'cross-site' },
  'Sec-Fetch-Site: same-site': { 'sec-fetch-site': 'same-site' },
  'another origin and Sec-Fetch-Site: cross-site': { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
};

/** Where programs send what they send. */
const FOR_PROGRAMS = [
  ...['/api/v2/oauth/token', '/oidc/token', '/oidc/device_authorization'],
  ...['/oidc/revoke', '/oidc/introspect', '/oidc/userinfo'],
  // For other providers: test/upstreams/endings.test.ts.
  '/upstreams/:name/backchannel-logout',
  // The page of another provider sends it: test/upstreams/apple.test.ts.
  '/login/with/:name/callback',
];
/** After a visit to another provider: test/upstreams/forms.test.ts. */
const WITH_A_PROVIDER = [
  ...['/login/with/:name/new', '/account/security/connect/:name/confirm', '/account/security/disconnect'],
];
/** Its address names an app: test/contract/account-permissions.test.ts. */
const OF_AN_APP = ['/account/connections/:clientId'];
/** Where apps send a browser with a form of their own: it is asked what it wants, and nothing has changed until it has said so. */
const FROM_APPS = ['/api/v2/oauth/authorize', '/oidc/authorize', '/oidc/logout'];

/** Behind links in messages, or for what is confirmed by mail: they have tests of their own (test/contract/security-notices.test.ts, addresses.test.ts and recovery.test.ts). */
const WITH_MAIL = ['/secure-account', '/verify', '/undo-address-change'].concat(
  ['', '/verify', '/code', '/earlier'].map((end) => `/account/email${end}`),
  ['', '/code', '/link'].map((end) => `/recover${end}`),
);

/** Set a cookie, and change nothing of what is stored (test/contract/passkeys.test.ts and second-factor.test.ts). */
const FOR_THE_BROWSER = ['/account/passkey-offer', '/recovery-codes'];

test('SE-04: these are all the forms of the route table', () => {
  const others = new Set([
    ...FOR_PROGRAMS,
    ...OF_AN_APP,
    ...FROM_APPS,
    ...WITH_MAIL,
    ...WITH_A_PROVIDER,
    ...CONSOLE_ELSEWHERE,
    ...FOR_THE_BROWSER,
  ]);
  const found = server.routes
    .filter(
      ({ method, url }) =>
        !['GET', 'HEAD'].includes(method) && !/^\/(api\/v2\/admin|oidc\/register)(\/|$)/.test(url) && !others.has(url),
    )
    .map(({ method, url }) => `${method} ${url}`);
  assert.deepEqual(
    found.sort(),
    Object.keys(cases)
      .map((action) => `POST ${action}`)
      .sort(),
  );
});

/** The forms of the account have one token, and so have those of the console. */
const tokenOf = (action: string): string =>
  ['/account/', '/console/'].find((start) => action.startsWith(start)) ?? action;

const oneOfEachToken = Object.entries(cases).filter(
  ([action], at, all) => all.findIndex(([other]) => tokenOf(other) === tokenOf(action)) === at,
);

for (const [action, { page: open, fields, takesFiles, changes = true }] of Object.entries(cases)) {
  test(`SE-04: ${action} takes its own form`, async () => {
    const at = await sender(action);
    const page = await open(at);
    const now = server.now();
    const before = await state(now);
    const answer = await at.browser.submit(page, fields(at.user), action);
    assert.ok(changes ? answer.status === 303 || answer.status === 200 : answer.status === 400, `${answer.status}`);
    assert.equal(isDeepStrictEqual(await state(now), before), !changes);
  });

  test(`SE-04: ${action} refuses a form from elsewhere`, async (t) => {
    const at = await sender(action);
    const { hidden } = formOf((await open(at)).text, action);
    for (const [name, headers] of Object.entries(foreign)) {
      await t.test(name, async () => {
        const answer = await assertUnchanged(() => at.browser.post(action, { ...hidden, ...fields(at.user) }, headers));
        assertStaysHere(answer, 403);
        assert.equal(answer.headers.getSetCookie().length, 0);
        const json = await at.browser.post(action, { ...hidden }, { ...headers, accept: 'application/json' });
        assert.equal(JSON.parse(json.text).error, 'access_denied');
      });
    }
  });

  test(`SE-04: ${action} does nothing without the token that its page gave this browser`, async () => {
    const at = await sender(action);
    const { hidden } = formOf((await open(at)).text, action);
    const { form_token: own = '', ...others } = hidden;
    const stranger = await sender(action);
    const strangers = formOf((await open(stranger)).text, action).hidden['form_token'] ?? '';
    assert.notEqual(strangers, own);
    const flipped = (own.startsWith('A') ? 'B' : 'A') + own.slice(1);
    for (const form_token of [undefined, '', flipped, strangers, own.slice(0, -1), `${own}A`, own.toLowerCase()]) {
      const form = { ...others, ...fields(at.user), ...(form_token !== undefined && { form_token }) };
      await assertUnchanged(() => at.browser.post(action, form));
    }
  });

  test(`SE-04: ${action} does nothing with the token of another form`, async () => {
    const at = await sender(action);
    const { hidden } = formOf((await open(at)).text, action);
    const tokens = new Set<string>();
    for (const [other, { page, signedIn: needs }] of oneOfEachToken) {
      if (tokenOf(other) === tokenOf(action) || (needs && cases[action]?.signedIn !== true)) continue;
      const answer = await page(at);
      const token = answer.status === 200 ? /name="form_token" value="([^"]*)"/.exec(answer.text)?.[1] : undefined;
      if (other === '/logout') tokens.add(formOf(answer.text, '/logout').hidden['form_token'] ?? '');
      // A page that asks for a fresh proof first has no such form.
      else if (token !== undefined && answer.text.includes(`action="${other}"`))
        tokens.add(formOf(answer.text, other).hidden['form_token'] ?? '');
    }
    tokens.delete(hidden['form_token'] ?? '');
    for (const form_token of tokens) {
      await assertUnchanged(() => at.browser.post(action, { ...hidden, ...fields(at.user), form_token }));
    }
    assert.ok(tokens.size > 0);
  });

  test(`SE-04: ${action} reads forms alone, and a GET changes nothing`, async () => {
    const at = await sender(action);
    const { hidden } = formOf((await open(at)).text, action);
    const form = { ...hidden, ...fields(at.user) };
    for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'application/xml']) {
      const status = takesFiles === true && type.startsWith('multipart/') ? 400 : 415;
      assertStaysHere(await assertUnchanged(() => at.browser.post(action, form, { 'content-type': type })), status);
    }
    await assertUnchanged(() => at.browser.get(`${action}?${new URLSearchParams(form)}`));
  });
}

test('SE-04: a form of one session is nothing in the next one of the same browser', async () => {
  const at = await sender('/account/password');
  const { hidden } = formOf((await security(at)).text, '/account/sign-out-everywhere');
  await at.browser.submit(await account(at), {}, '/logout');
  const second = await newUser(server);
  const login = await at.browser.get('/login');
  await at.browser.submit(login, { identifier: second.username, password: PASSWORD });
  for (const [action, { fields }] of Object.entries(cases)) {
    if (action.startsWith('/account/'))
      await assertUnchanged(() => at.browser.post(action, { ...hidden, ...fields(second) }));
  }
});

test('SE-04: without a session every form of the account redirects to the sign-in page', async () => {
  const browser = agent(server.baseUrl);
  for (const action of Object.keys(cases).filter((path) => path.startsWith('/account/'))) {
    const answer = await assertUnchanged(() => browser.post(action, { form_token: 'x' }));
    assert.deepEqual([answer.status, answer.location?.pathname], [303, '/login']);
  }
});
