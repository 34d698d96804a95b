// store: SQLite, PostgreSQL with --all
/** Every route of the account that asks for a fresh proof, and what counts as one: decisions §11. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Route, startRouted } from '../security/routes.ts';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import { admin, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { newPasskey, passkeyOptions, usePasskey } from '../support/passkeys.ts';
import { enroll } from '../support/second-factor.ts';
import type { SoftAuthenticator } from '../support/soft-authenticator.ts';

const server = await startRouted({ TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off' });
after(() => server.close());

/** A person who has every factor, in a session that began with the password alone. */
interface Person {
  readonly user: TestUser;
  readonly browser: Agent;
  readonly passkey: SoftAuthenticator;
}

async function person(): Promise<Person> {
  const user = await newUser(server, { emailVerified: true });
  const browser = await signedIn(server, user);
  await enroll(server, user);
  return { user, browser, passkey: await newPasskey(server, user.id) };
}

type Fields = Readonly<Record<string, string>>;

interface ProvedRoute {
  /** Where the person continues after the proof. */
  readonly next: string;
  /** What is sent, each time with the token of a form. */
  readonly forms?: readonly ((person: Person) => Fields)[];
  /** What the route answers with a proof, in the order of the forms. */
  readonly answers: readonly number[];
}

/** Every route that asks for a proof. */
const PROVED: Readonly<Record<string, ProvedRoute>> = {
  'POST /account/username': { next: 'username', forms: [() => ({ username: 'another-name' })], answers: [200] },
  'POST /account/deletion': { next: 'deletion', forms: [() => ({ confirm: 'yes' })], answers: [200] },
  'POST /account/data/export': { next: 'export', answers: [303] },
  // There is no export yet.
  'POST /account/data/export/download': { next: 'export', forms: [() => ({ file: 'data' })], answers: [409] },
  'POST /account/email': { next: 'email', forms: [() => ({ email: 'another@example.com' })], answers: [200] },
  // There is no earlier address.
  'POST /account/email/earlier': {
    next: 'email',
    forms: [() => ({ address: 'former@example.com' })],
    answers: [403],
  },
  'POST /account/trusted-browsers': { next: 'trusted-browsers', answers: [303] },
  'POST /account/password': {
    next: 'password',
    forms: [() => ({ current: PASSWORD, password: 'another good password' })],
    answers: [200],
  },
  // They are in no organization.
  'POST /account/organization/leave': { next: 'organization', forms: [() => ({ organization: '1' })], answers: [409] },
  'POST /account/security/remove-password': { next: 'passkeys', answers: [200] },
  'GET /account/security/passkeys/new': { next: 'passkeys', answers: [200] },
  'POST /account/security/passkeys': {
    next: 'passkeys',
    forms: [
      () => ({ action: 'add', passkey: 'not a passkey' }),
      ({ passkey: { id } }) => ({ action: 'rename', id, name: 'Another name' }),
      ({ passkey: { id } }) => ({ action: 'remove', id }),
    ],
    answers: [400, 200, 200],
  },
  'GET /account/security/authenticator': { next: 'authenticator', answers: [200] },
  'POST /account/security/authenticator/remove': { next: 'two-step', answers: [200] },
  'POST /account/security/recovery-codes': { next: 'two-step', answers: [200] },
  // There is no such provider, and nothing is connected.
  'GET /account/security/connect/:name': { next: 'connect', answers: [404] },
  'POST /account/security/connect/:name/confirm': { next: 'connect', answers: [400] },
  'POST /account/security/disconnect': { next: 'upstreams', answers: [409] },
  'POST /account/security/recovery': { next: 'recovery', forms: [() => ({ require: 'yes' })], answers: [200] },
};

/** Every other route: pages, and what harms nobody or proves something by itself. */
const NOT_PROVED: readonly string[] = [
  ...[
    '',
    '/activity',
    '/connections',
    '/connections/:clientId',
    '/data',
    '/data/export',
    '/email',
    '/organization',
    '/security',
    '/sessions',
  ].map((page) => `GET /account${page}`),
  // These are the proof itself.
  ...['GET /account/confirm', 'GET /account/confirm/again', 'GET /account/confirm/with/:name'],
  ...['GET /account/confirm/passkey', 'POST /account/confirm'],
  // What ends access.
  ...[
    'POST /account/connections',
    'POST /account/connections/:clientId',
    'POST /account/sessions',
    'POST /account/sign-out-everywhere',
  ],
  // What others see of the person, and what the browser remembers.
  ...['POST /account/profile', 'POST /account/picture', 'POST /account/passkey-offer'],
  // The person's own address, and the code of a change that was asked for with a proof.
  ...['POST /account/email/verify', 'POST /account/email/code'],
  // The identity that this browser has just brought back from the provider, after a proof; its form asks for one again.
  'GET /account/security/connect/:name/confirm',
  // It leads to the page that asked for a proof.
  'GET /account/security/connect',
  // The form has what the page gave after a proof.
  'POST /account/security/authenticator',
];

const nameOf = ({ method, url }: Route): string => `${method} ${url}`;

test('each route of the account is known to ask for a proof or not to', () => {
  const found = server.routes
    .filter(({ method, url }) => method !== 'HEAD' && /^\/account(\/|$)/.test(url))
    .map(nameOf);
  // A new route belongs to one of the two lists above.
  assert.deepEqual(found.sort(), [...Object.keys(PROVED), ...NOT_PROVED].sort());
});

/** Sends what a route takes, with the token that the forms of the account have. */
async function send({ browser }: Person, route: string, fields: Fields): Promise<Answer> {
  const [method, path = ''] = route.split(' ');
  if (method === 'GET') return browser.get(path, { accept: '*/*' });
  const { hidden } = formOf((await browser.get('/account/security')).text, '/account/sign-out-everywhere');
  return browser.post(path, { ...hidden, ...fields });
}

const isAsked = ({ location }: Answer): boolean => location?.pathname === '/account/confirm';
const eventsOf = async ({ user }: Person) => (await admin(server, 'GET', `/audit-events?userId=${user.id}`)).body.items;

for (const [route, { next, forms = [() => ({})], answers }] of Object.entries(PROVED)) {
  test(`${route} asks for a fresh proof, and does nothing before it`, async () => {
    const without = await person();
    const before = await eventsOf(without);
    for (const fields of forms) {
      const answer = await send(without, route, fields(without));
      assert.ok(isAsked(answer), `${answer.status} ${answer.text}`);
      assert.equal(answer.location?.searchParams.get('next'), next);
    }
    assert.deepEqual(await eventsOf(without), before);

    const { user, passkey } = await person();
    const browser = agent(server.baseUrl);
    assert.equal((await usePasskey(browser, passkey)).status, 303);
    const proved = { user, passkey, browser };
    for (const [index, fields] of forms.entries()) {
      const answer = await send(proved, route, fields(proved));
      assert.equal(isAsked(answer), false);
      assert.equal(answer.status, answers[index], answer.text);
    }
  });
}

test('a passkey proves who is at the browser in the session that asked for it, and in no other', async () => {
  const { user, browser, passkey } = await person();
  const CONFIRM = '/account/confirm';
  await browser.get(`${CONFIRM}?next=email`);
  const response = passkey.use(await passkeyOptions(browser, `${CONFIRM}/passkey`));
  await browser.submit(await browser.get('/account'), {}, '/logout');

  // The same person in the same browser, by the password and a recovery code.
  const { recoveryCodes } = await enroll(server, user);
  const typed = { identifier: user.username, password: PASSWORD };
  await browser.submit(await browser.get('/login'), typed, '/login');
  const code = { code: recoveryCodes[0] ?? '', with: 'recovery-code' };
  assert.equal((await browser.submit(await browser.get('/login/verify'), code, '/login/verify')).status, 303);
  const page = await browser.get(`${CONFIRM}?next=email`);
  assert.equal((await browser.submit(page, { passkey: response }, CONFIRM)).status, 400);
  assert.equal((await browser.get(`${CONFIRM}?next=email`)).status, 200, 'still asked');

  const own = passkey.use(await passkeyOptions(browser, `${CONFIRM}/passkey`));
  assert.equal((await browser.submit(page, { passkey: own }, CONFIRM)).status, 303);
});
