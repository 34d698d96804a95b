// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { listMails } from '../../src/mail/operate.ts';
import { HOUR, MINUTE } from '../../src/platform/clock.ts';
import { startSmtpReceiver } from '../support/smtp-receiver.ts';
import { openOutbox } from './mail-sender.ts';

// A node is killed after the mail server has accepted a message, and before it could record that.

const folder = mkdtempSync(join(tmpdir(), 'tessera-mail-kill-'));
const receiver = await startSmtpReceiver();
after(async () => {
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

const SENDER = fileURLToPath(new URL('./mail-sender.ts', import.meta.url));
const START = Date.parse('2026-03-01T12:00:00Z');
/** Longer than a claim holds. */
const NEXT_LIFE = 4 * MINUTE;

/** Sends what is due from a process that is killed when the server accepts the message. */
async function sendAndDie(file: string, now: number): Promise<void> {
  receiver.answer('silence');
  const child = spawn(process.execPath, [SENDER, file, String(receiver.port), String(now)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exit = once(child, 'exit');
  receiver.silent = (accept) => {
    child.kill('SIGKILL');
    void exit.then(accept);
  };
  const [, signal] = await exit;
  assert.equal(signal, 'SIGKILL');
}

for (const [kills, status] of [
  [1, 'sent'],
  [2, 'dead'],
] as const) {
  test(`kill -9 between acceptance and record, ${kills === 1 ? 'once' : 'twice'}: the message is sent twice with one Message-ID, then ${status}`, async () => {
    const file = join(folder, `${kills}.db`);
    const to = `ada-${kills}@example.com`;
    const open = (life: number) => openOutbox(file, receiver.port, START + life * NEXT_LIFE);
    const first = await open(0);
    const content = { subject: 'Set a new password', paragraphs: [] };
    const mail = { to, accountId: null, kind: 'recovery', content, expiresAt: START + HOUR } as const;
    await first.database.commit(() => first.mailer.enqueue(mail, START));
    await first.database.close();

    for (let life = 0; life < kills; life++) await sendAndDie(file, START + life * NEXT_LIFE);
    for (const life of [kills, kills + 1]) {
      const outbox = await open(life);
      await outbox.deliverDue();
      const [stored] = await outbox.database.read(() => listMails({ after: '0', limit: 1 }));
      assert.equal(stored?.status, status);
      await outbox.database.close();
    }

    const received = receiver.received.filter((one) => one.to.includes(to));
    const [one, two, ...others] = received.map(({ raw }) => /^Message-ID: (.+)\r$/im.exec(raw)?.[1]);
    assert.ok(one);
    assert.deepEqual([two, others], [one, []]);
  });
}
