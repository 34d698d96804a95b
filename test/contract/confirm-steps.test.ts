// store: SQLite, PostgreSQL with --all
/** WCAG 3.3.4: what cannot be undone asks once more on the same page, without script, and says what is removed and what is left. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { admin, newClient, newUser, signedIn, tokensFor } from '../support/flow.ts';
import { newPasskey, usePasskey } from '../support/passkeys.ts';
import { atSecondStep, enroll, totpCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_MAILBOX: 'on' });
after(() => server.close());

const words = (html: string): string =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** A person with everything that can be taken away, signed in by passkey, so that nothing waits for a proof. */
async function everythingSet(): Promise<{ browser: Agent; clientId: string }> {
  const user = await newUser(server, { emailVerified: true });
  const client = await newClient(server, { name: 'Acme Notes' });
  const factor = await enroll(server, user);
  const passkey = await newPasskey(server, user.id);
  const { body } = await admin(server, 'POST', '/organizations', { name: 'guild', domain: 'guild.example' });
  await admin(server, 'PUT', `/organizations/${body.id}/members/${user.id}`, { role: 'MEMBER' });
  const trusting = await atSecondStep(server, user);
  const code = totpCode(factor, server.now());
  await trusting.browser.submit(trusting.page, { code, trust: 'on' }, '/login/verify');
  const browser = agent(server.baseUrl);
  assert.equal((await usePasskey(browser, passkey)).status, 303);
  await tokensFor(server, client, user, { scope: 'openid email' }, { browser });
  return { browser, clientId: client.clientId };
}

/** The confirm steps of a page: what they are called, and what they say. */
const stepsOf = (html: string): ReadonlyMap<string, string> =>
  new Map(
    [...html.matchAll(/<details class="confirm"><summary>(.*?)<\/summary>(.*?)<\/details>/gs)].map(
      ([, label = '', content = '']) => [words(label), words(content)],
    ),
  );

const { browser, clientId } = await everythingSet();

/** What each step says of what it removes, and of what the person still has. */
const STEPS: readonly [page: string, step: string, says: readonly RegExp[]][] = [
  [
    '/account/security',
    'Remove',
    [
      /The passkey .+ no longer signs you in\. You will be signed out in every other browser, and have to sign in to your apps again\./,
      /You then get in with one of these: Your password, with a code of your authenticator app\. A link to your email address, with a code of your authenticator app\./,
      /Yes, remove the passkey$/,
    ],
  ],
  [
    '/account/security',
    'Remove your password',
    [/Without a password, you sign in with passkeys alone/, /one of these: A passkey\./, /Yes, remove my password$/],
  ],
  [
    '/account/security',
    'Remove the authenticator app',
    [/no longer asked for a code/, /one of these: A passkey\. Your password\./, /Yes, remove the app$/],
  ],
  [
    '/account/security',
    'Get new recovery codes',
    [/ten new ones, and the 10 that are left stop working\./, /Yes, make new codes$/],
  ],
  [
    '/account/sessions',
    'Ask for a code there again',
    [/ is no longer trusted: the next time that you sign in there, you are asked for a code\./],
  ],
  ['/account/sessions', 'Sign out there', [/ is signed out at once/]],
  [
    `/account/connections/${clientId}`,
    'Take away access',
    [/Acme Notes loses access at once, on every device, .*Your account there is not deleted\./],
  ],
  ['/account/connections', 'Take away all access', [/Every app stops at once/]],
  ['/account/organization', 'Leave the organization', [/You lose what you may use as a member at once/]],
];

for (const [page, step, says] of STEPS) {
  test(`${page.replace(/\d+/, ':clientId')}: ${step}`, async () => {
    const text = stepsOf((await browser.get(page)).text).get(step);
    assert.ok(text !== undefined, [...stepsOf((await browser.get(page)).text).keys()].join(', '));
    for (const pattern of says) assert.match(text, pattern);
  });
}

test('no button of the account pages that removes something is pressed without such a step or a box to tick', async () => {
  const pages = ['', '/security', '/sessions', '/connections', '/email', '/organization', '/data'];
  for (const page of pages.map((end) => `/account${end}`)) {
    const { text } = await browser.get(page);
    const outside = text.replaceAll(/<details class="confirm">.*?<\/details>/gs, '');
    for (const [form] of outside.matchAll(/<form.*?<\/form>/gs)) {
      // Signing in again undoes it.
      if (form.includes('action="/account/sign-out-everywhere"')) continue;
      if (form.includes('class="danger"'))
        assert.match(form, /type="checkbox"[^>]* required/, `${page}: ${words(form)}`);
    }
  }
});

test('the last way in has no step, and the page says what to set up first', async () => {
  const { body } = await admin(server, 'POST', '/users', {
    username: 'one-way',
    displayName: 'One',
    email: 'one-way@example.com',
  });
  const passkey = await newPasskey(server, body.id);
  const one = agent(server.baseUrl);
  assert.equal((await usePasskey(one, passkey)).status, 303);
  const { text } = await one.get('/account/security');
  assert.equal(stepsOf(text).has('Remove'), false);
  assert.match(words(text), /This passkey is your only way to sign in\. Add another passkey or set a password/);
});

test('an app is taken away on its own page, and the list says what stopped', async () => {
  const user = await newUser(server);
  const own = await signedIn(server, user);
  const client = await newClient(server, { name: 'Weather' });
  await tokensFor(server, client, user, {}, { browser: own });
  const page = await own.get(`/account/connections/${client.clientId}`);
  const answer = await own.submit(page, {}, '/account/connections');
  assert.match(words(answer.text), /Weather lost access on .* It has to ask you before it gets access again\./);
  assert.equal((await own.get(`/account/connections/${client.clientId}`)).location?.pathname, '/account/connections');
});

test('what waits for a verified address leads to where it is verified', async () => {
  const own = await signedIn(server, await newUser(server));
  const { text } = await own.get('/account/security');
  const leads = text.split('<a href="/account/email">Verify your email address</a>').length - 1;
  assert.equal(leads, 2, 'passkeys and two-step sign-in');
});

test('each removal says whether the recovery codes end with it, and so it is', async () => {
  const ends = /Your recovery codes stop working\./;
  const codesOf = async (of: Agent): Promise<string | undefined> =>
    /(\d+) of 10 left/.exec((await of.get('/account/security')).text)?.[1];
  const user = await newUser(server, { emailVerified: true });
  await enroll(server, user);
  const passkey = await newPasskey(server, user.id);
  const own = agent(server.baseUrl);
  await usePasskey(own, passkey);
  const both = stepsOf((await own.get('/account/security')).text);
  assert.doesNotMatch(both.get('Remove the authenticator app') ?? '', ends);
  assert.doesNotMatch(both.get('Remove') ?? '', ends, 'the app has use for them');
  await own.submit(await own.get('/account/security'), {}, '/account/security/authenticator/remove');
  assert.equal(await codesOf(own), '10');
  const last = await own.get('/account/security');
  assert.match(stepsOf(last.text).get('Remove') ?? '', ends);
  await own.submit(last, { action: 'remove', id: passkey.id }, '/account/security/passkeys');
  assert.equal(await codesOf(own), undefined);
  const app = await newUser(server, { emailVerified: true });
  const factor = await enroll(server, app);
  const alone = await atSecondStep(server, app);
  await alone.browser.submit(alone.page, { code: totpCode(factor, server.now()) }, '/login/verify');
  assert.match(
    stepsOf((await alone.browser.get('/account/security')).text).get('Remove the authenticator app') ?? '',
    ends,
  );
});

test('what a first passkey ends is said before: in the offer and on the Security page', async () => {
  const says = /You will be signed out in every other browser, and have to sign in to your apps again\./;
  const user = await newUser(server, { emailVerified: true });
  const one = await signedIn(server, user);
  const offerOf = ({ text }: { readonly text: string }): string =>
    words(/<section[^>]*id="passkey-offer".*?<\/section>/s.exec(text)?.[0] ?? '');
  const addOf = ({ text }: { readonly text: string }): string =>
    words(/<form[^>]*id="add-passkey".*?<\/form>/s.exec(text)?.[0] ?? '');
  assert.match(offerOf(await one.get('/account')), says);
  assert.match(addOf(await one.get('/account/security')), says);
  const passkey = await newPasskey(server, user.id);
  const other = agent(server.baseUrl);
  await usePasskey(other, passkey);
  const again = addOf(await other.get('/account/security'));
  assert.match(again, /Add a passkey/);
  assert.doesNotMatch(again, says, 'a second one ends nothing');
});
