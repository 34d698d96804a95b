import { record } from '../audit/audit.ts';
import { HOUR } from '../platform/clock.ts';
import { randomName } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { type MailResult, smtpTransport } from '../platform/mail/transport.ts';
import type { Origin } from '../platform/validation/origin.ts';
import type { Mailer } from './mail.ts';
import { greetingOf, type MessageSettings, messageOf, senderOf } from './message.ts';
import { mailTexts } from './messages.ts';

/** What became of a test message; `kept` is for the mailbox, and `off` where no mail is sent. */
export type TestResult = MailResult | { readonly kind: 'kept' } | { readonly kind: 'off' };

/** Sends a message right away, past the outbox, so that the operator sees what the server answers. */
export async function sendTestMessage(
  { database, config }: { readonly database: Database; readonly config: MessageSettings },
  mailer: Mailer,
  options: { readonly to: string; readonly baseUrl: string; readonly origin: Origin; readonly now: number },
): Promise<TestResult> {
  const { to, baseUrl, origin, now } = options;
  const content = { language: mailTexts.language, ...mailTexts.test({ baseUrl }) };
  const { smtp } = config.mail;
  if (!mailer.available) return { kind: 'off' };
  const message = { messageId: randomName(), recipient: to, createdAt: now };
  const result =
    smtp === undefined
      ? ({ kind: 'kept' } as const)
      : await smtpTransport(smtp, { greeting: greetingOf(config, baseUrl) }).send(
          messageOf(message, content, senderOf(config, baseUrl)),
          new AbortController().signal,
        );
  await database.commit(function* keep(): Work<void> {
    if (result.kind === 'kept') {
      yield* mailer.enqueue({ to, accountId: null, kind: 'test', content, expiresAt: now + HOUR }, now);
    }
    const failed = 'problem' in result && { outcome: 'failure' as const, details: { problem: result.problem } };
    yield* record({ at: now, type: 'mail.tested', origin, ...failed });
  });
  return result;
}
