// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { TYPED } from '../../src/web/sign-in/draft.ts';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import { newProviderRecord } from '../support/connected-identity.ts';
import { admin, newClient, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { HOUR } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

/*
 * What was typed into a form when the session ended, or when a proof was asked for, comes back to the person. Nobody else may decide what
 * they find there: not by a form of another site, and not by a link.
 */

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_CONSOLE_SECOND_FACTOR: 'off',
  TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off',
});
after(() => server.close());
const subject = await newUser(server);
const app = await newClient(server);
const provider = await newProviderRecord(server);
const organization = (await admin(server, 'POST', '/organizations', { name: 'kept', domain: 'kept.example' })).body;
await admin(server, 'PUT', `/organizations/${organization.id}/members/${subject.id}`, {});

/** What is typed in these tests: it occurs nowhere else. */
const CANARY = 'kanarya-5521';

/** Each form whose text is kept: its page, the fields that say what it acts on, and a field with what is typed into it. */
const FORMS: Readonly<Record<string, { page?: string; typed: Readonly<Record<string, string>>; shown?: RegExp }>> = {
  '/account/profile': { page: '/account', typed: { about: CANARY } },
  '/account/email': { typed: { email: `${CANARY}@example.com` } },
  '/account/username': { page: '/account', typed: { username: CANARY } },
  '/console/people/suspend': { page: `/console/people/suspend?id=${subject.id}`, typed: { reason: CANARY } },
  '/console/people/ban': {
    page: `/console/people/ban?id=${subject.id}`,
    typed: { reason: CANARY, until: '2031-01-01' },
  },
  '/console/people/correct': {
    page: `/console/people/correct?id=${subject.id}`,
    typed: { displayName: CANARY, email: `${CANARY}@example.com`, username: CANARY },
  },
  '/console/people/offboard': { page: `/console/people/offboard?id=${subject.id}`, typed: { reason: CANARY } },
  '/console/people/bulk/new': {
    page: '/console/people/bulk/new?act=suspend',
    typed: { names: CANARY, reason: CANARY },
  },
  '/console/organizations/create': { typed: { name: CANARY, domain: `${CANARY}.example` } },
  '/console/organizations/member': {
    page: `/console/organizations/member?id=${organization.id}&user=${subject.id}`,
    typed: { role: 'OWNER' },
    shown: /value="OWNER" selected/,
  },
  '/console/operators/grant': {
    page: `/console/operators/grant?user=${subject.id}`,
    typed: { until: '2031-01-01' },
    shown: /2031-01-01/,
  },
  '/console/invitations/new': { typed: { email: `${CANARY}@example.com` } },
  '/console/keys/new': { typed: { name: CANARY } },
  '/console/apps/new': { typed: { kind: 'web', name: CANARY, uris: `https://${CANARY}.example/cb` } },
  '/console/apps/redirect-uris': {
    page: `/console/apps/redirect-uris?app=${app.clientId}`,
    typed: { uris: `https://${CANARY}.example/cb` },
  },
  '/console/upstreams/create': { page: '/console/upstreams/create?provider=oidc', typed: { displayName: CANARY } },
  '/console/upstreams/change': { page: `/console/upstreams/change?id=${provider.id}`, typed: { displayName: CANARY } },
  '/console/upstreams/domains': {
    page: `/console/upstreams/domains?id=${provider.id}`,
    typed: { domains: `${CANARY}.example` },
  },
};

/** Each sees the pages of the account, and those of the console. */
async function newPerson(): Promise<TestUser> {
  const user = await newUser(server, { emailVerified: true });
  assert.equal((await admin(server, 'PUT', `/users/${user.id}/roles/owner`, {})).status, 200);
  return user;
}

interface At {
  readonly user: TestUser;
  readonly browser: Agent;
  /** The page as it was shown. */
  readonly page: Answer;
}

const pageOf = (address: string): string => FORMS[address]?.page ?? address;
/** Whether a page has what was typed. */
const hasTyped = (address: string, { text }: Answer): boolean =>
  (FORMS[address]?.shown ?? new RegExp(CANARY)).test(text);
const typedInto = (address: string): Readonly<Record<string, string>> => FORMS[address]?.typed ?? {};

async function atForm(address: string): Promise<At> {
  const user = await newPerson();
  const browser = await signedIn(server, user);
  const page = await browser.get(pageOf(address));
  assert.equal(page.status, 200, `${page.location} ${page.text}`);
  return { user, browser, page };
}

const endSessions = async ({ user }: At) =>
  assert.equal((await admin(server, 'DELETE', `/users/${user.id}/sessions`)).status, 204);

async function signIn(browser: Agent, { username }: TestUser): Promise<void> {
  const page = await browser.get('/login');
  const answer = await browser.submit(page, { identifier: username, password: PASSWORD }, '/login');
  assert.equal(answer.status, 303, answer.text);
}

/** Signs in, and says whether the page of the form has what was typed. */
async function findsTyped(browser: Agent, user: TestUser, address: string): Promise<boolean> {
  await signIn(browser, user);
  const page = await browser.get(pageOf(address));
  assert.equal(page.status, 200, `${page.location} ${page.text}`);
  return hasTyped(address, page);
}

/** A form as another site makes it: its browser names no origin, and the cookies come along, or do not. */
const plant = (browser: Agent, address: string, fields: Readonly<Record<string, string>>): Promise<Answer> =>
  browser.post(address, fields, { origin: 'null' });

/** The hidden fields of a form for which another person says that it was shown to this one. */
const madeOverFor = ({ id }: TestUser, hidden: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(hidden).map(([name, value]) => [name, value.replace(/\.\d+$/, `.${id}`)]));

const MADE_UP = `${'x'.repeat(43)}.${'y'.repeat(16)}`;

/** What an attacker can send, with what they type, in the name of a person who was at the form. */
const PLANTED: Readonly<Record<string, (at: At, address: string) => Promise<Record<string, string>>>> = {
  'a form without what was signed': async ({ user }) => ({ form_token: `${MADE_UP}.${user.id}` }),
  'a form with a signature that is made up': async ({ user }) => ({
    form_token: `${MADE_UP}.${user.id}`,
    kept_token: `${MADE_UP}.${user.id}`,
  }),
  'a form that was shown to the attacker': async (_at, address) => {
    const other = await atForm(address);
    return formOf(other.page.text, address).hidden;
  },
  'the same, which names the person': async ({ user }, address) => {
    const other = await atForm(address);
    return madeOverFor(user, formOf(other.page.text, address).hidden);
  },
  'what was signed for the person in another browser': async ({ user }, address) =>
    formOf((await (await signedIn(server, user)).get(pageOf(address))).text, address).hidden,
  'what was signed for another form of the person': async ({ browser }, address) => {
    const other = address === '/account/profile' ? '/account/email' : '/account/profile';
    return formOf((await browser.get(pageOf(other))).text, other).hidden;
  },
  'what was signed for another person in the same browser': async ({ user, browser }, address) => {
    const other = await newPerson();
    await browser.submit(await browser.get('/account'), {}, '/logout');
    await signIn(browser, other);
    const { hidden } = formOf((await browser.get(pageOf(address))).text, address);
    await browser.submit(await browser.get('/account'), {}, '/logout');
    return madeOverFor(user, hidden);
  },
};

test('every form whose text is kept is known here', () => {
  assert.deepEqual(Object.keys(FORMS).sort(), Object.keys(TYPED).sort());
});

for (const address of Object.keys(FORMS)) {
  describe(address, () => {
    test('what was typed when the session ended comes back to the person, and not to another one', async () => {
      for (const isOwner of [true, false]) {
        const at = await atForm(address);
        await endSessions(at);
        const sent = await at.browser.submit(at.page, typedInto(address), address);
        assert.equal(sent.location?.pathname, '/login', sent.text);
        const person = isOwner ? at.user : await newPerson();
        assert.equal(await findsTyped(at.browser, person, address), isOwner);
      }
    });

    test('what was typed when a proof is asked for comes back after it', async () => {
      const at = await atForm(address);
      server.advance(HOUR);
      const sent = await at.browser.submit(at.page, typedInto(address), address);
      // The profile is saved without one.
      if (sent.status === 200) return;
      assert.equal(sent.location?.pathname, '/account/confirm', sent.text);
      const confirm = await at.browser.get(sent.location.href);
      const proved = await at.browser.submit(confirm, { current: PASSWORD }, '/account/confirm');
      assert.equal(proved.status, 303, proved.text);
      assert.ok(hasTyped(address, await at.browser.get(pageOf(address))));
    });

    for (const [name, fields] of Object.entries(PLANTED)) {
      test(`nothing is kept of ${name}`, async () => {
        const at = await atForm(address);
        const hidden = await fields(at, address);
        await endSessions(at);
        await plant(at.browser, address, { ...hidden, ...typedInto(address) });
        assert.equal(await findsTyped(at.browser, at.user, address), false);
      });
    }

    test('nothing is kept of a form that came without the cookies of the browser', async () => {
      const at = await atForm(address);
      const { hidden } = formOf(at.page.text, address);
      const bare = agent(server.baseUrl);
      const answer = await plant(bare, address, { ...hidden, ...typedInto(address) });
      const set = answer.headers.getSetCookie().join('\n');
      assert.doesNotMatch(set, /tessera_session/, 'the person stays signed in');
      assert.equal(await findsTyped(bare, at.user, address), false);
    });

    test('a link fills in no field', async () => {
      const { browser } = await atForm(address);
      const page = pageOf(address);
      const query = new URLSearchParams({ ...typedInto(address), add: `https://${CANARY}.example/cb` });
      const answer = await browser.get(`${page}${page.includes('?') ? '&' : '?'}${query}`);
      assert.equal(answer.status, 200);
      assert.ok(!hasTyped(address, answer));
    });
  });
}
