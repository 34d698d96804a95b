// store: SQLite
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSealer } from '../keys/sealer.ts';
import { toCurrentSchema } from '../migrations/timeline.ts';
import { DAY, HOUR } from '../platform/clock.ts';
import { openSqlite } from '../platform/database/sqlite/open.ts';
import { readConfig } from '../settings/config.ts';
import { countMail, createMailer, MAILBOX_SIZE, maintainMail, readMailbox } from './mail.ts';
import { listMail } from './store.ts';

const database = await openSqlite(':memory:', toCurrentSchema);
after(() => database.close());
const now = 1_800_000_000_000;
const sealer = await openSealer(database, { current: Buffer.alloc(32, 1), previous: undefined }, () => now);

const message = (subject: string, to = 'ada@example.com') => ({
  to,
  accountId: null,
  kind: 'test' as const,
  content: { subject, paragraphs: ['One.'], code: '123456', action: { label: 'Go', url: 'https://id.example.com/x' } },
  expiresAt: now + HOUR,
});

test('the mailbox keeps the newest messages, for a day', async () => {
  const mailer = createMailer({ smtp: undefined, from: undefined, mailbox: true }, sealer);
  assert.equal(mailer.available, true);
  for (let i = 0; i < MAILBOX_SIZE + 3; i++) await database.commit(() => mailer.enqueue(message(`Message ${i}`), now));
  const kept = await readMailbox(database, sealer);
  assert.equal(kept.length, MAILBOX_SIZE);
  assert.deepEqual(kept[0]?.content, { ...message(`Message ${MAILBOX_SIZE + 2}`).content, language: 'en' });
  assert.equal(kept.at(-1)?.content.subject, 'Message 3');
  await maintainMail(database, now + DAY);
  assert.deepEqual(await readMailbox(database, sealer), []);
});

test('without a server and a mailbox nothing is stored', async () => {
  const mailer = createMailer({ smtp: undefined, from: undefined, mailbox: false }, sealer);
  assert.equal(mailer.available, false);
  await database.commit(() => mailer.enqueue(message('Lost'), now));
  assert.deepEqual(await database.read(() => listMail({ before: '1000000', limit: 10 })), []);
});

test('an address that could end a line of a header is never sent to, and stops no change', async () => {
  const mailer = createMailer({ smtp: undefined, from: undefined, mailbox: true }, sealer);
  for (const to of [
    'ada@example.com\r\nBcc: eve@example.com',
    'ada@example.com, eve@example.com',
    '<ada@example.com>',
  ]) {
    await database.commit(() => mailer.enqueue(message('Injected', to), now));
    const [newest] = await database.read(() => listMail({ before: '1000000', limit: 1 }));
    assert.deepEqual([newest?.status, newest?.recipient], ['dead', to]);
  }
  assert.deepEqual(await readMailbox(database, sealer), []);
});

test('an account gets no more messages sent by asking from many addresses, each for another recipient', async () => {
  const { limits } = readConfig({ TESSERA_LIMIT_MAIL_ADDRESS: '5/h' });
  let asked = 0;
  const ask = (accountId?: string) => {
    const number = ++asked;
    const origin = { actor: { type: 'anonymous', id: null }, address: `192.0.2.${number}`, requestId: null } as const;
    const mail = { to: `stranger-${number}@example.com`, purpose: 'change address', origin };
    return database.commit(() => countMail(limits, accountId === undefined ? mail : { ...mail, accountId }, now));
  };
  const answers = [];
  for (let i = 0; i < 7; i++) answers.push(await ask('7'));
  assert.deepEqual(answers, [true, true, true, true, true, false, false]);
  assert.equal(await ask('8'), true);
  assert.equal(await ask(), true);
});
