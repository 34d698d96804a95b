// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newAccount } from '../../src/account-actions/accounts/create-account.ts';
import { enqueueSecurityNotice, type NotifiedAccount } from '../../src/account-actions/notices/notices.ts';
import type { SecurityNotice } from '../../src/account-actions/notices/rules/notice-text.ts';
import { insertPreviousAddress } from '../../src/accounts/previous-address-store.ts';
import { newProfile } from '../../src/accounts/rules/profile.ts';
import { insertAccount, lockAccount, saveAccount } from '../../src/accounts/store.ts';
import { openSealer } from '../../src/keys/sealer.ts';
import { findChallenge } from '../../src/mail/challenges.ts';
import { startMailDispatcher } from '../../src/mail/dispatcher.ts';
import { createMailer, maintainMail } from '../../src/mail/mail.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import type { Work } from '../../src/platform/database/database.ts';
import { many } from '../../src/platform/database/statement.ts';
import type { MailMessage, MailResult } from '../../src/platform/mail/transport.ts';
import { openOwnStore } from '../support/own-store.ts';

// How many messages the acts of one account make, and what the last of them says, on both stores.

const own = await openOwnStore();
after(() => own.dispose());
const { database } = own;
let now = Date.parse('2026-03-01T12:00:00Z');
const sealer = await openSealer(database, { current: Buffer.alloc(32, 1), previous: undefined }, () => now);
const smtp = { host: 'localhost', port: 1, tls: 'off', credentials: undefined } as const;
const mail = createMailer({ smtp, from: undefined, mailbox: false }, sealer);
const services = { mail, sealer, issuer: 'https://id.example.com' };

const ACCEPTED: MailResult = { kind: 'accepted', answer: '250 OK' };

/** A node with a server that answers as told. */
function node(answer: (message: MailMessage) => MailResult = () => ACCEPTED) {
  const sent: MailMessage[] = [];
  const dispatcher = startMailDispatcher(
    {
      ...{
        database,
        clock: () => now,
        sealer,
        meter: { mailed: () => {} },
        failed: (error) => assert.fail(String(error)),
      },
      sender: { from: { name: 'Tessera', address: 'no-reply@example.com' }, replyTo: undefined, host: 'example.com' },
      transport: {
        async send(message) {
          const result = answer(message);
          if (result.kind === 'accepted') sent.push(message);
          return result;
        },
      },
    },
    DAY,
    0,
  );
  return { sent, ...dispatcher };
}

let accounts = 100;
/** An account with three earlier addresses. */
async function newPerson(): Promise<NotifiedAccount & { readonly oldest: string }> {
  const id = String(++accounts);
  const email = `present-${id}@example.com`;
  const profile = newProfile({ username: `ada-${id}`, displayName: 'Ada', email }, id, now);
  const account = newAccount(id, profile, null, now);
  const before = ['oldest', 'middle', 'latest'].map((name) => `${name}-${id}@example.com`);
  await database.commit(function* insert(): Work<void> {
    yield* insertAccount(account);
    for (const [index, earlier] of before.entries()) {
      const changedAt = now - HOUR + index;
      const expiresAt = now + 7 * DAY;
      const previous = {
        hash: earlier,
        accountId: id,
        email: earlier,
        changedAt,
        factorsSince: now,
        standing: 'right' as const,
        provedBy: null,
        passkeys: [],
        expiresAt,
      };
      yield* insertPreviousAddress(previous);
    }
  });
  return { ...account, oldest: before[0] ?? '' };
}

let generations = 0;
/** Acts of an account, each of which begins a new generation. */
const act = ({ id }: NotifiedAccount, notice: SecurityNotice, facts = {}): Promise<void> =>
  database.commit(function* change(): Work<void> {
    const account = yield* lockAccount({ id });
    assert.ok(account !== undefined);
    const changed = { ...account, generation: `generation ${++generations}` };
    yield* saveAccount(changed);
    yield* enqueueSecurityNotice(services, changed, notice, facts, now, now);
  });

const readRows = many((db, p: { accountId: string }) =>
  db.selectFrom('mail').select(['recipient', 'status', 'challenge_hash']).where('account_id', '=', p.accountId),
);
const rowsOf = ({ id }: NotifiedAccount) => database.read(() => readRows({ accountId: id }));
const readLinks = many((db, p: { accountId: string }) =>
  db.selectFrom('challenge').select('hash').where('account_id', '=', p.accountId),
);
const linkIn = ({ text }: MailMessage): string => /token=([\w-]+)/.exec(text)?.[1] ?? '';
const isOpen = async (message: MailMessage): Promise<boolean> =>
  (await database.read(() => findChallenge(sealer, linkIn(message), 'secure account', now))) !== undefined;

test('while no message is sent, one to each of two addresses waits, however much happens', async () => {
  const account = await newPerson();
  for (let press = 0; press < 200; press++) await act(account, press % 2 === 0 ? 'recovery codes' : 'factor added');
  await act(account, 'password changed');
  const rows = await rowsOf(account);
  assert.deepEqual(rows.map(({ recipient }) => recipient).sort(), [account.oldest, account.profile.email].sort());
  assert.equal((await database.read(() => readLinks({ accountId: account.id }))).length, 1);

  const sending = node();
  await sending.deliverDue();
  const [present, oldest] = [account.profile.email, account.oldest].map((address) =>
    sending.sent.find(({ to }) => to === address),
  );
  assert.ok(present !== undefined && oldest !== undefined);
  for (const { subject, text } of [present, oldest]) {
    assert.equal(subject, 'Your password was changed, and more');
    assert.match(text, /recovery codes were made[\s\S]+100\stimes/);
    assert.match(text, /added to your account[\s\S]+100\stimes/);
  }
  assert.equal(await isOpen(present), true);
  assert.equal(linkIn(oldest), '');
  await sending.stop();
});

test('an account that goes on for a day has a bounded number of rows, and the last message tells everything', async () => {
  const account = await newPerson();
  const sending = node();
  for (let minute = 0; minute < 24 * 60; minute += 15) {
    for (let press = 0; press < 3; press++) {
      await act(account, 'recovery codes');
      await sending.deliverDue();
    }
    now += 15 * MINUTE;
  }
  await act(account, 'password changed');
  await sending.deliverDue();
  const rows = await rowsOf(account);
  // Five at once and one for each quarter of an hour, and that of the password, to two addresses.
  assert.ok(rows.length <= 2 * (5 + 24 * 4 + 1), String(rows.length));
  const toPresent = sending.sent.filter(({ to }) => to === account.profile.email);
  const told = toPresent.map(({ text }) => Number(/(\d+)\s+times/.exec(text)?.[1] ?? 1));
  // The last message counts the new password as well.
  assert.equal(
    told.reduce((sum, count) => sum + count, 0),
    (3 * 24 * 60) / 15,
  );
  const last = toPresent.at(-1);
  assert.ok(last !== undefined);
  assert.equal(last.subject, 'Your password was changed, and more');
  assert.equal(await isOpen(last), true);
  assert.ok((await database.read(() => readLinks({ accountId: account.id }))).length <= 1);
  await sending.stop();
  await maintainMail(database, now);
});

test('what is decisive is told at once after a flood, and ten minutes later at most after a flood of its kind', async () => {
  const account = await newPerson();
  const sending = node();
  const toPresent = () => sending.sent.filter(({ to }) => to === account.profile.email);
  for (let press = 0; press < 50; press++) {
    await act(account, 'new device', { device: `Browser ${press}` });
    await sending.deliverDue();
  }
  assert.equal(toPresent().length, 5);
  await act(account, 'factor added', { what: 'an authenticator app' });
  await sending.deliverDue();
  assert.equal(toPresent().length, 6);
  assert.match(toPresent().at(-1)?.text ?? '', /an authenticator app/);

  for (let press = 0; press < 20; press++) {
    await act(account, 'password changed');
    await sending.deliverDue();
    now += SECOND;
  }
  assert.equal(toPresent().length, 11);
  now += 10 * MINUTE;
  await sending.deliverDue();
  const last = toPresent().at(-1);
  assert.equal(toPresent().length, 12);
  assert.match(last?.text ?? '', /15\s+times/);
  assert.equal(last !== undefined && (await isOpen(last)), true);
  await sending.stop();
});

test('a message that a process has begun to send is not changed, and its link works on in the same generation', async () => {
  const account = await newPerson();
  let during: (() => Promise<void>) | undefined = async () =>
    database.commit(() => enqueueSecurityNotice(services, account, 'export requested', {}, now, now));
  const texts: string[] = [];
  const sent: MailMessage[] = [];
  const sending = startMailDispatcher(
    {
      ...{
        database,
        clock: () => now,
        sealer,
        meter: { mailed: () => {} },
        failed: (error) => assert.fail(String(error)),
      },
      sender: { from: { name: 'Tessera', address: 'no-reply@example.com' }, replyTo: undefined, host: 'example.com' },
      transport: {
        async send(message) {
          const more = during;
          during = undefined;
          await more?.();
          if (message.to === account.profile.email) sent.push(message);
          texts.push(message.text);
          return ACCEPTED;
        },
      },
    },
    DAY,
    0,
  );
  await database.commit(() => enqueueSecurityNotice(services, account, 'new device', {}, now, now));
  await sending.deliverDue();
  assert.equal(texts.filter((text) => /copy of the data/.test(text)).length, 2);
  assert.deepEqual(
    sent.map(({ subject }) => subject),
    ['New sign-in to your account', 'A copy of your data was asked for'],
  );
  for (const message of sent) assert.equal(await isOpen(message), true);
  await sending.stop();
});

test('a notice whose link ended before it could be sent is sent without the link', async () => {
  const account = await newPerson();
  let refuses = true;
  const busy: MailResult = { kind: 'refused', permanent: false, problem: '451 later' };
  const sending = node(() => (refuses ? busy : ACCEPTED));
  await act(account, 'factor removed', { what: 'an authenticator app' });
  await sending.deliverDue();
  await act(account, 'recovered');
  refuses = false;
  now += HOUR;
  await sending.deliverDue();
  const toPresent = sending.sent.filter(({ to }) => to === account.profile.email);
  assert.deepEqual(toPresent.map(({ subject }) => subject).sort(), [
    'A way to sign in was removed',
    'Your account was recovered',
  ]);
  for (const message of toPresent) {
    const hasLink = message.subject === 'Your account was recovered';
    assert.equal(linkIn(message) !== '', hasLink);
    assert.equal(/use the link of a later\s+message/.test(message.text), !hasLink);
  }
  await sending.stop();
});
