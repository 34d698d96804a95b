// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, describe, test } from 'node:test';
import { openSealer } from '../../src/keys/sealer.ts';
import { createMailer, type NewMail, readMailbox } from '../../src/mail/mail.ts';
import { settleUnsent } from '../../src/mail/queue-store.ts';
import { HOUR } from '../../src/platform/clock.ts';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { many } from '../../src/platform/database/statement.ts';
import { agent } from '../support/agent.ts';
import { admin } from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { allMails, mailboxLinkOf, mailsTo } from '../support/mail.ts';
import { openOwnStore } from '../support/own-store.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { startSmtpReceiver } from '../support/smtp-receiver.ts';
import { serve, tessera } from './command.ts';

const readSealed = many(
  (db, p: { status: string }) => db.selectFrom('mail').select('sealed').where('status', '=', p.status),
  ({ sealed }) => sealed,
);

// The mailbox of a developer, and what operators do about mail.

const KEY = 'of-the-tests-of-an-app';
const settings = { TESSERA_MAILBOX: 'on', TESSERA_MAILBOX_KEY: KEY, TESSERA_CONTACT: 'help@acme.example' };
const server = await startServer(settings);
after(() => server.close());

const HOSTILE = '<script>alert(1)</script>';
const message = (to: string, subject: string): NewMail => ({
  to,
  accountId: null,
  kind: 'recovery',
  content: {
    subject,
    paragraphs: [`Hello ${HOSTILE}.`],
    code: '123456',
    action: { label: 'Set a new password', url: `${server.baseUrl}/recover?link=abc` },
    footer: ['If it was not you, ignore this.'],
  },
  expiresAt: server.now() + HOUR,
});
const enqueue = (on: TestServer, mail: NewMail) =>
  withData(on, async (core) => {
    const mailer = await core.mailer();
    await core.database.commit(() => mailer.enqueue(mail, core.clock()));
  });

const BEARER = { authorization: `Bearer ${KEY}` };

/** What the server answers to a GET with the key and these headers; with `host`, under that name. */
const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const sent = request(server.baseUrl + path, { headers: { ...BEARER, ...headers } }, async (response) => {
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      resolve({ status: response.statusCode ?? 0, text });
    });
    sent.on('error', reject).end();
  });

test('the mailbox lists messages, newest first, and shows one with its link and its code', async () => {
  assert.match((await get('/mailbox')).text, /No messages yet/);
  await enqueue(server, message('ada@example.com', 'First'));
  await enqueue(server, message('Bob@example.com', `Second ${HOSTILE}`));
  const { status, text } = await get('/mailbox');
  assert.equal(status, 200);
  assert.ok(text.indexOf('Second') < text.indexOf('First'));
  const [, path = ''] = /href="(\/mailbox\/\d+)"/.exec(text) ?? [];
  const shown = await get(path);
  assert.match(shown.text, /data-copy="123456"/);
  assert.match(shown.text, /<a href="[^"]+\/recover\?link=abc" rel="noreferrer">Set a new password<\/a>/);
  for (const page of [text, shown.text]) assert.ok(!page.includes(HOSTILE));
  assert.equal((await get('/mailbox/999')).status, 404);
  const [mail, ...others] = await mailsTo(server, 'bob@EXAMPLE.com');
  assert.deepEqual(others, []);
  assert.deepEqual([mail?.code, mail?.link, mail?.kind], ['123456', `${server.baseUrl}/recover?link=abc`, 'recovery']);
  assert.equal((await allMails(server)).length, 2);
});

test('a message is shown as mail programs show it, alone in a sandbox that runs and loads nothing', async () => {
  await enqueue(server, message('html@example.com', 'As it looks'));
  const browser = agent(server.baseUrl);
  await browser.get(await mailboxLinkOf(server));
  const [, path = ''] = /href="(\/mailbox\/\d+)"/.exec((await browser.get('/mailbox')).text) ?? [];
  const [, html = ''] =
    /<a class="button" href="([^"]+)">See it as mail programs show it/.exec((await browser.get(path)).text) ?? [];
  const answer = await browser.get(html);
  assert.equal(answer.status, 200);
  assert.match(answer.text, /^<!doctype html>.*<h1[^>]*>As it looks<\/h1>.*123 456.*Set a new password<\/a>/s);
  assert.match(answer.text, /Need help with .*\? Contact help@acme\.example\./);
  assert.ok(!answer.text.includes(HOSTILE));
  assert.doesNotMatch(answer.text, /<script|<img|<link|src=|url\(|@import/i, 'nothing is run or loaded');
  const policy = answer.headers.get('content-security-policy')?.split('; ') ?? [];
  for (const directive of [
    'sandbox',
    "default-src 'none'",
    "script-src 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]) {
    assert.ok(policy.includes(directive), directive);
  }
  assert.equal((await browser.get('/mailbox/999/html')).status, 404);
  assert.equal((await agent(server.baseUrl).get(html)).status, 403, 'not without the link');
});

test('the mailbox does not exist for a proxy, another name or another setting', async () => {
  const [, path = ''] = /href="(\/mailbox\/\d+)"/.exec((await get('/mailbox')).text) ?? [];
  const forwarded = ['x-forwarded-for', 'forwarded', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'];
  const refused = [...forwarded.map((name) => ({ [name]: '127.0.0.1' })), { host: 'evil.example' }];
  for (const headers of refused) {
    for (const at of ['/mailbox', path]) assert.equal((await get(at, headers)).status, 404, JSON.stringify(headers));
  }
  const off = await startServer();
  assert.equal((await fetch(`${off.baseUrl}/mailbox`)).status, 404);
  await enqueue(off, message('ada@example.com', 'Never stored'));
  assert.deepEqual((await admin(off, 'GET', '/mail')).body.items, []);
  await off.close();
});

describe('the mailbox opens by its link alone', () => {
  test('the link sets a cookie for the mailbox only, and leads to an address without the key', async () => {
    await enqueue(server, message('ada@example.com', 'By the link'));
    const browser = agent(server.baseUrl);
    const link = await mailboxLinkOf(server);
    assert.equal(link, `${server.baseUrl}/mailbox?key=${KEY}`);
    const opened = await browser.get(link);
    assert.deepEqual([opened.status, opened.headers.get('location')], [303, '/mailbox']);
    const [cookie = ''] = opened.headers.getSetCookie();
    assert.deepEqual(cookie.split('; ').slice(1).sort(), ['HttpOnly', 'Path=/mailbox', 'SameSite=Strict']);
    assert.doesNotMatch(cookie, new RegExp(KEY));
    const list = await browser.get('/mailbox');
    assert.match(list.text, /By the link/);
    const [, path = ''] = /href="(\/mailbox\/\d+)"/.exec(list.text) ?? [];
    assert.equal((await browser.get(path)).status, 200);
    const other = agent(server.baseUrl);
    const direct = await other.get(`${path}?key=${KEY}`);
    assert.deepEqual([direct.status, direct.headers.get('location')], [303, path]);
    assert.equal((await other.get(path)).status, 200);
  });

  test('a visitor of a proxy that says nothing of itself is told how to get the link, and nothing else', async () => {
    await enqueue(server, message('ada@example.com', 'For others'));
    const [, path = ''] = /href="(\/mailbox\/\d+)"/.exec((await get('/mailbox')).text) ?? [];
    const wrong = agent(server.baseUrl);
    wrong.setCookie('tessera_mailbox', KEY);
    for (const browser of [agent(server.baseUrl), wrong]) {
      for (const at of ['/mailbox', path, '/mailbox?key=', '/mailbox?key=of-the-tests', '/mailbox/999']) {
        const answer = await browser.get(at);
        assert.equal(answer.status, 403, at);
        assert.match(answer.text, /tessera mail link/);
        assert.doesNotMatch(answer.text, new RegExp(`For others|${KEY}`));
      }
    }
    const bearer = { authorization: 'Bearer of-the-tests-of-an-apq' };
    assert.equal((await agent(server.baseUrl).get('/mailbox', bearer)).status, 403);
  });

  test('by itself the key follows from the secret: a restart and the command print the same link', async () => {
    const own = await startServer({ TESSERA_MAILBOX: 'on' });
    const link = await mailboxLinkOf(own);
    assert.match(link, /\/mailbox\?key=[A-Za-z0-9_-]{43}$/);
    const env = { ...own.environment, TESSERA_BASE_URL: own.baseUrl };
    assert.equal((await tessera(['mail', 'link'], { env })).stdout, `${link}\n`);
    const browser = agent(own.baseUrl);
    await browser.get(link);
    await own.restart();
    assert.equal((await browser.get('/mailbox')).status, 200);
    assert.equal((await agent(own.baseUrl).get('/mailbox')).status, 403);
    const off = await tessera(['mail', 'link'], { env: { ...env, TESSERA_MAILBOX: 'off' } });
    assert.deepEqual([off.code, off.stdout], [3, '']);
    await own.close();
  });

  test('`open` needs no key, and still no proxy', async () => {
    const open = await startServer({ TESSERA_MAILBOX: 'on', TESSERA_MAILBOX_KEY: 'open' });
    assert.equal(await mailboxLinkOf(open), `${open.baseUrl}/mailbox`);
    assert.equal((await fetch(`${open.baseUrl}/mailbox`)).status, 200);
    const forwarded = { headers: { 'x-forwarded-for': '127.0.0.1' } };
    assert.equal((await fetch(`${open.baseUrl}/mailbox`, forwarded)).status, 404);
    await open.close();
  });

  test('the start prints the link on its standard output, and no log line has it', async () => {
    const own = await startServer({ TESSERA_MAILBOX: 'on' });
    const printed = await serve({ env: { ...own.environment, TESSERA_LOG_LEVEL: 'trace' } });
    const [link = '', key = ''] = /http:\S+\/mailbox\?key=(\S+)/.exec(printed.greeting) ?? [];
    assert.equal(new URL(link).origin, new URL(printed.baseUrl).origin);
    const copies = printed.greeting.split('\n').filter((line) => line.includes(key));
    assert.deepEqual(copies, [`  ${link}`]);
    let later = '';
    printed.process.stdout?.on('data', (chunk) => (later += String(chunk)));
    const browser = agent(printed.baseUrl);
    assert.equal((await browser.get(link)).status, 303);
    assert.equal((await browser.get('/mailbox')).status, 200);
    assert.deepEqual(await printed.stop(), { code: 0, signal: null });
    assert.ok(!`${later}${await printed.errors()}`.includes(key));
    await own.close();
  });
});

test('operators list messages that were given up; their contents are erased', async () => {
  const ids = await withData(server, async ({ database, secret, clock }) => {
    const sealer = await openSealer(database, { current: secret, previous: undefined }, clock);
    const smtp = { host: 'localhost', port: 1, tls: 'off', credentials: undefined } as const;
    const sending = createMailer({ smtp, from: undefined, mailbox: false }, sealer);
    for (const name of ['carol', 'dave']) {
      await database.commit(() => sending.enqueue(message(`${name}@example.com`, 'Dead'), server.now()));
    }
    const { items } = (await admin(server, 'GET', '/mail?status=waiting')).body as { items: { id: string }[] };
    const waiting = items.map(({ id }) => id);
    for (const id of waiting) {
      const end = { status: 'dead', now: server.now(), problem: '550 No such mailbox' } as const;
      await database.commit(() => settleUnsent({ id, attempts: 0, ...end }));
    }
    return waiting;
  });
  const [newest = '', older = ''] = ids;
  const { body } = await admin(server, 'GET', '/mail?status=dead&limit=1');
  assert.deepEqual(body.items, [
    {
      ...{ id: newest, kind: 'recovery', status: 'dead', recipient: 'dave@example.com', userId: null, attempts: 0 },
      ...{ problem: '550 No such mailbox', createdAt: '2026-03-01T12:00:00.250Z', dueAt: null },
      ...{ expiresAt: '2026-03-01T13:00:00.250Z', settledAt: '2026-03-01T12:00:00.250Z' },
    },
  ]);
  const next = await admin(server, 'GET', `/mail?status=dead&limit=1&cursor=${body.nextCursor}`);
  assert.deepEqual([next.body.items[0].id, next.body.nextCursor], [older, null]);
  assert.doesNotMatch(JSON.stringify((await admin(server, 'GET', '/mail')).body), /link=|123456|sealed/);

  // Nothing is left to be sent again.
  const sealed = await withData(server, ({ database }) => database.read(() => readSealed({ status: 'dead' })));
  assert.deepEqual(sealed, [null, null]);
  assert.equal((await admin(server, 'POST', `/mail/${newest}/retry`)).status, 404);
});

test('`tessera mail`: what was given up, and a test that says what to set', async () => {
  const env = { ...server.environment, TESSERA_MAILBOX: 'off' };
  const listed = await tessera(['mail', 'list', '--dead', '--json'], { env });
  assert.deepEqual(
    JSON.parse(listed.stdout).map(({ recipient }: { recipient: string }) => recipient),
    ['dave@example.com', 'carol@example.com'],
  );
  const off = await tessera(['mail', 'test', 'ada@example.com'], { env });
  assert.deepEqual([off.code, off.stdout], [3, '']);
  assert.match(off.stderr, /TESSERA_SMTP_URL is not set/);
  const refused = await tessera(['mail', 'test', 'ada@example.com'], {
    env: { ...env, TESSERA_SMTP_URL: 'smtp://user:hush@127.0.0.1:1' },
  });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /not sent\. 127\.0\.0\.1:1: .*ECONNREFUSED/);
  assert.doesNotMatch(refused.stderr, /hush/);
});

test('`tessera mail test` names the mailbox at the port that it is told, and otherwise says that it was told none', async () => {
  const { TESSERA_PORT: _, ...environment } = server.environment;
  const env = { ...environment, TESSERA_MAILBOX: 'on' };
  const untold = await tessera(['mail', 'test', 'ada@example.com'], { env });
  assert.match(untold.stdout, /http:\/\/localhost:3000\/mailbox\?key=/);
  assert.match(untold.stdout, /listens at another port than 3000, repeat the command with --port/);
  for (const [more, settings] of [
    [['--port', '4567'], {}],
    [[], { TESSERA_PORT: '4567' }],
    [['--base-url', 'http://localhost:4567'], {}],
  ] as const) {
    const told = await tessera(['mail', 'test', 'ada@example.com', ...more], { env: { ...env, ...settings } });
    assert.match(told.stdout, /http:\/\/localhost:4567\/mailbox\?key=/);
    assert.doesNotMatch(told.stdout, /repeat the command/);
  }
});

test('a server sends its outbox, counts it, and keeps it through a change of the secret', async () => {
  const receiver = await startSmtpReceiver();
  const smtp = { TESSERA_SMTP_URL: `smtp://127.0.0.1:${receiver.port}`, TESSERA_METRICS_ADDRESS: '127.0.0.1:0' };
  const secret = { TESSERA_SECRET: randomSecret() };
  const sending = await startServer({ ...smtp, ...secret });
  assert.equal((await fetch(`${sending.baseUrl}/mailbox`)).status, 404);
  const accepted = receiver.next();
  await enqueue(sending, message('ada@example.com', 'Sent by the server'));
  await accepted;
  assert.match(receiver.received[0]?.raw ?? '', /^From: Tessera <no-reply@localhost>\r$/m);
  await sending.close();
  await receiver.close();

  // Sealed under the old secret, opened under the new one.
  const store = await openOwnStore();
  const roots = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;
  const open = (current: Buffer, ...previous: readonly Buffer[]) =>
    openSealer(store.database, { current, previous }, server.now);
  const mailer = createMailer({ smtp: undefined, from: undefined, mailbox: true }, await open(roots[0]));
  await store.database.commit(() => mailer.enqueue(message('ada@example.com', 'Waits'), server.now()));
  const [kept] = await readMailbox(store.database, await open(roots[1], roots[0]));
  assert.equal(kept?.content.subject, 'Waits');
  await store.dispose();
});
