// store: SQLite, PostgreSQL with --all
/**
 * A form belongs to the person and the session that it was shown to: SE-04, SE-11. The forms are those of the pages, as they are rendered
 * in prepared states. A route for forms that no page leads to fails the first test.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { ACR_MFA } from '../../src/authenticators/rules/authentication-context.ts';
import { consoleActs } from '../../src/console/acts.ts';
import { appActNames } from '../../src/console/apps/acts.ts';
import { appActAddress } from '../../src/console/apps/addresses.ts';
import { memberAddress } from '../../src/console/groups/pages.ts';
import { actAddress, actNames } from '../../src/console/people/acts.ts';
import { digest } from '../../src/platform/crypto/secrets.ts';
import { connectedAppPage } from '../../src/web/account/connected-app.ts';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import { bulkPages, prepareAct, preparedAddress } from '../support/console-acts.ts';
import { admin, authorizeUrl, newClient, newUser, PASSWORD, signedIn, type TestUser, walk } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { everyRow, HOUR, query, settle } from '../support/outcome.ts';
import { newPasskey } from '../support/passkeys.ts';
import { askRecovery, newestMail } from '../support/recovery.ts';
import { atSecondStep, enroll, giveRecoveryCodes, totpCode } from '../support/second-factor.ts';
import { setupLink } from '../support/setup.ts';
import { startRouted } from './routes.ts';

const OFF = ['MAIL_ADDRESS', 'MAIL_RECIPIENT', 'EXPORT_ACCOUNT', 'PLAYGROUND_ADDRESS', 'PENDING_ADDRESS'];
const server = await startRouted({
  TESSERA_MAILBOX: 'on',
  TESSERA_SIGN_IN_CODE: 'on',
  TESSERA_TRACE_RETENTION: 'off',
  TESSERA_CONSOLE_SECOND_FACTOR: 'off',
  ...Object.fromEntries(OFF.map((name) => [`TESSERA_LIMIT_${name}`, 'off'])),
});
after(() => server.close());
const client = await newClient(server);
const closed = await newClient(server, { access: 'assigned' });

/** A form of a page. */
interface ShownForm {
  readonly action: string;
  /** What the page filled in. */
  readonly hidden: Readonly<Record<string, string>>;
  /** The fields that a person or a script fills in. */
  readonly typed: readonly string[];
  /** Whether it is sent as `multipart/form-data`. */
  readonly takesFile: boolean;
}

const attribute = (tag: string, name: string): string | undefined =>
  new RegExp(` ${name}="([^"]*)"`)
    .exec(tag)?.[1]
    ?.replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** Every form of a page that is sent by POST. */
function formsOf({ text }: Answer): ShownForm[] {
  return [...text.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].flatMap(([, tag = '', content = '']) => {
    if (attribute(tag, 'method') !== 'post') return [];
    const hidden: Record<string, string> = {};
    const typed: string[] = [];
    for (const [input] of content.matchAll(/<(?:input|textarea|select)\b[^>]*>/g)) {
      const name = attribute(input, 'name') ?? '';
      const value = attribute(input, 'value') ?? '';
      // A script fills in the answer of an authenticator.
      if (attribute(input, 'type') === 'hidden' && value !== '') hidden[name] = value;
      else if (attribute(input, 'type') !== 'file') typed.push(name);
    }
    const takesFile = attribute(tag, 'enctype') === 'multipart/form-data';
    return [{ action: attribute(tag, 'action') ?? '', hidden, typed: [...new Set(typed)], takesFile }];
  });
}

/** Tells forms apart that go to the same route. */
const kindOf = ({ action, hidden }: ShownForm): string =>
  [action, hidden['action'] ?? hidden['file'] ?? (hidden['session'] === 'others' ? 'others' : '')].join(' ');

interface Prepared {
  readonly user: TestUser;
  readonly browser: Agent;
  /** What makes a form succeed, by its action, where that is different each time. */
  readonly right?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

interface Stage extends Prepared {
  readonly forms: ReadonlyMap<string, ShownForm>;
}

/** A page, with its address if it is one of the account. */
type ShownPage = Answer & { readonly address?: string };

/** What a person typed, which occurs nowhere else. */
const CANARY = 'kanarya-7731';

const typedInto = (form: ShownForm): Record<string, string> =>
  Object.fromEntries(form.typed.map((name) => [name, CANARY]));

function send(browser: Agent, form: ShownForm, fields = typedInto(form)): Promise<Answer> {
  const { action, takesFile } = form;
  const all = { ...form.hidden, ...fields };
  if (!takesFile) return browser.post(action, all);
  const bare = { status: 200, headers: new Headers(), location: undefined };
  const page = { ...bare, text: `<form method="post" action="${action}"></form>` };
  return browser.upload(page, { ...all, action: 'remove' }, action);
}

let names = 0;
const freshAddress = (): string => `forms-${++names}@example.com`;
const ofPerson = (sql: string, { id }: TestUser) => query(server, sql.replace('?', `'${id}'`));

/** The pages of the account that links lead to, beginning at its main page; or one of them, where that is enough. */
async function accountPages(browser: Agent, only?: string): Promise<ShownPage[]> {
  if (only !== undefined) return [await browser.get(only)];
  const seen = new Set<string>();
  const pages: ShownPage[] = [];
  const queue = ['/account'];
  for (let address = queue.shift(); address !== undefined; address = queue.shift()) {
    if (seen.has(address)) continue;
    seen.add(address);
    const answer = await browser.get(address);
    if (answer.status !== 200) continue;
    pages.push({ ...answer, address });
    queue.push(...[...answer.text.matchAll(/href="(\/account[^"#]*)/g)].map(([, found = '']) => found));
  }
  return pages;
}

const newcomer = (email: string) => ({
  displayName: 'A. Person',
  username: `newcomer-${++names}`,
  email,
  password: 'quartz lamp river',
});

async function someone(fields: Readonly<Record<string, unknown>> = {}): Promise<{ user: TestUser; browser: Agent }> {
  const user = await newUser(server, fields);
  return { user, browser: await signedIn(server, user) };
}

const emailOf = async ({ id }: TestUser): Promise<string> => (await admin(server, 'GET', `/users/${id}`)).body.email;

/** A pending request in a browser, at the page where it waits. */
const flow = async (browser: Agent, parameters: Readonly<Record<string, string>>): Promise<Answer> =>
  settle(browser, server, await browser.get(authorizeUrl(client, parameters)));

/** @param only the page of the account that is needed, where the others are not */
type Prepare = (only?: string) => Promise<Prepared & { readonly pages: readonly ShownPage[] }>;

/** Pages that are shown to a person who is signed in, with forms that act on their account. */
const OF_A_PERSON: Readonly<Record<string, Prepare>> = {
  'a person with an app, another browser, an address to verify and a copy of their data': async (only) => {
    const { user, browser } = await someone();
    await walk(browser, authorizeUrl(client));
    await signedIn(server, user);
    await browser.submit(await browser.get('/account/email'), {}, '/account/email/verify');
    const code = (await mailsTo(server, await emailOf(user))).find((mail) => mail.code !== undefined)?.code ?? '';
    await browser.submit(await browser.get('/account/data/export'), {}, '/account/data/export');
    await server.makeExports();
    return { user, browser, pages: await accountPages(browser, only), right: { '/account/email/code': { code } } };
  },
  'a person of an organization, with an app that may see their addresses': async (only) => {
    const { user, browser } = await someone({ emailVerified: true });
    const { id } = (
      await admin(server, 'POST', '/organizations', { name: `org${++names}`, domain: `org${names}.example` })
    ).body;
    assert.equal((await admin(server, 'PUT', `/organizations/${id}/members/${user.id}`, {})).status, 200);
    await walk(browser, authorizeUrl(client, { scope: 'openid email phone' }));
    const right = { '/account/organization/leave': {}, [connectedAppPage(client.clientId)]: {} };
    return { user, browser, pages: await accountPages(browser, only), right };
  },
  'a person with passkey, authenticator app, trusted browser and an earlier address': async (only) => {
    const { user, browser } = await someone({ emailVerified: true });
    await newPasskey(server, user.id);
    await enroll(server, user);
    await ofPerson(
      `INSERT INTO trusted_browser (hash, account_id, generation, created_at, expires_at)
       SELECT hash, account_id, generation, auth_time, expires_at FROM browser_session WHERE account_id = ?`,
      user,
    );
    await ofPerson(
      `UPDATE browser_session SET proved_by = 'passkey', proved_at = ${server.now()}, proved_after = ${server.now()},
       proved_factor_since = (SELECT created_at FROM passkey WHERE passkey.account_id = browser_session.account_id)
       WHERE account_id = ?`,
      user,
    );
    const now = server.now();
    await ofPerson(
      `INSERT INTO address_change (hash, account_id, email, email_key, created_at, factors_since, expires_at)
       SELECT 'former ' || id, id, 'former-' || email, 'former-' || email_key, ${now - 1}, ${now}, ${now + HOUR}
       FROM account WHERE id = ?`,
      user,
    );
    return { user, browser, pages: await accountPages(browser, only) };
  },
  'a person with recovery codes, who is offered a passkey': async (only) => {
    const { user, browser } = await someone({ emailVerified: true });
    await giveRecoveryCodes(server, user);
    return { user, browser, pages: await accountPages(browser, only) };
  },
  'new recovery codes that wait to be kept': async () => {
    const { user, browser } = await someone({ emailVerified: true });
    const address = '/account/security/authenticator';
    const page = await browser.get(address);
    const seed = /secret=([A-Z2-7]{32})/.exec(page.text)?.[1] ?? '';
    return { user, browser, pages: [await browser.submit(page, { code: totpCode({ seed }, server.now()) }, address)] };
  },
  'a person whose proof is old': async (only) => {
    const { user, browser } = await someone({ emailVerified: true });
    await ofPerson(`UPDATE browser_session SET proved_at = ${server.now() - HOUR} WHERE account_id = ?`, user);
    return { user, browser, pages: await accountPages(browser, only) };
  },
  'a link that confirms an address': async () => {
    const { user, browser } = await someone({ emailVerified: true });
    const email = freshAddress();
    await browser.submit(await browser.get('/account/email'), { email }, '/account/email');
    const [mail] = await mailsTo(server, email);
    return { user, browser, pages: [await browser.get(mail?.link ?? '')] };
  },
  'the consent page': async () => {
    const at = await someone();
    return { ...at, pages: [await flow(at.browser, { prompt: 'consent', scope: 'openid email phone' })] };
  },
  'the page of a person to whom an app is not open': async () => {
    const at = await someone();
    const page = await settle(at.browser, server, await at.browser.get(authorizeUrl(closed)));
    return { ...at, pages: [page] };
  },
  'the choice of an account': async () => {
    const at = await someone();
    const page = await flow(at.browser, { prompt: 'select_account' });
    // The other forms of the page sign in: see below.
    const [choice = ''] = /<form[^>]* action="\/continue">.*?<\/form>/s.exec(page.text) ?? [];
    return { ...at, pages: [{ ...page, text: choice }] };
  },
  'the setup of a required factor': async () => {
    const at = await someone({ emailVerified: true });
    const claims = JSON.stringify({ id_token: { acr: { essential: true, values: [ACR_MFA] } } });
    return { ...at, pages: [await flow(at.browser, { claims })] };
  },
  'an invitation': async () => {
    const at = await someone();
    return { ...at, pages: [await at.browser.get(await invitation())] };
  },
  'the question of an app whether to sign out': async () => {
    const at = await someone();
    return { ...at, pages: [await at.browser.get('/oidc/logout')] };
  },
  'an operator at the acts on a person': async (only) => {
    const { user, browser } = await someone({ emailVerified: true });
    await makeOperator(user);
    const other = await someone({ emailVerified: true });
    await walk(other.browser, authorizeUrl(client));
    const passkey = await newPasskey(server, other.user.id);
    await enroll(server, other.user);
    const [session] = (await admin(server, 'GET', `/users/${other.user.id}/sessions`)).body.items;
    const about = { id: other.user.id, factor: 'totp', session: session.id, app: client.clientId };
    assert.ok(passkey !== undefined);
    const pages = [];
    for (const address of samePages(
      actNames.map((name) => actAddress(name, about)),
      only,
    ))
      pages.push({ ...(await browser.get(address)), address });
    return { user, browser, pages };
  },
  'an operator at the members of a group': async (only) => {
    const { user, browser } = await someone({ emailVerified: true });
    await makeOperator(user);
    const [member, other] = [await newUser(server), await newUser(server)];
    const { id } = (await admin(server, 'POST', '/groups', { name: `forms-${++names}` })).body;
    await admin(server, 'PUT', `/groups/${id}/members/${member.id}`);
    const all = [
      memberAddress('add-member', { id, member: other.username }),
      memberAddress('remove-member', { id, user: member.id }),
    ];
    const pages = [];
    for (const address of samePages(all, only)) pages.push({ ...(await browser.get(address)), address });
    return { user, browser, pages };
  },
  'an operator at lists that are saved to a file': async (only) => {
    const { user, browser } = await someone({ emailVerified: true });
    await makeOperator(user);
    const pages = [];
    for (const address of samePages(['/console/people/export', '/console/events/export'], only)) {
      pages.push({ ...(await browser.get(address)), address });
    }
    return { user, browser, pages };
  },
  'an operator at the acts on many people': async (only) => {
    const { user, browser } = await someone({ emailVerified: true });
    await makeOperator(user);
    const { username } = await newUser(server);
    const pages = [];
    for (const address of samePages(Object.values(await bulkPages(server, browser)), only)) {
      pages.push({ ...(await browser.get(address)), address });
    }
    return { user, browser, pages, right: { '/console/people/bulk/new': { names: username } } };
  },
  'an operator at the acts on an app': async (only) => {
    const { user, browser } = await someone({ emailVerified: true });
    await makeOperator(user);
    const app = await newClient(server);
    const rotated = await admin(server, 'POST', `/clients/${app.clientId}/secrets`, {});
    const [{ id: secret }] = rotated.body.secrets;
    const stopped = await newClient(server);
    await admin(server, 'PATCH', `/clients/${stopped.clientId}`, { status: 'disabled' });
    const about = (name: string) => ({ app: name === 'enable' ? stopped.clientId : app.clientId, secret });
    const all = [...appActNames.map((name) => appActAddress(name, about(name))), '/console/apps/new'];
    const pages = [];
    for (const address of samePages(all, only)) pages.push({ ...(await browser.get(address)), address });
    return { user, browser, pages, right: APP_RIGHT };
  },
  'an operator at the other acts of the console': async (only) => {
    const { user, browser } = await someone({ emailVerified: true });
    await makeOperator(user);
    const pages = [];
    const right: Record<string, Readonly<Record<string, string>>> = {};
    for (const address of samePages(OF_ADMINS, only)) {
      const prepared = await prepareAct(address, server, user.id);
      right[address] = prepared.typed;
      const shown = preparedAddress(address, prepared);
      pages.push({ ...(await browser.get(shown)), address: shown });
    }
    return { user, browser, pages, right };
  },
  'the playground': async () => {
    const at = await someone();
    return { ...at, pages: [await at.browser.get('/playground')] };
  },
};

/** The acts of the console but those of owners alone, whose forms are of the same making. */
const OF_ADMINS = consoleActs
  .filter(({ permission }) => permission !== 'upstreams.manage')
  .map(({ address }) => address);
const OF_OWNERS = consoleActs.map(({ address }) => address).filter((address) => !OF_ADMINS.includes(address));

/** The pages about the objects of now, of which only one may be needed: that was about other objects. */
const samePages = (addresses: readonly string[], only: string | undefined): readonly string[] =>
  addresses.filter((address) => only === undefined || pageOf(address) === pageOf(only));

/** Which page an address is of, whatever the page is about. */
const pageOf = (address: string): string => address.replace(/\?.*/, '').replaceAll(/\/\d+/g, '/:id');

const APP_RIGHT = {
  '/console/apps/redirect-uris': { uris: 'https://other.example/callback' },
  '/console/apps/rotate-secret': { overlap: '3600' },
  '/console/apps/new': { kind: 'web', name: 'Another app', uris: 'https://other.example/callback', resource: '' },
};

/** Not an owner: that would end the setup. */
async function makeOperator({ id }: TestUser): Promise<void> {
  assert.equal((await admin(server, 'PUT', `/users/${id}/roles/admin`, {})).status, 200);
}

async function invitation(): Promise<string> {
  const { id } = (
    await admin(server, 'POST', '/organizations', { name: `org${++names}`, domain: `org${names}.example` })
  ).body;
  const { link } = (await admin(server, 'POST', '/invitations', { organizationId: id })).body;
  return link.slice(server.baseUrl.length);
}

/**
 * Pages for whoever is at the browser. Their forms act on the account that is named or proved in them, or that a link is for, whoever is
 * signed in meanwhile; so they are taken as ever, and only must leave other accounts alone.
 */
const OF_NOBODY: Readonly<Record<string, Prepare>> = {
  'the account of the first owner': async () => {
    const [user, browser] = [await newUser(server), agent(server.baseUrl)];
    return { user, browser, pages: [await browser.get(`/setup?link=${await setupLink(server)}`)] };
  },
  'sign-in, sign-up, codes and recovery': async () => {
    const user = await newUser(server, { emailVerified: true });
    const browser = agent(server.baseUrl);
    const addresses = [
      '/login',
      '/login/code',
      '/login/code/enter',
      '/signup',
      '/signup/verify',
      '/recover',
      '/recover/code',
      '/device',
    ];
    const pages: Answer[] = [];
    for (const address of [...addresses, await invitation()]) pages.push(await browser.get(address));
    return { user, browser, pages };
  },
  'codes that were mailed': async () => {
    const user = await newUser(server, { emailVerified: true });
    const browser = agent(server.baseUrl);
    await askRecovery(server, browser, user.username);
    await browser.submit(await browser.get('/login/code'), { identifier: user.username });
    await server.sendRequestedMail();
    const email = freshAddress();
    await browser.submit(await browser.get('/signup'), newcomer(email));
    const addresses = ['/recover/code', '/login/code/enter', '/signup/verify'];
    const pages = [];
    for (const address of addresses) pages.push(await browser.get(address));
    const mails = await mailsTo(server, await emailOf(user));
    const sent = (kind: string) => ({ sent_code: mails.find((mail) => mail.kind === kind)?.code ?? '' });
    const right = {
      '/recover/code': sent('recovery'),
      '/login/code/enter': sent('sign-in code'),
      '/signup/verify': { code: (await mailsTo(server, email))[0]?.code ?? '' },
    };
    return { user, browser, pages, right };
  },
  'the second step of a sign-in': async () => {
    const user = await newUser(server);
    await enroll(server, user);
    const { browser, page } = await atSecondStep(server, user);
    return { user, browser, pages: [page] };
  },
  'the way back from a deletion': async () => {
    const { user, browser: leaving } = await someone();
    await leaving.submit(await leaving.get('/account/data'), { confirm: 'yes' }, '/account/deletion');
    const browser = agent(server.baseUrl);
    const first = await browser.submit(
      await browser.get('/login'),
      { identifier: user.username, password: PASSWORD },
      '/login',
    );
    return { user, browser, pages: [await browser.get(first.location?.href ?? '')] };
  },
  'the link of a recovery': async () => {
    const user = await newUser(server, { emailVerified: true });
    const browser = agent(server.baseUrl);
    await askRecovery(server, browser, user.username);
    const { link = '' } = await newestMail(server, await emailOf(user), 'recovery');
    return { user, browser, pages: [await browser.get(link)] };
  },
  'the link that undoes a change of address': async () => {
    const { user, browser: changing } = await someone({ emailVerified: true });
    const [before, email] = [await emailOf(user), freshAddress()];
    await changing.submit(await changing.get('/account/email'), { email }, '/account/email');
    const [mail] = await mailsTo(server, email);
    await changing.submit(await changing.get(mail?.link ?? ''), {});
    const browser = agent(server.baseUrl);
    const [undo] = await mailsTo(server, before);
    return { user, browser, pages: [await browser.get(undo?.link ?? '')] };
  },
  '“This was not me”': async () => {
    const user = await newUser(server, { emailVerified: true });
    await signedIn(server, user);
    await admin(server, 'PATCH', `/users/${user.id}`, { password: 'and another passphrase' });
    const browser = agent(server.baseUrl);
    const [mail] = await mailsTo(server, await emailOf(user));
    return { user, browser, pages: [await browser.get(mail?.link ?? '')] };
  },
};

/** The page of the account with each form, once all were looked at. */
const shownAt = new Map<Prepare, Map<string, string | undefined>>();

/** @param kind the form that is needed, where the others are not */
async function staged(prepare: Prepare, kind = ''): Promise<Stage> {
  const only = shownAt.get(prepare)?.get(kind);
  const { pages, ...at } = await prepare(only);
  if (only === undefined) {
    const addresses = pages.flatMap((page) => formsOf(page).map((form) => [kindOf(form), page.address] as const));
    shownAt.set(prepare, new Map(addresses));
  }
  const forms = pages.flatMap(formsOf).map((form) => [kindOf(form), form] as const);
  assert.ok(forms.length > 0, `no form in: ${pages.map(({ status, text }) => `${status} ${text}`).join('\n')}`);
  return { ...at, forms: new Map(forms) };
}

/** One more session of a person, as if they had signed in elsewhere. */
async function anotherSession({ id }: TestUser): Promise<string> {
  const [row] = await query(server, `SELECT * FROM browser_session WHERE account_id = '${id}'`);
  assert.ok(row !== undefined, 'no session to begin with');
  const secret = randomBytes(32).toString('base64url');
  const fresh: Record<string, string> = {
    hash: `'${digest(secret)}'`,
    sid: `'${randomBytes(16).toString('base64url')}'`,
  };
  const columns = Object.keys(row);
  await query(
    server,
    `INSERT INTO browser_session (${columns.join(', ')}) SELECT ${columns.map((name) => fresh[name] ?? name).join(', ')}
     FROM browser_session WHERE hash = '${String(row['hash'])}'`,
  );
  return secret;
}

/** Counts of requests, and the lease of the server. */
const NOT_ABOUT_FORMS = ['rate_count', 'node_lease'];

/** Every row of every table, or those about one account. */
async function rows(about?: TestUser, without: readonly string[] = []): Promise<string[]> {
  const found: string[] = [];
  // Otherwise they are made in the background, at any time.
  await server.makeExports();
  await server.runBulkActs();
  const tables = await everyRow(server);
  const generations = new Map(tables['account']?.map(({ id, generation }) => [id, generation]));
  // Housekeeping removes exports that ended with the generation of their account, at any time.
  const ended = tables['data_export']?.filter((one) => one['generation'] !== generations.get(one['account_id'])) ?? [];
  const gone = new Set(ended.map((one) => one['account_id']));
  for (const [table, rows] of Object.entries(tables)) {
    if (table.startsWith('sqlite_') || [...NOT_ABOUT_FORMS, ...without].includes(table)) continue;
    for (const row of rows) {
      if (table.startsWith('data_export') && gone.has(row['account_id'])) continue;
      // The page of a form is opened once more, and that is on record where an operator opens one about a person.
      if (row['type'] === 'account.viewed') continue;
      // The other person may lack what the page needs: that is on record, and nothing else is.
      if (row['type'] === 'operator.refused') continue;
      const values = Object.values(row).map(String);
      if (about === undefined || values.includes(about.id)) found.push(`${table} ${JSON.stringify(values)}`);
    }
  }
  return found.sort();
}

const assertNoFault = ({ status, text }: Answer): void => assert.ok(status < 500, `${status} ${text}`);
function assertNoCanary({ text, location }: Answer): void {
  assert.ok(!text.includes(CANARY), `what was typed is shown: ${text}`);
  assert.ok(!String(location).includes(CANARY), String(location));
}

/** The page that says why a form was not used. */
async function assertRefused(browser: Agent, answer: Answer, what: RegExp, now: TestUser): Promise<void> {
  assert.equal(answer.status, 400, `${answer.location} ${answer.text}`);
  assert.match(answer.text, what);
  assert.ok(answer.text.includes(now.username), 'it says who is signed in');
  assertNoCanary(answer);
  assert.deepEqual(formsOf(answer), [], 'nothing can be pressed a second time');
  const next = attribute(/<a class="button primary"[^>]*>/.exec(answer.text)?.[0] ?? '', 'href') ?? '';
  const fresh = await settle(browser, server, await browser.get(next));
  assert.ok(fresh.status === 200 || !fresh.location?.href.startsWith(server.baseUrl), `${fresh.status} ${next}`);
  // What one typed oneself comes back, to be looked at and sent again.
  if (!answer.text.includes('What you typed is kept')) assertNoCanary(fresh);
}

/** Not bound to the session: a sign-in in another tab invalidates no form of the same person (decisions §3). */
const IN_ANY_SESSION = new Set([
  ...[
    '/consent',
    '/no-access',
    '/continue',
    '/logout',
    '/oidc/logout/confirm',
    '/invitation',
    '/verify',
    '/playground',
    '/recovery-codes',
  ],
]);

/** Where programs send what they send. */
const FOR_PROGRAMS = [
  ...['/api/v2/oauth/token', '/oidc/token', '/oidc/device_authorization'],
  ...['/oidc/revoke', '/oidc/introspect', '/oidc/userinfo', '/oidc/register'],
  // For other providers: test/upstreams/endings.test.ts.
  '/upstreams/:name/backchannel-logout',
  // The page of another provider sends it: test/upstreams/apple.test.ts.
  '/login/with/:name/callback',
];
/** After a visit to another provider: test/upstreams/forms.test.ts. */
const WITH_A_PROVIDER = [
  ...['/login/with/:name/new', '/account/security/connect/:name/confirm', '/account/security/disconnect'],
];
/** Where apps send a browser with a form of their own. */
const FROM_APPS = ['/api/v2/oauth/authorize', '/oidc/authorize', '/oidc/logout'];

test('every route that takes forms is that of a form of these pages', async () => {
  const actions = new Set<string>();
  for (const prepare of [...Object.values(OF_A_PERSON), ...Object.values(OF_NOBODY)]) {
    for (const { action } of (await staged(prepare)).forms.values()) actions.add(action);
  }
  const routes = server.routes
    .filter(({ method, url }) => method === 'POST' && !url.startsWith('/api/v2/admin/'))
    .map(({ url }) => url)
    .filter((url) => ![...FOR_PROGRAMS, ...FROM_APPS, ...WITH_A_PROVIDER, ...OF_OWNERS].includes(url));
  const shown = [...actions].map((action) => action.replace(client.clientId, ':clientId'));
  assert.deepEqual(shown.sort(), routes.sort());
});

const two = await newUser(server, { displayName: 'Second Person', username: 'the-second-person' });
// Where a form was shown to one operator, and another one is signed in.
await makeOperator(two);
await signedIn(server, two);

for (const [name, prepare] of Object.entries(OF_A_PERSON)) {
  describe(`the forms of ${name}`, () => {
    test('do nothing where another person has signed in', async () => {
      const { user, browser, forms } = await staged(prepare);
      browser.setCookie('tessera_session', await anotherSession(two));
      const before = [await rows(user), await rows(two)];
      for (const form of forms.values()) {
        const answer = await send(browser, form);
        await assertRefused(browser, answer, /This page was opened for another account, so nothing was changed/, two);
        assert.ok(!answer.text.includes('What you typed is kept'), form.action);
        assert.ok(!answer.text.includes(user.username), 'nothing of the person before');
      }
      assert.deepEqual([await rows(user), await rows(two)], before);
    });

    test('do nothing in another session of the same person, unless they are for any', async () => {
      const { user, browser, forms } = await staged(prepare);
      browser.setCookie('tessera_session', await anotherSession(user));
      const before = await rows(user);
      const bound = [...forms.values()].filter(({ action }) => !IN_ANY_SESSION.has(action));
      for (const form of bound) {
        await assertSaid(form, browser, user);
      }
      assert.deepEqual(await rows(user), before);
      for (const form of forms.values()) {
        if (!IN_ANY_SESSION.has(form.action)) continue;
        browser.setCookie('tessera_session', await anotherSession(user));
        assertNoFault(await send(browser, form));
      }
    });

    test('do nothing after the session', async () => {
      const { user, browser, forms } = await staged(prepare);
      await ofPerson('DELETE FROM browser_session WHERE account_id = ?', user);
      const before = await rows(user);
      for (const form of forms.values()) {
        const secret = browser.cookie('tessera_session') ?? '';
        const answer = await send(browser, form);
        if (form.action.startsWith('/account/')) {
          assert.deepEqual([answer.status, answer.location?.pathname], [303, '/login'], form.action);
        }
        assertNoFault(answer);
        assertNoCanary(answer);
        if (secret !== '') browser.setCookie('tessera_session', secret);
      }
      assert.deepEqual(await rows(user), before);
    });
  });
}

async function assertSaid(form: ShownForm, browser: Agent, user: TestUser): Promise<void> {
  const answer = await send(browser, form);
  const what = /This page was opened in an earlier session, so nothing was changed/;
  if (form.action !== '/login/enroll') return assertRefused(browser, answer, what, user);
  // Shown again at once, since the app waits.
  assert.equal(answer.status, 400);
  assert.match(answer.text, what);
  assertNoCanary(answer);
}

for (const [name, prepare] of Object.entries(OF_NOBODY)) {
  describe(`the forms of ${name}`, () => {
    test('show and store nothing in the account of a person who has signed in meanwhile', async () => {
      for (const kind of (await staged(prepare)).forms.keys()) {
        const { browser, forms } = await staged(prepare, kind);
        const form = forms.get(kind);
        assert.ok(form !== undefined, kind);
        browser.setCookie('tessera_session', await anotherSession(two));
        // A sign-in ends the session that the browser had.
        const before = await rows(two, ['browser_session']);
        const answer = await send(browser, form);
        assertNoFault(answer);
        assertNoCanary(answer);
        assert.ok(!answer.text.includes(two.username), `${kind} shows who is signed in`);
        assert.deepEqual(await rows(two, ['browser_session']), before, kind);
      }
    });
  });
}

/** What a person types where the form is to succeed. */
const RIGHT: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
  '/account/password': () => ({ current: PASSWORD, password: 'a wholly other passphrase' }),
  '/account/email': () => ({ email: freshAddress() }),
  '/account/confirm': () => ({ current: PASSWORD }),
  '/account/deletion': () => ({ confirm: 'yes' }),
  '/account/profile': () => ({ displayName: 'Another Name' }),
  '/account/username': () => ({ username: `another-${++names}` }),
  '/consent': () => ({ decision: 'allow' }),
  '/recover/link': () => ({ password: 'a wholly other passphrase' }),
  '/login': () => ({ password: PASSWORD }),
  '/signup': () => newcomer(freshAddress()),
};

for (const [name, prepare] of Object.entries({ ...OF_A_PERSON, ...OF_NOBODY })) {
  test(`the forms of ${name} do nothing without their token, and are no fault, sent once or twice`, async () => {
    for (const kind of (await staged(prepare)).forms.keys()) {
      const { user, browser, forms, right } = await staged(prepare, kind);
      const form = forms.get(kind);
      assert.ok(form !== undefined, kind);
      const fields = {
        ...(right?.[form.action] ?? RIGHT[form.action]?.() ?? typedInto(form)),
        ...(form.typed.includes('identifier') && { identifier: user.username }),
      };
      // Nothing is left to do that a form asked for before.
      await server.sendRequestedMail();
      const before = await rows();
      for (const form_token of ['', `A${form.hidden['form_token']}`]) {
        const answer = await send(browser, { ...form, hidden: { ...form.hidden, form_token } }, fields);
        assertNoFault(answer);
        assert.ok(!answer.location?.href.startsWith(client.redirectUri), kind);
      }
      assert.deepEqual(await rows(), before, `${kind} acts without its token`);
      const first = await send(browser, form, fields);
      const acts = ACTS.has(form.action) || right?.[form.action] !== undefined;
      if (acts) assert.notDeepEqual(await rows(), before, `${kind} does nothing: ${first.status} ${first.text}`);
      for (const answer of [first, await send(browser, form, fields)]) {
        assertNoFault(answer);
        const isPage = answer.headers.get('content-type')?.startsWith('text/html') === true;
        if (answer.location === undefined && isPage) assert.match(answer.text, /<h1/, kind);
      }
    }
  });
}

/** Acts on a person that change nothing in the state that is prepared here. */
const SITUATED: ReadonlySet<string> = new Set(['remind-verification', 'reinstate', 'unban', 'ban', 'remove-factor']);

/** Those that do what they are for with what is typed here: without the check of the token they would do it as well. */
const ACTS = new Set([
  ...['/account/password', '/account/email', '/account/confirm', '/account/deletion', '/account/username'],
  ...['/account/sign-out-everywhere', '/account/sessions', '/account/connections', '/account/trusted-browsers'],
  ...['/account/email/verify', '/account/data/export', '/account/data/export/download', '/account/profile'],
  ...['/account/security/recovery', '/account/security/recovery-codes', '/account/security/authenticator/remove'],
  ...['/account/security/remove-password', '/consent', '/continue', '/logout', '/oidc/logout/confirm', '/verify'],
  ...['/playground', '/recover', '/recover/link', '/secure-account', '/undo-address-change', '/login/code'],
  ...['/login/come-back', '/login', '/login/verify', '/signup'],
  ...actNames.filter((name) => !SITUATED.has(name)).map((name) => `/console/people/${name}`),
  ...['new', 'start', 'stop'].map((name) => `/console/people/bulk/${name}`),
  ...['/console/apps/disable', '/console/apps/end-secret'],
  ...['/console/groups/add-member', '/console/groups/remove-member'],
]);
