// store: SQLite
/*
 * The mails that people get, in a language that nobody speaks: no text of theirs is left out of the catalogue, in HTML and in plain text.
 * The catalogue is replaced in this process before a server starts, so this is a file of its own.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { goesOnSentences, undoneSentences } from '../../src/account-actions/notices/rules/undone-text.ts';
import { readMailbox } from '../../src/mail/mail.ts';
import { mailTexts } from '../../src/mail/messages.ts';
import { renderMail } from '../../src/mail/rules/render.ts';
import { type Agent, agent } from '../support/agent.ts';
import { signInOnCommandLine } from '../support/command-line.ts';
import { connectIdentity } from '../support/connected-identity.ts';
import { act, newOperator } from '../support/console.ts';
import { admin, PASSWORD, signedIn } from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { DAY, MINUTE, query } from '../support/outcome.ts';
import { addPasskeyOnPage, passkeyForm } from '../support/passkeys.ts';
import { accentMailTexts } from '../support/pseudo-locale.ts';
import { askRecovery, newestMail, useLink } from '../support/recovery.ts';
import { giveRecoveryCodes, totpCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';
import { RECOVERED, type Robbed, takenBack } from '../support/taken-back.ts';

const reached = new Set<string>();
const texts = accentMailTexts(mailTexts, reached);
Object.assign(mailTexts, { language: 'ar' });

const HOST = 'id.acme.example';
const OFF = ['MAIL_ADDRESS', 'MAIL_RECIPIENT', 'FORM_ACCOUNT', 'CODE_ACCOUNT'];
const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_SIGN_IN_CODE: 'on',
  TESSERA_DEVELOPERS: 'anyone',
  ...Object.fromEntries(OFF.map((name) => [`TESSERA_LIMIT_${name}`, 'off'])),
});
after(() => server.close());
const story = takenBack(server);
const { submit, press } = story;

/** The words of a message that are no text of the catalogue, which is accented, and no value that it was given. */
function plainWords(text: string, values: readonly string[]): readonly string[] {
  const known = ['Tessera', 'UTC', 'Firefox', 'Linux', '127.0.0.x', HOST, ...values].sort(
    (one, other) => other.length - one.length,
  );
  const left = known.reduce(
    (rest, value) => rest.replaceAll(value, ''),
    text.replace(/https?:\S+/g, '').replace(/\s+/g, ' '),
  );
  return left.match(/[A-Za-z]+/g) ?? [];
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const textOf = (html: string): string =>
  html
    .replace(/<style>.*<\/style>/s, '')
    .replace(/<[^>]*>/g, '')
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => ENTITIES[name] ?? '');

const seen = new Set<string>();
/** Looks at the messages that came since it looked last. */
async function look(values: readonly string[]): Promise<void> {
  const faults: string[] = [];
  const mails = await withData(server, async ({ database, sealer }) => readMailbox(database, await sealer()));
  for (const { id, content } of mails.filter((one) => !seen.has(one.id))) {
    seen.add(id);
    const { subject, text, html } = renderMail(content, { host: HOST });
    assert.match(html, /<html lang="ar" dir="rtl">/);
    const withoutLink = content.withoutLink ?? [];
    for (const [part, words] of Object.entries({
      subject,
      text,
      html: textOf(html),
      withoutLink: withoutLink.join(' '),
    })) {
      const plain = plainWords(words, values);
      if (plain.length > 0) faults.push(`${subject}, ${part}: ${plain.join(' ')}`);
    }
  }
  assert.deepEqual(faults, []);
}

const FIREFOX = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
const valuesOf = ({ user, email }: Robbed, ...more: readonly string[]) => [
  ...[user.username, email, server.baseUrl, new URL(server.baseUrl).host],
  ...more,
];
const call = async (method: string, path: string, body?: unknown) => {
  const answer = await admin(server, method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const done = async (answer: Promise<{ status: number; text: string }>): Promise<void> => {
  const { status, text } = await answer;
  assert.ok(status === 200 || status === 303, `${status} ${text}`);
};
/** A browser that just signed in with a password. */
async function freshly({ user }: Robbed, password = PASSWORD): Promise<Agent> {
  server.advance(MINUTE);
  return signedIn(server, user, password);
}

test('sign-up and invitations', async () => {
  const ada = await story.person();
  const form = { displayName: 'Somebody Else', username: 'somebody', password: 'quartz lamp river' };
  for (const email of ['somebody@example.com', ada.email])
    await submit(story.browserOf(), '/signup', { ...form, email });
  const { id } = await call('POST', '/organizations', { name: 'guild', domain: 'guild.example' });
  await call('POST', '/invitations', { email: 'guest@example.com', days: 1 });
  await call('POST', '/invitations', { email: 'guest@example.com', organizationId: id });
  const browser = await freshly(ada);
  const { link } = await call('POST', '/invitations', { organizationId: id });
  await done(browser.submit(await browser.get(link), {}, '/invitation'));
  await look(valuesOf(ada, 'guild'));
});

test('addresses', async () => {
  const ada = await story.person({});
  const other = await story.person();
  await call('POST', `/users/${ada.user.id}/email-verification`, {});
  const browser = await freshly(ada);
  await submit(browser, '/account/email', {}, '/account/email/verify');
  await done(submit(browser, (await newestMail(server, ada.email, 'verify address')).link ?? '', {}, '/verify'));
  await submit(browser, '/account/email', { email: other.email });
  const [second, third, fourth] = [story.freshAddress(), story.freshAddress(), story.freshAddress()];
  await story.moveTo(browser, second);
  await story.setUsername(browser, `${ada.user.username}-2`);
  await story.moveTo(browser, third);
  await done(browser.get('/account'));
  // The middle address takes the account back, and the oldest one keeps its right.
  assert.equal(await press((await story.undoLinks(second))[0] ?? ''), 200);
  const values = valuesOf(ada, `${ada.user.username}-2`, second, third, other.email, other.user.username);
  await look(values);

  const bob = await story.twoStep();
  const bobs = await story.signedInWith(bob, bob.factor);
  await story.moveTo(bobs, fourth);
  server.advance(11 * MINUTE);
  const confirm = { code: totpCode(bob.factor, server.now()) };
  await submit(bobs, '/account/confirm?next=email', confirm, '/account/confirm');
  await done(submit(bobs, '/account/email', {}, '/account/email/earlier'));
  await look(valuesOf(bob, fourth));

  const eve = await story.twoStep();
  const thief = await story.signedInWith(eve, eve.factor);
  const [fifth, sixth] = [story.freshAddress(), story.freshAddress()];
  await story.moveTo(thief, fifth);
  await done(submit(thief, '/account/security', {}, '/account/security/recovery-codes'));
  await story.moveTo(await story.signedInWith(eve, eve.factor), eve.email);
  await call('PATCH', `/users/${eve.user.id}`, { email: sixth, emailVerified: true });
  await story.moveTo(await story.signedInWith({ ...eve, email: sixth }, eve.factor), fifth);
  await call('POST', `/users/${eve.user.id}/recovery-link`, { address: 'keep' });
  await look(valuesOf(eve, fifth, sixth));
});

test('the way back to an earlier address, with which nothing is left that signs in', async () => {
  const ada = await story.person();
  const browser = await freshly(ada);
  const away = story.freshAddress();
  await story.moveTo(browser, away);
  await addPasskeyOnPage(server, browser, ada.user.id);
  await done(submit(browser, '/account/security', {}, '/account/security/remove-password'));
  await story.moveTo(browser, ada.email);
  const mail = await newestMail(server, ada.email, 'recovery');
  assert.deepEqual([mail.code, (await story.browserOf().get(mail.link ?? '')).status], [undefined, 200]);
  await look(valuesOf(ada, away, 'Passkey'));
});

test('recovery and sign-in codes', async () => {
  const ada = await story.person();
  const browser = agent(server.baseUrl, () => server.baseUrl, FIREFOX);
  const askCode = async (email: string) => {
    await submit(browser, '/login/code', { identifier: email });
    await server.sendRequestedMail();
  };
  const ask = async ({ email }: Robbed) => {
    await askRecovery(server, browser, email);
    await askCode(email);
  };
  await ask(ada);
  const until = new Date(server.now() + DAY).toISOString();
  const [banned, forAWhile, suspended] = [await story.person(), await story.person(), await story.person()];
  await call('PUT', `/users/${banned.user.id}/ban`, {});
  await call('PUT', `/users/${forAWhile.user.id}/ban`, { until });
  await call('PUT', `/users/${suspended.user.id}/suspension`, {});
  for (const one of [banned, forAWhile, suspended]) await ask(one);
  await look([ada, banned, forAWhile, suspended].flatMap((one) => valuesOf(one)));
  const [always, days, paused] = [await story.person(), await story.person(), await story.person()];
  const moved = [always, days, paused].map((one) => ({ ...one, next: story.freshAddress() }));
  for (const one of moved) await story.moveTo(await freshly(one), one.next);
  await call('PUT', `/users/${always.user.id}/ban`, {});
  await call('PUT', `/users/${days.user.id}/ban`, { until });
  await call('PUT', `/users/${paused.user.id}/suspension`, {});
  for (const { email } of moved) assert.equal(await press((await story.undoLinks(email))[0] ?? ''), 200);
  await look(moved.flatMap((one) => valuesOf(one, one.next)));
});

test('what a person changes, or an operator for them', async () => {
  const ada = await story.person();
  const { user } = ada;
  const browser = agent(server.baseUrl, () => server.baseUrl, FIREFOX);
  await submit(browser, '/login', { identifier: user.username, password: PASSWORD });
  await story.setPassword(browser, PASSWORD, RECOVERED);
  await story.addApp(browser);
  await giveRecoveryCodes(server, user);
  await story.renewCodes(browser);
  await story.removeApp(browser);
  await look(valuesOf(ada));

  await addPasskeyOnPage(server, browser, user.id);
  const [added] = await query(server, 'SELECT id FROM passkey WHERE account_id = ?', user.id);
  await addPasskeyOnPage(server, browser, user.id);
  await passkeyForm(browser, { action: 'remove', id: String(added?.['id']) });
  await done(submit(browser, '/account/security', {}, '/account/security/remove-password'));
  await giveRecoveryCodes(server, user);
  await done(submit(browser, '/account/security', { require: 'yes' }, '/account/security/recovery'));
  await done(submit(browser, '/account/security', { require: 'no' }, '/account/security/recovery'));
  await look(valuesOf(ada, 'Firefox on Linux'));

  const identity = await connectIdentity(server, user.id);
  await call('DELETE', `/users/${user.id}/identities/${identity}`);
  await call('POST', `/users/${user.id}/unlock`);
  await call('POST', `/users/${user.id}/recovery`, {});
  await call('DELETE', `/users/${user.id}/sessions`);
  await look(valuesOf(ada, 'connected'));
});

test('a copy of the data, and the deletion of an account', async () => {
  const ada = await story.person();
  await done(submit(await freshly(ada), '/account/data/export'));
  await server.makeExports();
  const leave = async (who: Robbed) =>
    done(submit(await freshly(who), '/account/data', { confirm: 'yes' }, '/account/deletion'));
  await leave(ada);
  const browser = story.browserOf();
  await submit(browser, '/login', { identifier: ada.user.username, password: PASSWORD });
  await done(submit(browser, '/login/come-back'));
  const [bob, eve, kim] = [await story.person(), await story.person(), await story.person()];
  for (const one of [bob, eve, kim]) await leave(one);
  await call('DELETE', `/users/${bob.user.id}/deletion`);
  assert.equal(await press(await story.reportLink(eve.email)), 200);
  const { url } = await call('POST', `/users/${kim.user.id}/recovery-link`, {});
  await done(useLink(story.browserOf(), url, RECOVERED));
  await look([ada, bob, eve, kim].flatMap((one) => valuesOf(one)));
});

test('a person with whose account somebody else signed in, and operators act', async () => {
  const people = [];
  for (const [method, act] of [
    ['PUT', 'ban'],
    ['PUT', 'suspension'],
    ['DELETE', 'sessions'],
  ] as const) {
    const who = await story.person();
    await freshly(who);
    await call(method, `/users/${who.user.id}/${act}`, method === 'PUT' ? {} : undefined);
    people.push(who);
  }
  const two = await story.twoStep();
  await freshly(two).catch(() => undefined);
  await call('DELETE', `/users/${two.user.id}/factors/totp`);
  await call('PATCH', `/users/${two.user.id}`, { password: 'set by an operator' });
  const moved = story.freshAddress();
  await call('PATCH', `/users/${people[0]?.user.id}`, { email: moved });
  await look([...people, two].flatMap((who) => valuesOf(who, moved)));
});

test('a recovery says what it removed', async () => {
  const recover = async ({ email }: Robbed, factor = '') => {
    server.advance(MINUTE);
    await askRecovery(server, story.browserOf(), email);
    assert.ok((await story.recoverAt(email, factor)) < 400);
  };
  const [shows, renewed, types] = [await story.twoStep(), await story.twoStep(), await story.twoStep()];
  const code = ({ factor }: typeof shows) => totpCode(factor, server.now() + MINUTE);
  await recover(shows, code(shows));
  const codes = await giveRecoveryCodes(server, types.user);
  for (const who of [renewed, types]) await story.addApp(await story.signedInWith(who, who.factor));
  await connectIdentity(server, renewed.user.id);
  await recover(renewed, code(renewed));
  await recover(types, codes[0]);

  const ada = await story.person();
  const thief = await freshly(ada);
  const { id } = await call('POST', '/organizations', { name: 'crew', domain: 'crew.example' });
  const { link } = await call('POST', '/invitations', { organizationId: id });
  await done(thief.submit(await thief.get(link), {}, '/invitation'));
  await story.setUsername(thief, 'thieves');
  await recover(ada);
  await look([shows, renewed, types, ada].flatMap((who) => valuesOf(who, 'crew', 'thieves')));
});

test('what an operator makes', async () => {
  const operator = await newOperator(server, 'owner');
  const { email } = await call('GET', `/users/${operator.id}`);
  const token = await signInOnCommandLine(server, { user: operator, ...operator });
  const make = async (method: string, path: string, body?: unknown) => {
    const answer = await admin(server, method, path, body, token);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const friend = await story.person();
  for (let times = 0; times < 7; times++) await signedIn(server, friend.user);
  await story.setPassword(await freshly(friend), PASSWORD, RECOVERED);
  const { clientId } = await call('POST', '/clients', { name: 'Notes', redirectUris: ['https://app.example/cb'] });
  const { id: organizationId } = await call('POST', '/organizations', { name: 'club', domain: 'club.example' });
  const { id: groupId } = await call('POST', '/groups', { name: 'readers' });
  await call('PUT', '/blocked-domains/blocked.example', {});
  await make('POST', '/admin-keys', { name: 'deploy', role: 'auditor' });
  await make('PUT', `/users/${friend.user.id}/roles/auditor`, {});
  await make('POST', '/clients', { name: 'Wiki', redirectUris: ['https://wiki.example/cb'] });
  await make('POST', `/clients/${clientId}/secrets`, {});
  await make('DELETE', '/blocked-domains/blocked.example');
  await make('PATCH', `/clients/${clientId}`, { redirectUris: ['https://other.example/cb'] });
  await make('PATCH', `/organizations/${organizationId}`, { requireSecondFactor: true });
  await make('PATCH', `/groups/${groupId}`, { name: 'writers' });
  const provider = { name: 'provider', issuer: 'https://provider.example', clientId: 'tessera' };
  const { id: upstreamId } = await call('POST', '/upstreams', provider);
  await make('POST', '/upstreams', { ...provider, name: 'new-provider', issuer: 'https://new-provider.example' });
  await make('PATCH', `/upstreams/${upstreamId}`, { signUp: 'anyone' });
  const invitation = { email: 'chair@example.com', role: 'OWNER' };
  await done(act(server, operator, '/console/invitations/new', { organization: organizationId }, invitation));
  await act(server, operator, '/console/system/mail/test', {}, { to: email });
  const values = [
    'blocked.example',
    'redirectUris',
    'requireSecondFactor',
    'name',
    'Notes',
    'Wiki',
    'deploy',
    'auditor',
    'club',
    'readers',
    'writers',
    'new-provider',
    'provider',
    'OWNER',
  ];
  await look(valuesOf({ user: operator, email }, ...values, ...valuesOf(friend)));
});

test('scopes that a developer asks for', async () => {
  const boss = await newOperator(server, 'admin');
  const developer = await newOperator(server, 'developer');
  const token = await signInOnCommandLine(server, { user: developer, ...developer });
  const app = { name: 'Draft', redirectUris: ['https://draft.example/cb'] };
  const { clientId } = (await admin(server, 'POST', '/clients', app, token)).body;
  const requests = `/clients/${clientId}/scope-requests`;
  for (const [scope, decision] of [
    ['phone', 'approve'],
    ['roles', 'decline'],
  ] as const) {
    const asked = await admin(server, 'POST', requests, { scope, reason: 'For the app.' }, token);
    assert.equal(asked.status, 201, JSON.stringify(asked.body));
    await call('POST', `${requests}/${asked.body.id}/${decision}`, { answer: 'So it is.' });
  }
  const emails = [boss, developer].map(({ username }) => `${username}@example.com`);
  await look([server.baseUrl, ...emails, boss.username, developer.username, 'Draft', 'phone', 'roles']);
});

test('what was undone, and what goes on', async () => {
  const ids = Array.from({ length: 12 }, (_, index) => String(index));
  const goesOn = (count: number) => ({
    ...{ made: count, invitations: count, apps: ids, upstreams: count, settings: count, access: count, rights: count },
    accounts: ids,
  });
  const undone = (count: number) => ({
    ...{ removed: { app: true, codes: true }, restored: { app: true, codes: true }, passkeys: count },
    ...{ passkeysRestored: count, identities: count, usedPasskeys: count, apps: count, made: count, registered: count },
    ...{ secrets: count, upstreams: count, settings: count, access: count, rights: count, lostRights: count },
    ...{ suspended: count, leftSettings: ids, changed: ids, through: ids, letGo: goesOn(count), left: 'guild' },
  });
  for (const count of [1, 2]) {
    const said = [...undoneSentences(undone(count)), ...goesOnSentences(goesOn(count))];
    assert.deepEqual(
      said.flatMap((sentence) => plainWords(sentence, ['guild'])),
      [],
    );
  }
});

test('no text of the catalogue is left that none of these messages needed', () => {
  assert.deepEqual(
    texts.filter((name) => !reached.has(name)),
    [],
  );
});
