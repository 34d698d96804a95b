// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, test } from 'node:test';
import { insertPreviousAddress, removePreviousAddresses } from '../../src/accounts/previous-address-store.ts';
import { endInvitationsOfAdminKey, type Invitation, insertInvitation } from '../../src/invitations/store.ts';
import { openSealer } from '../../src/keys/sealer.ts';
import { createChallenge, prepareChallenge, useChallenge } from '../../src/mail/challenges.ts';
import { type MailDispatcherOptions, startMailDispatcher } from '../../src/mail/dispatcher.ts';
import { createMailer, maintainMail, type NewMail } from '../../src/mail/mail.ts';
import type { MailSender } from '../../src/mail/message.ts';
import { listMail } from '../../src/mail/store.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { one } from '../../src/platform/database/statement.ts';
import { smtpTransport, type TransportOptions } from '../../src/platform/mail/transport.ts';
import { readConfig } from '../../src/settings/config.ts';
import { certificate } from '../support/certificate.ts';
import { openOwnStore } from '../support/own-store.ts';
import { type SmtpReceiver, startSmtpReceiver } from '../support/smtp-receiver.ts';
import { account } from './rows.ts';

// Mail against a real SMTP server, on both stores: what is sent, how often, and what stays of it.

const own = await openOwnStore();
after(() => own.dispose());
const { database } = own;
let now = Date.parse('2026-03-01T12:00:00Z');
const clock = () => now;
const sealer = await openSealer(database, { current: Buffer.alloc(32, 1), previous: undefined }, clock);
const SENDER: MailSender = {
  from: { name: 'Çınar ✓', address: 'no-reply@example.com' },
  replyTo: 'help@example.com',
  contact: 'help@example.com',
  host: 'example.com',
};
const mailer = createMailer({ smtp: smtpOf('smtp://localhost'), from: undefined, mailbox: false }, sealer);

function smtpOf(url: string) {
  const { smtp } = readConfig({ TESSERA_SMTP_URL: url }).mail;
  assert.ok(smtp);
  return smtp;
}

type Outcomes = string[];

/** A node that sends the outbox to a server. It looks for messages only when told to. */
function node(url: string, options: TransportOptions = {}, changes: Partial<MailDispatcherOptions> = {}) {
  const outcomes: Outcomes = [];
  const errors: unknown[] = [];
  const dispatcher = startMailDispatcher(
    {
      database,
      clock,
      sealer,
      transport: smtpTransport(smtpOf(url), { timeoutMs: 20 * SECOND, ...options }),
      sender: SENDER,
      meter: { mailed: (kind, outcome) => outcomes.push(`${kind} ${outcome}`) },
      failed: (error) => errors.push(error),
      ...changes,
    },
    DAY,
    0,
  );
  return { ...dispatcher, outcomes, errors };
}

const plainUrl = ({ port }: SmtpReceiver): string => `smtp://127.0.0.1:${port}`;

let messages = 0;
const message = (changes: Partial<NewMail> = {}): NewMail => ({
  to: `person-${++messages}@example.com`,
  accountId: null,
  kind: 'recovery',
  content: {
    subject: `Set a new password ${messages}`,
    paragraphs: ['You asked for a new password.'],
    action: { label: 'Set a new password', url: 'https://id.example.com/recover?link=secret-of-the-link' },
  },
  expiresAt: now + HOUR,
  ...changes,
});

const enqueue = async (mail: NewMail): Promise<NewMail> => {
  await database.commit(() => mailer.enqueue(mail, now));
  return mail;
};
const newest = async () => {
  const [mail] = await database.read(() => listMail({ before: '1000000000', limit: 1 }));
  assert.ok(mail);
  return mail;
};

/** Starts a server and a node, and stops both. */
async function withReceiver(
  settings: Parameters<typeof startSmtpReceiver>[0],
  work: (receiver: SmtpReceiver) => Promise<void>,
): Promise<void> {
  const receiver = await startSmtpReceiver(settings);
  try {
    await work(receiver);
  } finally {
    await receiver.close();
  }
}

test('a message is sent once, over STARTTLS and with a password, and its content is erased', () =>
  withReceiver({ tls: true, login: { user: 'ada@example.com', password: 'p:' } }, async (receiver) => {
    const url = `smtp://ada%40example.com:p%3A@localhost:${receiver.port}?tls=required`;
    const sending = node(url, { ca: certificate, greeting: 'id.example.com' });
    const { to } = await enqueue(message({ to: 'Ada.Lovelace+x@Example.com' }));
    assert.deepEqual({ ...(await sending.waiting()), at: 0 }, { count: 1, oldest: 0, at: 0 });
    now += MINUTE;
    assert.equal((await sending.waiting()).oldest, MINUTE);
    await sending.deliverDue();
    await sending.deliverDue();
    const [mail, ...others] = receiver.received;
    assert.deepEqual(others, []);
    assert.deepEqual(mail && { ...mail, raw: '' }, {
      ...{ from: 'no-reply@example.com', to: [to], raw: '', secure: true, user: 'ada@example.com' },
      greeting: 'id.example.com',
    });
    const raw = mail?.raw ?? '';
    assert.match(raw, /^From: =\?UTF-8\?.+\?= <no-reply@example\.com>\r$/m);
    assert.match(raw, /^Message-ID: <[\w-]{22}@example\.com>\r$/m);
    assert.match(raw, /^Date: Sun, 01 Mar 2026 12:00:00 \+0000\r$/m);
    assert.match(raw, /^Auto-Submitted: auto-generated\r$/m);
    assert.match(raw, /^Reply-To: help@example\.com\r$/m);
    assert.match(raw, /^Need help with .*\? Contact help@example\.com\.\r$/m);
    assert.match(raw, /^Content-Type: multipart\/alternative/m);
    const { status, attempts, settledAt } = await newest();
    assert.deepEqual([status, attempts, settledAt], ['sent', 1, now]);
    assert.equal((await sending.waiting()).count, 0);
    assert.deepEqual([sending.outcomes, sending.errors], [['recovery sent'], []]);
    await maintainMail(database, now + DAY);
    assert.deepEqual(await database.read(() => listMail({ before: '1000000000', limit: 1 })), []);
    await sending.stop();
  }));

test('without encryption nothing is sent to another machine, nor a password that the server does not take', async () => {
  // Neither is a fault of the message, so it is tried again.
  const login = { user: 'ada', password: 'right' };
  const cases: [Parameters<typeof startSmtpReceiver>[0], (receiver: SmtpReceiver) => string, RegExp][] = [
    [{}, ({ port }) => `smtp://127.0.0.1:${port}?tls=required`, /answered 500|STARTTLS/],
    [{ tls: true }, ({ port }) => `smtp://localhost:${port}?tls=required`, /self.signed certificate/],
    [{ login }, ({ port }) => `smtp://ada:wrong@127.0.0.1:${port}`, /535|Must issue a STARTTLS|538/],
    [{ login }, plainUrl, /530/],
  ];
  for (const [settings, url, problem] of cases) {
    await withReceiver(settings, async (receiver) => {
      const sending = node(url(receiver));
      await enqueue(message());
      await sending.deliverDue();
      const mail = await newest();
      assert.deepEqual([receiver.received, mail.status], [[], 'waiting'], url(receiver));
      assert.match(mail.problem ?? '', problem);
      assert.doesNotMatch(mail.problem ?? '', /wrong/);
      await sending.stop();
      now += DAY;
      await maintainMail(database, now);
    });
  }
});

test('a message is tried again after 4xx, and given up after 5xx', () =>
  withReceiver({}, async (receiver) => {
    const sending = node(plainUrl(receiver));
    receiver.answer(451, 421);
    await enqueue(message());
    const problems = [];
    for (let minute = 0; receiver.received.length === 0; minute++, now += MINUTE) {
      assert.ok(minute < 5);
      await sending.deliverDue();
      problems.push((await newest()).problem);
    }
    assert.match(problems[0] ?? '', /answered 451 .*Try again later/);
    assert.deepEqual(sending.outcomes, ['recovery retried', 'recovery retried', 'recovery sent']);

    receiver.answer(550);
    await enqueue(message());
    await sending.deliverDue();
    now += 10 * MINUTE;
    await sending.deliverDue();
    const { status, problem, attempts } = await newest();
    assert.deepEqual([status, attempts], ['dead', 1]);
    assert.match(problem ?? '', /answered 550 .*No such mailbox/);
    assert.equal(receiver.received.length, 1);
    assert.deepEqual(sending.errors, []);
    await sending.stop();
  }));

test('an outage of the server: a link that lives for an hour arrives within it, and no message is lost', async () => {
  const receiver = await startSmtpReceiver();
  const sending = node(plainUrl(receiver));
  const { port } = receiver;
  await receiver.close();
  const late = await enqueue(message({ expiresAt: now + HOUR }));
  const longer = await enqueue(message({ expiresAt: now + DAY, kind: 'security notice' }));
  const until = now + HOUR - MINUTE;
  for (; now < until; now += MINUTE) await sending.deliverDue();
  assert.ok(port > 0);
  assert.deepEqual(new Set(sending.outcomes), new Set(['recovery retried', 'security notice retried']));
  // The server is back, at another port, after the link has died.
  now += 2 * MINUTE;
  await withReceiver({}, async (back) => {
    const again = node(plainUrl(back));
    for (let minute = 0; minute < 31; minute++, now += MINUTE) await again.deliverDue();
    assert.deepEqual(
      back.received.map(({ to }) => to),
      [[longer.to]],
    );
    const [second, first] = await database.read(() => listMail({ before: '1000000000', limit: 2 }));
    assert.deepEqual([first?.recipient, first?.status, second?.status], [late.to, 'expired', 'sent']);
    await again.stop();
  });
  await sending.stop();
});

test('a message that fails here delays no other, and is given up like one without an answer', async () => {
  const sent: string[] = [];
  const broken = await enqueue(message({ expiresAt: now + DAY }));
  const transport = {
    async send({ to }: { readonly to: string }) {
      if (to === broken.to) throw new Error('broken');
      sent.push(to);
      return { kind: 'accepted', answer: '250 OK' } as const;
    },
  };
  const sending = node('smtp://localhost', {}, { transport });
  const others = [await enqueue(message()), await enqueue(message())].map(({ to }) => to);
  await sending.deliverDue();
  assert.deepEqual(sent.sort(), others.sort());
  for (let attempt = 0; attempt < 3; attempt++) {
    now += 3 * MINUTE;
    await sending.deliverDue();
  }
  const listed = await database.read(() => listMail({ before: '1000000000', limit: 3 }));
  assert.equal(listed.find(({ recipient }) => recipient === broken.to)?.status, 'dead');
  assert.equal(sending.errors.length, 2);
  await sending.stop();
});

test('at most two copies are sent, however often the answer is lost', () =>
  withReceiver({}, async (receiver) => {
    const sending = node(plainUrl(receiver));
    receiver.answer('accept and close', 'accept and close', 'accept and close');
    await enqueue(message({ expiresAt: now + DAY }));
    for (let minute = 0; minute < 10; minute++, now += MINUTE) await sending.deliverDue();
    assert.equal(receiver.received.length, 2);
    const ids = receiver.received.map(({ raw }) => /^Message-ID: .+$/m.exec(raw)?.[0]);
    assert.equal(new Set(ids).size, 1, 'a copy can be recognized');
    const { status, problem } = await newest();
    assert.equal(status, 'dead');
    assert.match(problem ?? '', /may have been delivered/);
    await sending.stop();
  }));

test('a node that dies between the answer and its record: another node sends once more, and then nobody', () =>
  withReceiver({}, async (receiver) => {
    await enqueue(message({ expiresAt: now + DAY }));
    for (let death = 0; death < 2; death++) {
      // The record of the answer never reaches the store, as if the process were gone.
      let commits = 0;
      const commit: typeof database.commit = (work) =>
        commits++ === 0 ? database.commit(work) : new Promise<never>(() => {});
      const dying = node(plainUrl(receiver), {}, { database: { ...database, commit } });
      const accepted = receiver.next();
      void dying.deliverDue();
      await accepted;
      now += 4 * MINUTE;
    }
    const survivor = node(plainUrl(receiver));
    await survivor.deliverDue();
    assert.equal(receiver.received.length, 2);
    assert.equal((await newest()).status, 'dead');
    await survivor.stop();
  }));

test('a slow server is waited for, a silent one is not waited for forever', () =>
  withReceiver({}, async (receiver) => {
    const sending = node(plainUrl(receiver));
    receiver.answer('silence', 'silence');
    receiver.silent = (accept) => setImmediate(accept);
    await enqueue(message({ expiresAt: now + DAY }));
    await sending.deliverDue();
    assert.equal((await newest()).status, 'sent');

    // A node that stops gives attempts under way a moment. The server may have accepted this one.
    await enqueue(message({ expiresAt: now + DAY }));
    const stopped = new Promise<void>((resolve) => {
      receiver.silent = () => resolve(sending.stop());
    });
    await Promise.all([sending.deliverDue(), stopped]);
    const { status, problem } = await newest();
    assert.deepEqual([status, problem], ['waiting', `127.0.0.1:${receiver.port}: the server is stopping`]);

    const mute = createServer().listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const impatient = node(`smtp://127.0.0.1:${(mute.address() as AddressInfo).port}`, { timeoutMs: 20 });
    now += HOUR;
    await impatient.deliverDue();
    assert.match((await newest()).problem ?? '', /no answer within 0\.02 seconds/);
    await impatient.stop();
    mute.close();
    now += DAY;
    await maintainMail(database, now);
  }));

test('a message whose link was used, replaced or has expired is not sent', () =>
  withReceiver({}, async (receiver) => {
    const sending = node(plainUrl(receiver));
    const challenge = { purpose: 'sign up', account: null, address: 'a@example.com', browserHash: 'b' } as const;
    const make = async (lifetime: number) => {
      const sent = prepareChallenge();
      await database.commit(() => createChallenge(sealer, sent, { ...challenge, lifetime }, now));
      await enqueue(message({ challenge: sent.hash, expiresAt: now + DAY }));
      return sent;
    };
    const ends: ((sent: { link: string }) => Promise<unknown>)[] = [
      ({ link }) => database.commit(() => useChallenge(sealer, link, 'sign up', now)),
      () => database.commit(() => createChallenge(sealer, prepareChallenge(), { ...challenge, lifetime: HOUR }, now)),
      async () => {
        now += HOUR;
      },
    ];
    for (const end of ends) {
      await end(await make(HOUR));
      await sending.deliverDue();
      const { status, problem } = await newest();
      assert.deepEqual([status, problem], ['expired', 'its link is no longer valid']);
    }
    assert.deepEqual(receiver.received, []);
    await make(HOUR);
    await sending.deliverDue();
    assert.equal(receiver.received.length, 1);
    await sending.stop();
  }));

test('a message whose right to undo a change of address has ended is not sent', () =>
  withReceiver({}, async (receiver) => {
    const sending = node(plainUrl(receiver));
    const accountId = '4711';
    await database.commit(() => account(accountId));
    const made = {
      accountId,
      email: 'a@example.com',
      changedAt: now,
      factorsSince: now,
      standing: 'right' as const,
      provedBy: null,
      passkeys: [],
      expiresAt: now + DAY,
    };
    await database.commit(() => insertPreviousAddress({ ...made, hash: 'ended' }));
    await enqueue(message({ challenge: 'ended', expiresAt: now + DAY }));
    await database.commit(() => removePreviousAddresses({ accountId, since: 0 }));
    await sending.deliverDue();
    const { status, problem } = await newest();
    assert.deepEqual([status, problem], ['expired', 'its link is no longer valid']);
    assert.deepEqual(receiver.received, []);
    await database.commit(() => insertPreviousAddress({ ...made, hash: 'open' }));
    await enqueue(message({ challenge: 'open', expiresAt: now + DAY }));
    await sending.deliverDue();
    assert.equal(receiver.received.length, 1);
    await sending.stop();
  }));

const readHash = one((db, p: { id: string }) => db.selectFrom('mail').select('challenge_hash').where('id', '=', p.id));

test('what outlives generations is looked up, but is not named where an earlier version looks for a challenge', () =>
  withReceiver({}, async (receiver) => {
    const sending = node(plainUrl(receiver));
    const accountId = '4712';
    await database.commit(() => account(accountId));
    const right = {
      accountId,
      email: 'b@example.com',
      changedAt: now,
      factorsSince: now,
      standing: 'right' as const,
      provedBy: null,
      passkeys: [],
      expiresAt: now + DAY,
    };
    const invitation: Invitation = {
      ...{ id: '1', hash: 'invitation', email: 'b@example.com', mailed: true, organizationId: null, role: null },
      ...{
        inviterId: null,
        operatorId: null,
        adminKeyId: '9',
        createdAt: now,
        expiresAt: now + DAY,
        usedAt: null,
        usedBy: null,
      },
    };
    await database.commit(() => insertPreviousAddress({ ...right, hash: 'right' }));
    await database.commit(() => insertInvitation(invitation));
    for (const restsOn of ['right', 'invitation']) {
      await enqueue(message({ restsOn, expiresAt: now + DAY }));
      const { id } = await newest();
      assert.equal((await database.read(() => readHash({ id })))?.challenge_hash, null);
      await sending.deliverDue();
      assert.equal((await newest()).status, 'sent', restsOn);
      await enqueue(message({ restsOn, expiresAt: now + DAY }));
      // The owner has the address again; the key that invited was revoked.
      await database.commit(() => removePreviousAddresses({ accountId, since: 0 }));
      if (restsOn === 'invitation') await database.commit(() => endInvitationsOfAdminKey({ adminKeyId: '9' }));
      await sending.deliverDue();
      assert.equal((await newest()).problem, 'its link is no longer valid', restsOn);
    }
    assert.equal(receiver.received.length, 2);
    await sending.stop();
  }));

test('two nodes send each message once', () =>
  withReceiver({}, async (receiver) => {
    const nodes = [node(plainUrl(receiver)), node(plainUrl(receiver))];
    const sent = [];
    for (let i = 0; i < 20; i++) sent.push((await enqueue(message())).to);
    await Promise.all(nodes.map(({ deliverDue }) => deliverDue()));
    assert.deepEqual(receiver.received.map(({ to }) => to[0]).sort(), sent.sort());
    for (const { stop, errors } of nodes) {
      await stop();
      assert.deepEqual(errors, []);
    }
  }));

test('nothing in a message can add a header or a recipient', () =>
  withReceiver({}, async (receiver) => {
    const evil = 'Hello\r\nBcc: eve@example.com\r\n\r\nInjected';
    const transport = smtpTransport(smtpOf(plainUrl(receiver)));
    const text = { subject: evil, text: 'Text', html: '<p>Text</p>', messageId: 'id@example.com', date: now };
    const from = { name: evil, address: 'no-reply@example.com' };
    const signal = new AbortController().signal;
    const result = await transport.send({ ...text, from, to: 'ada@example.com' }, signal);
    assert.equal(result.kind, 'accepted', JSON.stringify(result));
    const [head = ''] = receiver.received[0]?.raw.split('\r\n\r\n') ?? [];
    assert.doesNotMatch(head, /^Bcc:/im);
    assert.deepEqual(receiver.received[0]?.to, ['ada@example.com']);
    for (const to of ['ada@example.com\r\nRCPT TO:<eve@example.com>', 'ada@example.com>, <eve@example.com']) {
      const refused = await transport.send({ ...text, from, to }, signal);
      assert.notEqual(refused.kind, 'unknown', JSON.stringify(refused));
    }
    for (const { to } of receiver.received) assert.ok(!to.includes('eve@example.com'), String(to));
  }));
