// store: PostgreSQL, SQLite with --all
/**
 * What people send about how they sign in and get back in, held right before it commits, while something ends what it rests on and
 * has returned: decisions §§5, 11, RC-05, AC-08. Nothing may come of it then.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { userHandleOf } from '../../src/account-actions/authentication/passkey.ts';
import { issueRecoveryCodes, prepareRecoveryCodes } from '../../src/account-actions/authentication/recovery-code.ts';
import { insertPreviousAddress } from '../../src/accounts/previous-address-store.ts';
import { openCore } from '../../src/core.ts';
import {
  type ChallengePurpose,
  createChallenge,
  prepareChallenge,
  type SentChallenge,
} from '../../src/mail/challenges.ts';
import { digest } from '../../src/platform/crypto/secrets.ts';
import type { Work } from '../../src/platform/database/database.ts';
import { many } from '../../src/platform/database/statement.ts';
import { readConfig } from '../../src/settings/config.ts';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  newClient,
  newUser,
  PASSWORD,
  signedIn,
  type TestUser,
  tokensFor,
} from '../support/flow.ts';
import { holdCommits } from '../support/held-commits.ts';
import { takeAccountLock } from '../support/other-writer.ts';
import { HOUR, MINUTE, query } from '../support/outcome.ts';
import { newPasskeyAt, passkeyOptions } from '../support/passkeys.ts';
import { atSecondStep, enrollAt, totpCode } from '../support/second-factor.ts';
import { SEVERAL, startServer } from '../support/server.ts';
import { softAuthenticator } from '../support/soft-authenticator.ts';
import { WHOLE } from '../support/whole.ts';

const commits = holdCommits();
const off = Object.fromEntries(
  ['SIGN_IN_ADDRESS', 'MAIL_ADDRESS', 'MAIL_RECIPIENT'].map((name) => [`TESSERA_LIMIT_${name}`, 'off']),
);
const server = await startServer({ TESSERA_MAILBOX: 'on', TESSERA_SIGN_IN_CODE: 'on', ...off }, SEVERAL, undefined, {
  database: commits.database,
});
const core = await openCore(readConfig(server.environment), server.now);
after(async () => {
  await core.close();
  await server.close();
});
const sealer = await core.sealer();
const app = await newClient(server);
const strictApp = await newClient(server, { requireSecondFactor: true });
// Its first use is recorded in a commit of its own.
await tokensFor(server, app, await newUser(server));

const OTHER_PASSWORD = 'a wholly other password';
/** On PostgreSQL, another node than the one that ends something serves what is under way. */
const newBrowser = (): Agent => agent(server.baseUrl, () => server.nodes.at(-1) ?? server.baseUrl);

/** A person, and the links that were sent to them. */
interface Person extends TestUser {
  readonly email: string;
  readonly generation: string;
  /** Signed in, at the first node. */
  readonly other: Agent;
  /** The secrets of "This was not me", and of the undo of a change of address. */
  readonly report: SentChallenge;
  readonly undo: SentChallenge;
}

async function newPerson(fields = {}): Promise<Person> {
  const user = await newUser(server, { emailVerified: true, ...fields });
  const other = await signedIn(server, user);
  const [row] = await query(server, 'SELECT generation, email FROM account WHERE id = ?', user.id);
  const person = { ...user, other, email: String(row?.['email']), generation: String(row?.['generation']) };
  const now = server.now();
  const data = { notice: 'new device', facts: {}, at: now, since: now };
  const report = await challenge(person, 'secure account', null, data);
  const undo = prepareChallenge();
  const email = `former-${person.email}`;
  const previous = {
    hash: undo.hash,
    accountId: user.id,
    email,
    changedAt: now,
    factorsSince: now,
    standing: 'right' as const,
    provedBy: null,
    passkeys: [],
  };
  await core.database.commit(() => insertPreviousAddress({ ...previous, expiresAt: now + HOUR }));
  return { ...person, report, undo };
}

async function challenge(
  { id, generation, email }: Pick<Person, 'id' | 'generation' | 'email'>,
  purpose: ChallengePurpose,
  browser: Agent | null,
  given?: object,
): Promise<SentChallenge> {
  const sent = prepareChallenge();
  const browserHash = browser === null ? null : digest(browser.cookie('tessera_browser') ?? '');
  // What was asked for in a session ends with it.
  const session = digest(browser?.cookie('tessera_session') ?? '');
  const [asked] = await query(server, 'SELECT sid FROM browser_session WHERE hash = ?', session);
  const data = given === undefined ? undefined : { ...given, ...(asked !== undefined && { sid: asked['sid'] }) };
  const fresh = { purpose, account: { id, generation }, address: email, browserHash, data, lifetime: 15 * MINUTE };
  await core.database.commit(() => createChallenge(sealer, sent, fresh, server.now()));
  return sent;
}

const enroll = (person: TestUser) => enrollAt(core, person.id, server.now());
const addPasskey = ({ id }: TestUser) => newPasskeyAt(server.baseUrl, core.database, id, server.now());

/** Sends a form of a page with a header, later. */
async function formAt(browser: Agent, page: string, action: string, fields: Readonly<Record<string, string>>) {
  const { hidden } = formOf((await browser.get(page)).text, action);
  return (header: Readonly<Record<string, string>>) => browser.post(action, { ...hidden, ...fields }, header);
}

interface Prepared {
  readonly browser: Agent;
  send(header: Readonly<Record<string, string>>): Promise<Answer>;
}

async function inSession(
  person: Person,
  page: string,
  action: string,
  fields: Readonly<Record<string, string>> | ((browser: Agent) => Promise<Readonly<Record<string, string>>>) = {},
): Promise<Prepared> {
  const browser = newBrowser();
  await browser.submit(await browser.get('/login'), { identifier: person.username, password: PASSWORD }, '/login');
  const values = typeof fields === 'function' ? await fields(browser) : fields;
  return { browser, send: await formAt(browser, page, action, values) };
}

const SECURITY = '/account/security';
const PASSKEYS = `${SECURITY}/passkeys`;
const AUTHENTICATOR = `${SECURITY}/authenticator`;

async function atVerify(person: Person, fields: Readonly<Record<string, string>>): Promise<Prepared> {
  const { browser, page } = await atSecondStep(server, person, newBrowser());
  const { hidden } = formOf(page.text, '/login/verify');
  return { browser, send: (header) => browser.post('/login/verify', { ...hidden, ...fields }, header) };
}

async function signInTrusted(person: Person): Promise<Prepared> {
  const code = totpCode(await enroll(person), server.now());
  return atVerify(person, { code, with: 'app', trust: 'on' });
}

async function atRecovery(
  person: Person,
  purpose: ChallengePurpose,
  form: (browser: Agent, sent: SentChallenge) => ReturnType<typeof formAt>,
): Promise<Prepared> {
  const browser = newBrowser();
  await browser.get('/recover');
  const sent = await challenge(person, purpose, purpose === 'recover' ? browser : null, {});
  return { browser, send: await form(browser, sent) };
}

async function atLink(path: string, { link }: SentChallenge, fields = {}): Promise<Prepared> {
  const browser = newBrowser();
  return { browser, send: await formAt(browser, `${path}?token=${link}`, path, fields) };
}

/** An app's request, which has no browser. */
function atToken(proof: { readonly code: string } | { readonly refresh_token: string }): Prepared {
  const { clientId: client_id, clientSecret: client_secret, redirectUri: redirect_uri } = app;
  const request = { client_id, client_secret, redirect_uri, ...proof };
  const grant_type = 'code' in proof ? 'authorization_code' : 'refresh_token';
  const browser = newBrowser();
  return { browser, send: (header) => browser.post('/api/v2/oauth/token', { ...request, grant_type }, header) };
}

interface Form {
  readonly prepare: (person: Person) => Promise<Prepared>;
  /** Of the account. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** What ends it; all of {@link ENDINGS} where it is left out. */
  readonly endings?: readonly string[];
}

/** Events that end the undo of a change of address, which outlives generations, bans and suspensions. */
const ENDS_UNDO = [
  'an undone change of address',
  'going back to an earlier address',
  'another address by an operator',
  'a recovery',
  'a deletion by an operator',
];
/** A person whose account waits for its deletion has no session. */
const WITHOUT_SESSION = [
  'a ban',
  'a suspension',
  ...ENDS_UNDO.filter((ending) => ending !== 'going back to an earlier address'),
  '“This was not me”',
  'signing out everywhere by an operator',
];

/** What ends an account whose address was not changed. */
const WITHOUT_UNDO = [
  ...WITHOUT_SESSION.filter((ending) => ending !== 'an undone change of address'),
  'another password',
  'signing out everywhere',
  'a request for deletion',
];

const FORMS: Readonly<Record<string, Form>> = {
  'adding an authenticator app': {
    async prepare(person) {
      const { browser } = await inSession(person, SECURITY, '/account/password');
      const page = await browser.get(AUTHENTICATOR);
      const seed = /secret=([A-Z2-7]{32})/.exec(page.text)?.[1] ?? '';
      const { hidden } = formOf(page.text, AUTHENTICATOR);
      const fields = { ...hidden, code: totpCode({ seed }, server.now()) };
      return { browser, send: (header) => browser.post(AUTHENTICATOR, fields, header) };
    },
  },
  'adding an authenticator app that an app requires': {
    async prepare(person) {
      const { browser } = await inSession(person, SECURITY, '/account/password');
      const asked = await browser.get(authorizeUrl(strictApp, { scope: 'openid' }));
      const page = await browser.get(asked.location?.href ?? '');
      const seed = /secret=([A-Z2-7]{32})/.exec(page.text)?.[1] ?? '';
      const { action, hidden } = formOf(page.text, '/login/enroll');
      const fields = { ...hidden, code: totpCode({ seed }, server.now()) };
      return { browser, send: (header) => browser.post(action, fields, header) };
    },
  },
  'removing the authenticator app': {
    async prepare(person) {
      const prepared = await inSession(person, SECURITY, '/account/password');
      await enroll(person);
      return { ...prepared, send: await formAt(prepared.browser, SECURITY, `${AUTHENTICATOR}/remove`, {}) };
    },
  },
  'new recovery codes': {
    async prepare(person) {
      const prepared = await inSession(person, SECURITY, '/account/password');
      await enroll(person);
      return { ...prepared, send: await formAt(prepared.browser, SECURITY, `${SECURITY}/recovery-codes`, {}) };
    },
  },
  'asking for a recovery code beside each link': {
    async prepare(person) {
      const codes = prepareRecoveryCodes(sealer, person.id);
      await addPasskey(person);
      await core.database.commit(() => issueRecoveryCodes(codes, person.id, server.now()));
      return inSession(person, SECURITY, `${SECURITY}/recovery`);
    },
  },
  'adding a passkey': {
    prepare: (person) =>
      inSession(person, SECURITY, PASSKEYS, async (browser) => ({
        action: 'add',
        passkey: softAuthenticator(server.baseUrl, userHandleOf(person.id)).create(
          await passkeyOptions(browser, `${PASSKEYS}/new`),
        ),
      })),
  },
  'removing a passkey': {
    async prepare(person) {
      const { id } = await addPasskey(person);
      return inSession(person, SECURITY, PASSKEYS, { action: 'remove', id });
    },
  },
  'renaming a passkey': {
    async prepare(person) {
      const { id } = await addPasskey(person);
      return inSession(person, SECURITY, PASSKEYS, { action: 'rename', id, name: 'Renamed' });
    },
  },
  'removing the password': {
    async prepare(person) {
      await addPasskey(person);
      return inSession(person, SECURITY, `${SECURITY}/remove-password`);
    },
  },
  'asking for another address': {
    prepare: (person) => inSession(person, '/account/email', '/account/email', { email: `new-${person.email}` }),
  },
  'asking to verify the address': {
    fields: { emailVerified: false },
    prepare: (person) => inSession(person, '/account/email', '/account/email/verify'),
  },
  'the code for another address': {
    async prepare(person) {
      const { browser } = await inSession(person, SECURITY, '/account/password');
      const { code } = await challenge(person, 'change address', browser, {
        email: `new-${person.email}`,
        proof: { method: 'password', factorSince: 0 },
      });
      return { browser, send: await formAt(browser, '/account/email', '/account/email/code', { code }) };
    },
  },
  'the link for another address': {
    async prepare(person) {
      const { browser } = await inSession(person, SECURITY, '/account/password');
      const { link } = await challenge(person, 'change address', browser, {
        email: `new-${person.email}`,
        proof: { method: 'password', factorSince: 0 },
      });
      return { browser, send: await formAt(browser, `/verify?token=${link}`, '/verify', {}) };
    },
  },
  'undoing a change of address': {
    prepare: ({ undo }) => atLink('/undo-address-change', undo),
    endings: ENDS_UNDO,
  },
  '“This was not me”': { prepare: ({ report }) => atLink('/secure-account', report) },
  'the code of a recovery': {
    prepare: (person) =>
      atRecovery(person, 'recover', (browser, { code }) =>
        formAt(browser, '/recover/code', '/recover/code', { sent_code: code }),
      ),
  },
  'a recovery by link': {
    prepare: (person) =>
      atRecovery(person, 'recover', (browser, { link }) =>
        formAt(browser, `/recover/link?token=${link}`, '/recover/link', { password: OTHER_PASSWORD }),
      ),
  },
  'a recovery by link and code of an app': {
    async prepare(person) {
      const factor = totpCode(await enroll(person), server.now());
      return atRecovery(person, 'recover', (browser, { link }) =>
        formAt(browser, `/recover/link?token=${link}`, '/recover/link', { password: OTHER_PASSWORD, factor }),
      );
    },
  },
  'a recovery with a new passkey': {
    async prepare(person) {
      await addPasskey(person);
      await query(server, 'UPDATE account SET password_hash = NULL WHERE id = ?', person.id);
      return atRecovery(person, 'recover', async (browser, { link }) => {
        const options = await passkeyOptions(browser, `/recover/passkey?token=${link}`);
        const passkey = softAuthenticator(server.baseUrl, userHandleOf(person.id)).create(options);
        return formAt(browser, `/recover/link?token=${link}&with=passkey`, '/recover/link', { passkey });
      });
    },
    // A person without a password has no other one to change.
    endings: [...WITHOUT_SESSION, 'signing out everywhere', 'a request for deletion'],
  },
  'a recovery by an operator’s link': {
    async prepare(person) {
      // Where an earlier address can undo a change, no such link is made.
      await query(server, 'DELETE FROM address_change WHERE account_id = ?', person.id);
      return atRecovery(person, 'recover by operator', (browser, { link }) =>
        formAt(browser, `/recover/link?token=${link}`, '/recover/link', { password: OTHER_PASSWORD }),
      );
    },
    endings: WITHOUT_UNDO,
  },
  'a sign-in with a password': {
    async prepare({ username }) {
      const browser = newBrowser();
      const fields = { identifier: username, password: PASSWORD };
      return { browser, send: await formAt(browser, '/login', '/login', fields) };
    },
  },
  'redeeming a code': { prepare: async (person) => atToken({ code: await codeFor(server, app, person) }) },
  'refreshing a token': {
    async prepare(person) {
      const { refresh_token } = await tokensFor(server, app, person);
      return atToken({ refresh_token });
    },
  },
  'a sign-in with a code of an app, to be trusted': { prepare: signInTrusted },
  'a sign-in with a code by mail': {
    async prepare(person) {
      const browser = newBrowser();
      await browser.get('/login/code');
      const { code } = await challenge(person, 'sign in', browser);
      return { browser, send: await formAt(browser, '/login/code/enter', '/login/code/enter', { sent_code: code }) };
    },
  },
  'a sign-in with a recovery code': {
    async prepare(person) {
      const { recoveryCodes } = await enroll(person);
      return atVerify(person, { code: recoveryCodes[0] ?? '', with: 'recovery-code' });
    },
  },
  'a sign-in with a passkey as the second factor': {
    async prepare(person) {
      await enroll(person);
      const authenticator = await addPasskey(person);
      const { browser } = await atVerify(person, {});
      const passkey = authenticator.use(await passkeyOptions(browser, '/login/verify/passkey'));
      return { browser, send: await formAt(browser, '/login/verify', '/login/verify', { passkey }) };
    },
  },
  'a sign-in with a passkey': {
    async prepare(person) {
      const authenticator = await addPasskey(person);
      const browser = newBrowser();
      await browser.get('/login');
      const passkey = authenticator.use(await passkeyOptions(browser, '/login/passkey'));
      return { browser, send: await formAt(browser, '/login', '/login/passkey', { passkey }) };
    },
  },
  'no longer trusting a browser': {
    async prepare(person) {
      const { browser, send } = await signInTrusted(person);
      await send({});
      return { browser, send: await formAt(browser, '/account/sessions', '/account/trusted-browsers', {}) };
    },
  },
  'a fresh proof': {
    async prepare(person) {
      const { browser } = await inSession(person, SECURITY, '/account/password');
      const hash = digest(browser.cookie('tessera_session') ?? '');
      await query(server, 'UPDATE browser_session SET proved_at = 0 WHERE hash = ?', hash);
      const fields = { current: PASSWORD };
      return { browser, send: await formAt(browser, '/account/confirm?next=email', '/account/confirm', fields) };
    },
  },
  'another username': {
    prepare: (person) => inSession(person, '/account', '/account/username', { username: `new-${person.username}` }),
  },
  'asking for an export': {
    prepare: (person) => inSession(person, '/account/data/export', '/account/data/export'),
  },
  'downloading an export': {
    async prepare(person) {
      const asked = await formAt(person.other, '/account/data/export', '/account/data/export', {});
      assert.equal((await asked({})).status, 303);
      await server.makeExports();
      return inSession(person, '/account/data/export', '/account/data/export/download', { file: 'data' });
    },
  },
  'asking for the deletion': {
    prepare: (person) => inSession(person, '/account/data', '/account/deletion', { confirm: 'yes' }),
  },
  'coming back': {
    endings: WITHOUT_SESSION,
    async prepare(person) {
      const asked = await formAt(person.other, '/account/data', '/account/deletion', { confirm: 'yes' });
      assert.equal((await asked({})).status, 200);
      const browser = newBrowser();
      await browser.submit(await browser.get('/login'), { identifier: person.username, password: PASSWORD }, '/login');
      return { browser, send: await formAt(browser, '/login/come-back', '/login/come-back', {}) };
    },
  },
  'accepting an invitation': {
    async prepare(person) {
      const name = `of-${person.username}`;
      const organization = (await admin(server, 'POST', '/organizations', { name, domain: `${name}.example` })).body;
      const { body } = await admin(server, 'POST', '/invitations', { organizationId: organization.id });
      return inSession(person, body.link, '/invitation');
    },
  },
};

const operator = async ({ id }: Person, method: string, path = '', body?: unknown) => {
  const answer = await admin(server, method, `/users/${id}${path}`, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status}`);
  return answer.body;
};

/** Sends a form, and asserts that it was accepted. */
async function send(browser: Agent, page: string, action: string, fields: Readonly<Record<string, string>> = {}) {
  const answer = await (await formAt(browser, page, action, fields))({});
  assert.equal(answer.status, 200, answer.text);
}

/** What ends everything that an account has, from the first node. */
const ENDINGS: Readonly<Record<string, (person: Person) => Promise<unknown>>> = {
  'a ban': (person) => operator(person, 'PUT', '/ban', {}),
  'a suspension': (person) => operator(person, 'PUT', '/suspension', {}),
  'another password': ({ other }) =>
    send(other, SECURITY, '/account/password', { current: PASSWORD, password: 'the password of another browser' }),
  'signing out everywhere': ({ other }) => send(other, SECURITY, '/account/sign-out-everywhere'),
  async 'a recovery'(person) {
    const { url } = await operator(person, 'POST', '/recovery-link', { resetFactors: true, address: 'keep' });
    await send(agent(server.baseUrl), url, '/recover/link', { password: 'the password of a recovery' });
  },
  '“This was not me”': async (person) => {
    const [row] = await query(server, 'SELECT generation FROM account WHERE id = ?', person.id);
    const generation = String(row?.['generation']);
    const now = server.now();
    const data = { notice: 'new device', facts: {}, at: now, since: now };
    const { link } = await challenge({ ...person, generation }, 'secure account', null, data);
    await send(agent(server.baseUrl), `/secure-account?token=${link}`, '/secure-account');
  },
  'an undone change of address': ({ undo }) =>
    send(agent(server.baseUrl), `/undo-address-change?token=${undo.link}`, '/undo-address-change'),
  async 'going back to an earlier address'(person) {
    const [row] = await query(server, 'SELECT generation FROM account WHERE id = ?', person.id);
    const generation = String(row?.['generation']);
    const data = { email: `former-${person.email}`, right: person.undo.hash };
    const { code } = await challenge({ ...person, generation }, 'change address', person.other, data);
    await send(person.other, '/account/email', '/account/email/code', { code });
  },
  'another address by an operator': (person) =>
    operator(person, 'PATCH', '', { email: `repaired-${person.email}`, emailVerified: true }),
  'a request for deletion': ({ other }) => send(other, '/account/data', '/account/deletion', { confirm: 'yes' }),
  'signing out everywhere by an operator': (person) => operator(person, 'DELETE', '/sessions'),
  'a deletion by an operator': (person) => operator(person, 'DELETE'),
};

type OfAccount = { readonly id: string };
/** All that a form could change, but not what counts or reports tries. */
const STATE = [
  many((db, p: OfAccount) => db.selectFrom('account').selectAll().where('id', '=', p.id)),
  many((db, p: OfAccount) =>
    db.selectFrom('browser_session').select(['hash', 'proved_at']).where('account_id', '=', p.id).orderBy('hash'),
  ),
  many((db, p: OfAccount) =>
    db.selectFrom('passkey').select(['id', 'name']).where('account_id', '=', p.id).orderBy('id'),
  ),
  many((db, p: OfAccount) => db.selectFrom('recovery_setting').selectAll().where('account_id', '=', p.id)),
  many((db, p: OfAccount) => db.selectFrom('totp_secret').select('sealed').where('account_id', '=', p.id)),
  many((db, p: OfAccount) =>
    db.selectFrom('recovery_code').select('hash').where('account_id', '=', p.id).orderBy('hash'),
  ),
  many((db, p: OfAccount) => db.selectFrom('trusted_browser').select('hash').where('account_id', '=', p.id)),
  many((db, p: OfAccount) => db.selectFrom('challenge').select('hash').where('account_id', '=', p.id).orderBy('hash')),
  many((db, p: OfAccount) => db.selectFrom('address_change').select('hash').where('account_id', '=', p.id)),
  many((db, p: OfAccount) => db.selectFrom('membership').selectAll().where('account_id', '=', p.id)),
  many((db, p: OfAccount) => db.selectFrom('data_export').select(['id', 'state']).where('account_id', '=', p.id)),
  many((db, p: OfAccount) => db.selectFrom('invitation').select('id').where('used_by', '=', p.id)),
];

async function stateOf({ id }: OfAccount): Promise<readonly unknown[]> {
  const found: unknown[] = await query(
    server,
    "SELECT id, type FROM audit_event WHERE account_id = ? AND outcome = 'success' ORDER BY id",
    id,
  );
  return core.database.read(function* read(): Work<readonly unknown[]> {
    // On PostgreSQL, a row of a shared read says whose it is.
    for (const rows of STATE) found.push((yield* rows({ id })).map((row) => ({ ...row, caller_number: undefined })));
    return found;
  });
}

const isSignedIn = async (browser: Agent): Promise<boolean> => (await browser.get('/account')).status === 200;

async function heldAt(commit: number, { prepare, fields }: Form, ending: string): Promise<void> {
  const person = await newPerson(fields);
  const { browser, send } = await prepare(person);
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const watched = commits.watch(async (count) => {
    if (count !== commit) return;
    reached.resolve();
    await released.promise;
  });
  const underWay = send(watched.header);
  await Promise.race([reached.promise, underWay.then(() => assert.fail('answered before the commit was reached'))]);
  await ENDINGS[ending]?.(person);
  const before = await stateOf(person);
  released.resolve();
  const answer = await underWay;
  assert.ok(answer.status < 500, answer.text);
  assert.equal(answer.headers.get('content-disposition'), null, 'no data');
  assert.deepEqual(await stateOf(person), before);
  assert.equal(await isSignedIn(browser), false);
}

/** Sends a form that nothing ends. @returns which of its commits does what it is for: the last one before which nothing had changed */
async function decisiveCommit({ prepare, fields }: Form): Promise<number> {
  const person = await newPerson(fields);
  const { send } = await prepare(person);
  const before = await stateOf(person);
  const unchanged: boolean[] = [];
  const watched = commits.watch(async () => void unchanged.push(isDeepStrictEqual(await stateOf(person), before)));
  const answer = await send(watched.header);
  assert.ok(answer.status < 400, answer.text);
  assert.notDeepEqual(await stateOf(person), before, 'accepted where nothing ends');
  return unchanged.lastIndexOf(true) + 1;
}

for (const [n, [name, form]] of Object.entries(FORMS).entries()) {
  test(`decisions §11: ${name} comes to nothing once something has ended`, { concurrency: true }, async (context) => {
    const commit = await decisiveCommit(form);
    const { endings: all = Object.keys(ENDINGS) } = form;
    // What several nodes add to it shows in a third of the pairs.
    const endings = all.filter((_, index) => WHOLE || SEVERAL === 1 || (n + index) % 3 === 0);
    await Promise.all(endings.map((ending) => context.test(ending, () => heldAt(commit, form, ending))));
  });
}

const FROM_APPS = new Set(['redeeming a code', 'refreshing a token']);
const SECURED = "UPDATE account SET generation = 'other' WHERE id = ?";
const BANNED = "UPDATE account SET banned_at = 1, generation = 'other' WHERE id = ?";

/** What the account's own row says of an ending is left out. */
const withoutEnding = (state: readonly unknown[]): readonly unknown[] =>
  state.map((rows) =>
    Array.isArray(rows) ? rows.map((row) => ({ ...row, generation: undefined, banned_at: undefined })) : rows,
  );

describe('what waits for the account within its commit looks at it again', { skip: SEVERAL === 1 }, () => {
  for (const [name, { prepare, fields, endings }] of Object.entries(FORMS)) {
    // What apps get does not wait: it is of the account as it was before, and ends with that. An undo works during a ban.
    if (FROM_APPS.has(name) || endings === ENDS_UNDO) continue;
    test(name, async () => {
      const person = await newPerson(fields);
      const { browser, send } = await prepare(person);
      const before = withoutEnding(await stateOf(person));
      const writer = await takeAccountLock(server, person.id, async () => {});
      const answer = send({});
      await writer.awaited(answer);
      await writer.run(endings === undefined ? SECURED : BANNED, person.id);
      await writer.commit();
      assert.ok((await answer).status < 500, (await answer).text);
      assert.deepEqual(withoutEnding(await stateOf(person)), before);
      assert.equal(await isSignedIn(browser), false);
    });
  }
});
