// store: PostgreSQL, SQLite with --all
/**
 * What a thief holds of an account × the ways in which its owner or an operator takes it back: nothing of it works afterwards. Each thing
 * is first shown to work, in an account that nobody takes back.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { userHandleOf } from '../../src/account-actions/authentication/passkey.ts';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  signedIn,
  type TestClient,
  type TestUser,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { query } from '../support/outcome.ts';
import { passkeyOptions } from '../support/passkeys.ts';
import { newestMail, recover, useLink } from '../support/recovery.ts';
import { totpCode } from '../support/second-factor.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import { softAuthenticator } from '../support/soft-authenticator.ts';
import { WHOLE } from '../support/whole.ts';

const MINUTE = 60_000;
const OFF = [
  'MAIL_ADDRESS',
  'MAIL_RECIPIENT',
  'SIGN_IN_ADDRESS',
  'SESSION_ACCOUNT',
  'FORM_ACCOUNT',
  'CODE_ACCOUNT',
  'EXPORT_ACCOUNT',
];
const server = spread(
  await startServer(
    {
      TESSERA_MAILBOX: 'on',
      TESSERA_SIGN_IN_CODE: 'on',
      ...Object.fromEntries(OFF.map((name) => [`TESSERA_LIMIT_${name}`, 'off'])),
    },
    SEVERAL,
  ),
);
after(() => server.close());

/** An account whose thief knows the password, and has moved it from the owner's address to two of their own. */
interface World {
  readonly user: TestUser;
  readonly client: TestClient;
  readonly thief: Agent;
  readonly owners: string;
  readonly first: string;
  readonly present: string;
}

const browserOf = (): Agent => agent(server.baseUrl, server.nodeInTurn);
const submitTo = async (browser: Agent, page: string, fields = {}, action = page): Promise<Answer> =>
  browser.submit(await browser.get(page), fields, action);
const linkOf = async (address: string, kind: string): Promise<string> =>
  (await newestMail(server, address, kind)).link ?? '';
const press = async (browser: Agent, link: string): Promise<Answer> => {
  const page = await browser.get(link);
  return page.status === 200 && page.text.includes('name="token"') ? browser.submit(page, {}) : page;
};

let names = 0;
const freshAddress = (whose: string): string => `${whose}-${++names}@example.com`;

async function moveTo(browser: Agent, email: string): Promise<void> {
  server.advance(MINUTE);
  assert.equal((await submitTo(browser, '/account/email', { email })).status, 200);
  assert.equal((await press(browser, await linkOf(email, 'address change'))).status, 200);
}

async function makeWorld(): Promise<World> {
  const user = await newUser(server, { emailVerified: true });
  const owners = (await admin(server, 'GET', `/users/${user.id}`)).body.email;
  const client = await newClient(server);
  const thief = await signedIn(server, user);
  const [first, present] = [freshAddress('thief'), freshAddress('thief')];
  await moveTo(thief, first);
  await moveTo(thief, present);
  // Apps keep a consent, so that a request goes on without a page.
  await tokensFor(server, client, user, {}, { browser: thief });
  return { user, client, thief, owners, first, present };
}

/** Everything of an account that something a thief holds could change. */
const stateOf = async ({ user }: World): Promise<unknown> => {
  const { id } = user;
  const count = (table: string) => `(SELECT count(*) FROM ${table} WHERE account_id = a.id)`;
  const tables = ['passkey', 'totp_secret', 'recovery_code', 'browser_session', 'authorization_code', 'token_family'];
  const counts = tables.map((table) => `${count(table)} AS ${table}`).join(', ');
  const [row] = await query(
    server,
    `SELECT email, email_verified, password_hash, generation, about, ${counts} FROM account a WHERE a.id = ?`,
    id,
  );
  return { ...row };
};

/** Gets hold of something. @returns a function that uses it, and tells whether it is still good, if its effect does not show that */
type Hold = (world: World) => Promise<() => Promise<unknown>>;

/** With an authenticator app of a thief, its owner cannot sign in. */
const CODES = 'recovery codes and an authenticator app';

/** Gives an app access, as the person in this browser. */
async function newClientWith(user: TestUser, browser: Agent): Promise<TestClient> {
  const client = await newClient(server);
  await tokensFor(server, client, user, {}, { browser });
  return client;
}

const HOLDS: Readonly<Record<string, Hold>> = {
  'a session':
    async ({ thief }) =>
    async () =>
      (await thief.get('/account')).status === 200,
  'a session in another browser': async ({ user }) => {
    const browser = await signedIn(server, user);
    return async () => (await browser.get('/account')).status === 200;
  },
  'an open form': async ({ thief }) => {
    const page = await thief.get('/account/security');
    return async () => (await thief.submit(page, {}, '/account/sign-out-everywhere')).status === 200;
  },
  'a link to another address': async ({ thief }) => {
    const email = freshAddress('next');
    await submitTo(thief, '/account/email', { email });
    const link = await linkOf(email, 'address change');
    return () => press(thief, link);
  },
  'a code to another address': async ({ thief }) => {
    const email = freshAddress('next');
    await submitTo(thief, '/account/email', { email });
    const { code } = await newestMail(server, email, 'address change');
    const { hidden } = formOf((await thief.get('/account/email')).text, '/account/email/code');
    return () => thief.post('/account/email/code', { ...hidden, code: code ?? '' });
  },
  'a sign-in code': async ({ user, present }) => {
    const browser = browserOf();
    await submitTo(browser, '/login/code', { identifier: user.username });
    await server.sendRequestedMail();
    const { code } = await newestMail(server, present, 'sign-in code');
    const page = await browser.get('/login/code/enter');
    return () => browser.submit(page, { sent_code: code ?? '' }, '/login/code/enter');
  },
  'a recovery link': async ({ user, present }) => {
    const browser = browserOf();
    await submitTo(browser, '/recover', { identifier: user.username });
    await server.sendRequestedMail();
    const link = await linkOf(present, 'recovery');
    return () => useLink(browser, link, 'the password of a thief');
  },
  'an open recovery page': async ({ user, present }) => {
    const browser = browserOf();
    await submitTo(browser, '/recover', { identifier: user.username });
    await server.sendRequestedMail();
    const page = await browser.get(await linkOf(present, 'recovery'));
    return () => browser.submit(page, { password: 'the password of a thief' }, '/recover/link');
  },
  'a recovery code by mail': async ({ user, present }) => {
    const browser = browserOf();
    await submitTo(browser, '/recover', { identifier: user.username });
    await server.sendRequestedMail();
    const { code } = await newestMail(server, present, 'recovery');
    const page = await browser.get('/recover/code');
    return async () => {
      const answer = await browser.submit(page, { sent_code: code ?? '' }, '/recover/code');
      return answer.location !== undefined && (await browser.get(answer.location.href)).status === 200;
    };
  },
  'an authenticator app half set up': async ({ thief }) => {
    const page = await thief.get('/account/security/authenticator');
    const seed = /secret=([A-Z2-7]{32})/.exec(page.text)?.[1] ?? '';
    return () => thief.submit(page, { code: totpCode({ seed }, server.now()) }, '/account/security/authenticator');
  },
  'a passkey half set up': async ({ thief, user }) => {
    const address = '/account/security/passkeys';
    const { hidden } = formOf((await thief.get('/account/security')).text, address);
    const created = softAuthenticator(server.baseUrl, userHandleOf(user.id));
    const passkey = created.create(await passkeyOptions(thief, `${address}/new`));
    return () => thief.post(address, { ...hidden, action: 'add', passkey });
  },
  'a report link': async ({ user, present }) => {
    // Another sign-in is reported to the present address.
    await signedIn(server, user);
    const link = await linkOf(present, 'security notice');
    return () => press(browserOf(), link);
  },
  'a right to undo': async ({ first }) => {
    const link = (await mailsTo(server, first)).find((mail) => mail.link?.includes('/undo-address-change'))?.link ?? '';
    return () => press(browserOf(), link);
  },
  'an open undo page': async ({ first }) => {
    const link = (await mailsTo(server, first)).find((mail) => mail.link?.includes('/undo-address-change'))?.link ?? '';
    const browser = browserOf();
    const page = await browser.get(link);
    return () => browser.submit(page, {});
  },
  'a reserved address':
    async ({ first }) =>
    async () => {
      const other = await newUser(server, { emailVerified: true });
      return (await admin(server, 'PATCH', `/users/${other.id}`, { email: first })).status === 409;
    },
  'an authorization code': async ({ client, user, thief }) => {
    const code = await codeFor(server, client, user, {}, { browser: thief });
    return async () => (await redeem(server, client, code)).status === 200;
  },
  tokens: async ({ client, user, thief }) => {
    const tokens = await tokensFor(server, client, user, {}, { browser: thief });
    return async () =>
      (await userinfo(server, tokens.access_token)).status === 200 ||
      (await refresh(server, client, tokens.refresh_token)).status === 200;
  },
  'an open consent page': async ({ thief }) => {
    const other = await newClient(server);
    const { location } = await thief.get(authorizeUrl(other));
    const page = await thief.get(location?.href ?? '');
    return async () => {
      const answer = await thief.submit(page, { decision: 'allow' }, '/consent');
      return answer.location?.searchParams.has('code') === true;
    };
  },
  'a consent for an app': async ({ user, thief }) => {
    const { clientId } = await newClientWith(user, thief);
    return async () => {
      const { items } = (await admin(server, 'GET', `/users/${user.id}/connections`)).body;
      return items.some((connection: { clientId: string }) => connection.clientId === clientId);
    };
  },
  'a membership of an organization': async ({ user, thief }) => {
    const name = `organization-${++names}`;
    const { id } = await byOperator('POST', '/organizations', { name, domain: `${name}.example` });
    const { link } = await byOperator('POST', '/invitations', { organizationId: id });
    assert.equal((await thief.submit(await thief.get(link), {}, '/invitation')).status, 200);
    return async () => {
      const { members } = (await admin(server, 'GET', `/organizations/${id}`)).body;
      return members.some(({ userId }: { userId: string }) => userId === user.id);
    };
  },
  'a deletion that was asked for': async ({ user, thief }) => {
    assert.equal((await submitTo(thief, '/account/data', { confirm: 'yes' }, '/account/deletion')).status, 200);
    return async () => (await admin(server, 'GET', `/users/${user.id}`)).body.deletion !== null;
  },
  [CODES]: async ({ user, thief }) => {
    const path = '/account/security/authenticator';
    const page = await thief.get(path);
    const seed = /secret=([A-Z2-7]{32})/.exec(page.text)?.[1] ?? '';
    assert.equal((await thief.submit(page, { code: totpCode({ seed }, server.now()) }, path)).status, 200);
    return async () => {
      const factors = ['recovery_code', 'totp_secret']
        .map((table) => `SELECT account_id FROM ${table}`)
        .join(' UNION ');
      return (await query(server, `SELECT * FROM (${factors}) AS f WHERE account_id = ?`, user.id)).length > 0;
    };
  },
  'a copy of the data': async ({ thief }) => {
    const path = '/account/data/export';
    await submitTo(thief, path);
    await server.makeExports();
    const page = await thief.get(path);
    return async () => (await thief.submit(page, { file: 'data' }, `${path}/download`)).status === 200;
  },
};

/** With these, nobody decides about the address: a right to undo its change outlives them, whose ever it is. */
const KEPT_RIGHTS = ['a right to undo', 'an open undo page', 'a reserved address'];
/** What the account was given is removed where it comes back to its owner. A ban or a new password decides nothing about it. */
const GIVEN = ['a consent for an app', 'a membership of an organization', 'a deletion that was asked for', CODES];

interface Way {
  readonly decidesAddress: boolean;
  /** Whether the owner signs in for it. */
  readonly signsIn?: boolean;
  readonly act: (world: World) => Promise<unknown>;
}
const ofAddress = (act: Way['act']): Way => ({ decidesAddress: true, act });
const bySigningIn = (act: Way['act']): Way => ({ ...ofAddress(act), signsIn: true });
const other = (act: Way['act']): Way => ({ decidesAddress: false, act });
const byOperator = async (method: string, path: string, body?: object): Promise<JsonBody> => {
  const answer = await admin(server, method, path, body);
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer.body;
};
type JsonBody = Awaited<ReturnType<typeof admin>>['body'];

async function returnByForm({ user, owners }: World): Promise<void> {
  const browser = browserOf();
  const page = await browser.get('/login');
  const { location } = await browser.submit(page, { identifier: user.username, password: PASSWORD });
  // An account that waits for its deletion.
  if (location?.pathname === '/login/come-back') await submitTo(browser, '/login/come-back');
  await moveTo(browser, owners);
}

const WAYS: Readonly<Record<string, Way>> = {
  'the owner goes back to the earlier address': bySigningIn(returnByForm),
  'the owner undoes the change': ofAddress(async ({ owners }) => {
    const found = (await mailsTo(server, owners)).find((mail) => mail.link?.includes('/undo-address-change'));
    assert.equal((await press(browserOf(), found?.link ?? '')).status, 200);
  }),
  'the owner goes back and reports the thief': bySigningIn(async (world) => {
    await returnByForm(world);
    await signedIn(server, world.user);
    assert.equal((await press(browserOf(), await linkOf(world.owners, 'security notice'))).status, 200);
  }),
  'the owner goes back and recovers the account': bySigningIn(async (world) => {
    await returnByForm(world);
    await recover(server, world.owners, 'another password of the owner', browserOf());
  }),
  'an operator sets the address': ofAddress(({ user, owners }) =>
    byOperator('PATCH', `/users/${user.id}`, { email: owners, emailVerified: true }),
  ),
  'an operator gives the address back with a recovery link': ofAddress(({ user, owners }) =>
    byOperator('POST', `/users/${user.id}/recovery-link`, { address: owners }),
  ),
  'an operator makes a recovery link, which the owner uses': ofAddress(async ({ user, owners }) => {
    const { url } = await byOperator('POST', `/users/${user.id}/recovery-link`, { address: owners });
    assert.equal((await useLink(browserOf(), url, 'another password of the owner')).status, 200);
  }),
  'an operator bans the account, and ends the ban': other(async ({ user }) => {
    await byOperator('PUT', `/users/${user.id}/ban`, {});
    await byOperator('DELETE', `/users/${user.id}/ban`);
  }),
  'an operator suspends the account, and reinstates it': other(async ({ user }) => {
    await byOperator('PUT', `/users/${user.id}/suspension`, {});
    await byOperator('DELETE', `/users/${user.id}/suspension`);
  }),
  'an operator sets a password': other(({ user }) =>
    byOperator('PATCH', `/users/${user.id}`, { password: 'a password of the operator' }),
  ),
  'an operator signs the account out everywhere': other(({ user }) =>
    byOperator('DELETE', `/users/${user.id}/sessions`),
  ),
};

/** Whether what a thief holds still does anything. */
async function works(world: World, use: () => Promise<unknown>): Promise<boolean> {
  const before = await stateOf(world);
  const told = await use();
  return told === true || JSON.stringify(before) !== JSON.stringify(await stateOf(world));
}

describe('what a thief may hold works while nobody takes the account back', () => {
  for (const [what, hold] of Object.entries(HOLDS)) {
    test(what, async () => {
      const world = await makeWorld();
      assert.ok(await works(world, await hold(world)));
    });
  }
});

for (const [n, [how, { decidesAddress, signsIn = false, act }]] of Object.entries(WAYS).entries()) {
  test(`once ${how}, nothing that the thief holds works`, async () => {
    const held = Object.entries(HOLDS)
      // What several nodes add to it shows in a third of the pairs.
      .filter((_, index) => WHOLE || SEVERAL === 1 || (n + index) % 3 === 0)
      .filter(([what]) => decidesAddress || !(KEPT_RIGHTS.includes(what) || GIVEN.includes(what)))
      .filter(([what]) => what !== CODES || !signsIn);
    // What replaces another of its kind, or uses a limit, is held in an account of its own.
    const alive: string[] = [];
    for (const [what, hold] of held) {
      const world = await makeWorld();
      const use = await hold(world);
      server.advance(MINUTE);
      await act(world);
      if (await works(world, use)) alive.push(what);
    }
    assert.deepEqual(alive, []);
  });
}
