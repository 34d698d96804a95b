// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { countEvents } from '../../src/audit/counts.ts';
import { systemActs } from '../../src/console/system/acts.ts';
import { en } from '../../src/pages/messages.ts';
import { act, newOperator } from '../support/console.ts';
import { admin, newClient, newUser, signedIn, tokensFor } from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { mailsTo } from '../support/mail.ts';
import { HOUR, query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// The console's pages about the service itself: decisions §13.

const SECRET = randomBytes(32).toString('base64url');
const server = await startServer({ TESSERA_MAILBOX: 'on', TESSERA_SECRET: SECRET });
after(() => server.close());
const owner = await newOperator(server, 'owner');

const totalOf = (text: string, name: string): string =>
  new RegExp(`<h2 class="small">${name}</h2><a class="total figures"[^>]*>([\\d,]+)<`).exec(text)?.[1] ?? '';

async function count(): Promise<void> {
  server.advance(10_000);
  await withData(server, ({ database }) => countEvents(database, server.now()));
}

test('what happened is counted once, by the hour, and each number leads to its events', async () => {
  const app = await newClient(server);
  const user = await newUser(server);
  await count();
  const before = (await owner.browser.get('/console/overview')).text;
  await tokensFor(server, app, user, {}, { browser: await signedIn(server, user) });
  await count();
  await count();
  const after = (await owner.browser.get('/console/overview')).text;
  for (const name of ['Sign-ins', 'Tokens']) {
    assert.equal(Number(totalOf(after, name)) - Number(totalOf(before, name)), 1, name);
  }
  const address = /<a class="total figures" href="([^"]*sign_in.succeeded[^"]*)"/
    .exec(after)?.[1]
    ?.replaceAll('&amp;', '&');
  assert.match((await owner.browser.get(address ?? '')).text, new RegExp(user.id));
});

test('counts of another hour are in another bar, and in the days of a month', async () => {
  const rows = await query(server, "SELECT DISTINCT hour FROM event_count WHERE type = 'account.created'");
  server.advance(2 * HOUR);
  await newUser(server);
  await count();
  const later = await query(server, "SELECT DISTINCT hour FROM event_count WHERE type = 'account.created'");
  assert.equal(later.length, rows.length + 1);
  assert.match((await owner.browser.get('/console/overview?period=month')).text, /Day \(UTC\)/);
});

test('why apps are refused is shown with its number, and an app that fails often is named', async () => {
  const app = await newClient(server, { name: 'Failing' });
  for (let attempt = 0; attempt < 6; attempt++) {
    await fetch(`${server.baseUrl}/oidc/token`, {
      method: 'POST',
      body: new URLSearchParams({
        ...{ grant_type: 'authorization_code', code: `wrong-${attempt}`, redirect_uri: app.redirectUri },
        ...{ client_id: app.clientId, client_secret: app.clientSecret },
      }),
    });
  }
  await count();
  const page = (await owner.browser.get('/console/overview')).text;
  assert.match(page, /Why requests were refused/);
  assert.ok(page.includes(`/console/explain?app=${app.clientId}`));
});

test('a key that ends soon needs attention', async () => {
  const expiresAt = new Date(server.now() + 48 * HOUR).toISOString();
  await admin(server, 'POST', '/admin-keys', { name: 'Ends <soon>', role: 'auditor', expiresAt });
  assert.match((await owner.browser.get('/console/overview')).text, /Ends &lt;soon&gt;/);
});

test('the health page says what the server finds, and which nodes there are', async () => {
  const page = (await owner.browser.get('/console/system')).text;
  assert.match(page, /In order/);
  assert.match(page, /Number \d+/);
});

test('settings are shown with where they come from, and a secret is not', async () => {
  const page = (await owner.browser.get('/console/system/settings')).text;
  assert.match(page, /TESSERA_MAILBOX<\/code>.*?<code>on<\/code>/s);
  assert.match(page, /TESSERA_SECRET<\/code>.*?Set, and not shown/s);
  assert.ok(!page.includes(SECRET));
  const set = (await owner.browser.get('/console/system/settings?show=set')).text;
  assert.ok(set.includes('TESSERA_MAILBOX<') && !set.includes('TESSERA_CONTACT<'));
  assert.match(page, /<summary>Limits <span[^>]*>\d+/);
  const found = (await owner.browser.get('/console/system/settings?q=mailBOX')).text;
  assert.ok(found.includes('TESSERA_MAILBOX<') && found.includes('TESSERA_MAILBOX_KEY<'));
  assert.ok(!found.includes('TESSERA_CONTACT<'));
  assert.match(
    (await owner.browser.get('/console/system/settings?q=%3Cb%3E')).text,
    /No setting contains <bdi>&lt;b&gt;/,
  );
});

test('messages are listed without their contents, and a test message is sent', async () => {
  const done = await act(server, owner, '/console/system/mail/test', {}, { to: 'ada@example.com' });
  assert.match(done.text, /kept in the mailbox/);
  assert.equal((await mailsTo(server, 'ada@example.com')).length, 1);
  assert.match((await owner.browser.get('/console/system/mail?status=kept')).text, /ada@example.com/);
  assert.doesNotMatch((await owner.browser.get('/console/system/mail?status=dead')).text, /ada@example.com/);
  const wrong = await act(server, owner, '/console/system/mail/test', {}, { to: 'nobody' });
  assert.match(wrong.text, /class="problem" id="to-note"/);
});

test('a message that was given up leads to the person, to another one, and from the overview to its reason', async () => {
  const mailing = await startServer({ TESSERA_SMTP_URL: 'smtp://127.0.0.1:9?tls=off' });
  after(() => mailing.close());
  const [sender, reader] = [await newOperator(mailing, 'owner'), await newOperator(mailing, 'auditor')];
  const person = await newUser(mailing, { emailVerified: true });
  await act(mailing, sender, '/console/people/send-recovery', { id: person.id });
  await admin(mailing, 'POST', '/invitations', { email: 'byron@example.com' });
  await query(
    mailing,
    "UPDATE mail SET status = 'dead', sealed = NULL, settled_at = due_at, problem = '550 no such user'",
  );
  const overview = await sender.browser.get('/console/overview');
  assert.match(overview.text, /given up\..*href="\/console\/system\/mail\?status=dead"/s);
  const { text } = await sender.browser.get('/console/system/mail?status=dead');
  assert.match(text, /550 no such user/);
  assert.ok(text.includes(`href="/console/people/${person.id}"`));
  for (const again of [`/console/people/send-recovery?id=${person.id}`, '/console/invitations/new']) {
    assert.ok(text.includes(`href="${again}" aria-label="Send another one: `), text);
    assert.notEqual((await sender.browser.get(again)).status, 404);
  }
  const seen = await reader.browser.get('/console/system/mail?status=dead');
  assert.match(seen.text, /550 no such user/);
  assert.doesNotMatch(seen.text, /Send another one/);
});

test('support sees neither, and an auditor sends no mail', async () => {
  const [support, auditor] = [await newOperator(server, 'support'), await newOperator(server, 'auditor')];
  for (const address of ['/console/overview', '/console/system', '/console/system/settings', '/console/system/mail']) {
    assert.equal((await support.browser.get(address)).status, 403, address);
    assert.equal((await auditor.browser.get(address)).status, 200, address);
  }
  assert.equal((await auditor.browser.get('/console/system/mail/test')).status, 403);
});

test('an operator sends as many test messages as one account may ask for, and none where the right has ended', async () => {
  const limited = await startServer({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: '2/h' });
  try {
    const one = await newOperator(limited, 'owner');
    const statuses: number[] = [];
    for (const _ of [1, 2, 3]) {
      const answer = await act(limited, one, '/console/system/mail/test', {}, { to: 'bob@example.com' });
      statuses.push(answer.status);
    }
    assert.deepEqual(statuses, [200, 200, 429]);
    assert.equal((await mailsTo(limited, 'bob@example.com')).length, 2);
  } finally {
    await limited.close();
  }
  const [testMail] = systemActs;
  const refusal = new Error('refused');
  let sent = 0;
  const database = { commit: async () => Promise.reject(refusal) };
  const sendTestMail = async () => void sent++;
  const services = { database, sendTestMail, clock: Date.now, limits: { mailAddress: null } };
  const visit = { account: { id: '1' }, origin: {}, services: { ...services, site: { messages: en } } };
  const given = { get: () => 'bob@example.com' };
  await assert.rejects(async () => testMail?.run(visit as never, undefined, given), refusal);
  assert.equal(sent, 0);
});
