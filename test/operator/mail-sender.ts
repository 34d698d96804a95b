// Sends what is due in the outbox of a database file, once, and ends: node mail-sender.ts <file> <port> <now>. It may be killed.
import { openSealer } from '../../src/keys/sealer.ts';
import { startMailDispatcher } from '../../src/mail/dispatcher.ts';
import { createMailer } from '../../src/mail/mail.ts';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import { DAY, SECOND } from '../../src/platform/clock.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open.ts';
import { smtpTransport } from '../../src/platform/mail/transport.ts';

/** Opens the outbox of a file at an instant, for the SMTP server at a port of this machine. */
export async function openOutbox(file: string, port: number, now: number) {
  const database = await openSqlite(file, toCurrentSchema);
  const clock = () => now;
  const sealer = await openSealer(database, { current: Buffer.alloc(32, 1), previous: undefined }, clock);
  const smtp = { host: '127.0.0.1', port, tls: 'off', credentials: undefined } as const;
  return {
    database,
    mailer: createMailer({ smtp, from: undefined, mailbox: false }, sealer),
    async deliverDue() {
      const dispatcher = startMailDispatcher(
        {
          database,
          clock,
          sealer,
          transport: smtpTransport(smtp, { timeoutMs: 20 * SECOND }),
          sender: {
            from: { name: 'Tessera', address: 'no-reply@example.com' },
            replyTo: undefined,
            host: 'example.com',
          },
          meter: { mailed: () => {} },
          failed(error) {
            throw error;
          },
        },
        DAY,
      );
      await dispatcher.deliverDue();
      await dispatcher.stop();
    },
  };
}

if (import.meta.main) {
  const [file = '', port, now] = process.argv.slice(2);
  const outbox = await openOutbox(file, Number(port), Number(now));
  await outbox.deliverDue();
  await outbox.database.close();
}
