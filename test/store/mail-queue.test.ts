// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSealer } from '../../src/keys/sealer.ts';
import { startMailDispatcher } from '../../src/mail/dispatcher.ts';
import { createMailer, eraseMail, type MailKind } from '../../src/mail/mail.ts';
import { findNext } from '../../src/mail/queue.ts';
import { DAY, HOUR } from '../../src/platform/clock.ts';
import type { Work } from '../../src/platform/database/database.ts';
import type { MailMessage, MailResult } from '../../src/platform/mail/transport.ts';
import { openOwnStore } from '../support/own-store.ts';

// In which order messages are sent, and how many at a time, on both stores.

const own = await openOwnStore();
after(() => own.dispose());
const { database } = own;
let now = Date.parse('2026-03-01T12:00:00Z');
const sealer = await openSealer(database, { current: Buffer.alloc(32, 1), previous: undefined }, () => now);
const smtp = { host: 'localhost', port: 1, tls: 'off', credentials: undefined } as const;
const mailer = createMailer({ smtp, from: undefined, mailbox: false }, sealer);

interface Queued {
  readonly to: string;
  readonly kind?: MailKind;
  readonly accountId?: string | null;
}

/** Enqueues messages, each due a millisecond after the one before. */
const enqueue = (mails: readonly Queued[]): Promise<void> =>
  database.commit(function* write(): Work<void> {
    for (const { to, kind = 'recovery', accountId = null } of mails) {
      const content = { subject: 'Subject', paragraphs: [] };
      yield* mailer.enqueue({ to, kind, accountId, content, expiresAt: now + HOUR }, now++);
    }
  });

const many = (count: number, queued: (number: number) => Queued) => Array.from({ length: count }, (_, i) => queued(i));

/** A node whose server answers no message before `answer` is called. */
function node() {
  const started: string[] = [];
  const open = new Map<string, (result: MailResult) => void>();
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const send = ({ to }: Pick<MailMessage, 'to'>) =>
    new Promise<MailResult>((resolve) => {
      started.push(to);
      open.set(to, resolve);
      for (const { count, resolve } of waiting) if (started.length >= count) resolve();
    });
  const errors: unknown[] = [];
  const dispatcher = startMailDispatcher(
    {
      ...{ database, clock: () => now, sealer, transport: { send }, meter: { mailed: () => {} } },
      sender: { from: { name: 'Tessera', address: 'no-reply@example.com' }, replyTo: undefined, host: 'example.com' },
      failed: (error) => errors.push(error),
    },
    DAY,
    0,
  );
  return {
    started,
    errors,
    deliver: () => void dispatcher.deliverDue(),
    /** Resolves when this many attempts were begun. */
    begun: (count: number) =>
      new Promise<void>((resolve) => {
        if (started.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    answer(to: string) {
      open.get(to)?.({ kind: 'accepted', answer: '250 OK' });
      open.delete(to);
    },
    /** Answers everything, until nothing is due. */
    async finish() {
      const all = dispatcher.deliverDue();
      const timer = setInterval(() => {
        for (const to of [...open.keys()]) this.answer(to);
      });
      await all;
      clearInterval(timer);
      await dispatcher.stop();
      assert.deepEqual(errors, []);
    },
  };
}

test('what people asked for is sent before notices that were due earlier, and each by its time', async () => {
  await enqueue(many(3, (i) => ({ to: `told-${i}@told-${i}.example`, kind: 'security notice' })));
  await enqueue(many(5, (i) => ({ to: `asks-${i}@asks-${i}.example`, kind: 'sign-in code' })));
  const sending = node();
  sending.deliver();
  await sending.begun(4);
  const names = () => sending.started.map((to) => to.slice(0, to.indexOf('@')));
  // One slot is left to notices, however many people ask.
  assert.deepEqual(names().sort(), ['asks-0', 'asks-1', 'asks-2', 'told-0']);
  for (const [asks, begun] of [
    ['asks-0', 5],
    ['asks-1', 6],
  ] as const) {
    sending.answer(`${asks}@${asks}.example`);
    await sending.begun(begun);
  }
  assert.deepEqual(names().slice(4), ['asks-3', 'asks-4']);
  await sending.finish();
  assert.equal(sending.started.length, 8);
});

test('a domain whose server does not answer gets two slots, and holds up no message to another', async () => {
  await enqueue(many(100, (i) => ({ to: `person-${i}@slow.example` })));
  await enqueue([{ to: 'ada@quick.example' }, { to: 'bob@other.example' }]);
  const sending = node();
  sending.deliver();
  await sending.begun(3);
  sending.answer('ada@quick.example');
  sending.answer('bob@other.example');
  await sending.begun(4);
  assert.deepEqual(sending.started.filter((to) => to.endsWith('@slow.example')).sort(), [
    'person-0@slow.example',
    'person-1@slow.example',
  ]);
  assert.deepEqual(new Set(sending.started.slice(2)), new Set(['ada@quick.example', 'bob@other.example']));
  await sending.finish();
  assert.equal(sending.started.length, 102);
});

test('messages of one account take two slots', async () => {
  await enqueue(many(20, (i) => ({ to: `flood-${i}@flood-${i}.example`, accountId: '7' })));
  await enqueue([{ to: 'ada@quick.example', accountId: '8' }]);
  const sending = node();
  sending.deliver();
  await sending.begun(3);
  assert.deepEqual(sending.started.sort(), ['ada@quick.example', 'flood-0@flood-0.example', 'flood-1@flood-1.example']);
  await sending.finish();
  assert.equal(sending.started.length, 21);
});

test('what is read to find the next messages does not grow with those that wait for one server', async () => {
  await enqueue(many(200, (i) => ({ to: `person-${i}@slow.example` })));
  await enqueue(many(40, (i) => ({ to: `person@domain-${10 + i}.example` })));
  const slow = { priority: 0, accountId: null, recipient: 'x@slow.example' };
  const busy = [slow, slow];
  /** The messages that are chosen, with how many statements and rows that took. */
  const look = (lane: string) =>
    database.read(function* counted() {
      const work = findNext(busy, lane, now);
      const read = { statements: 0, rows: 0 };
      for (let step = work.next(); ; ) {
        if (step.done) return { ...step.value, ...read };
        const rows = yield step.value;
        read.statements++;
        read.rows += rows.length;
        step = work.next(rows);
      }
    });
  const first = await look('');
  assert.deepEqual(
    first.mails.map(({ recipient }) => recipient),
    ['person@domain-10.example'],
  );
  assert.ok(first.statements <= 6 && first.rows <= 40, JSON.stringify(first));
  const next = await look(first.lane);
  assert.deepEqual(
    next.mails.map(({ recipient }) => recipient),
    ['person@domain-11.example'],
    'the next look begins behind the last one',
  );
  const last = await look('domain-49.example');
  assert.equal(last.mails[0]?.recipient, 'person@domain-10.example', 'and at the beginning after the end');
  await node().finish();
});

test('with an account, the domain of its recipient is erased', async () => {
  await enqueue([{ to: 'ada@lovelace.example', accountId: '9' }]);
  await database.commit(() => eraseMail('9', now));
  const { many: query } = await import('../../src/platform/database/statement.ts');
  const read = query((db, p: { accountId: string }) =>
    db.selectFrom('mail').select(['recipient', 'recipient_domain', 'sealed']).where('account_id', '=', p.accountId),
  );
  assert.deepEqual(await database.read(() => read({ accountId: '9' })), [
    { recipient: '', recipient_domain: '', sealed: null },
  ]);
});
