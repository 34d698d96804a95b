import type { Config } from '../platform/config/config.ts';
import type { MailAddress } from '../platform/config/mail.ts';
import type { MailMessage } from '../platform/mail/transport.ts';
import { formats } from '../platform/validation/formats.ts';
import type { MailContent } from './mail.ts';
import { renderMail } from './rules/render.ts';

/** Whom messages come from, and who reads the answers. */
export interface MailSender {
  readonly from: MailAddress;
  readonly replyTo: string | undefined;
}

/** The sender that the settings name; by default an address at the host of the base URL. */
export function senderOf({ mail, contact }: Config, baseUrl: string): MailSender {
  const { hostname } = new URL(baseUrl);
  return {
    from: mail.from ?? { name: 'Tessera', address: `no-reply@${hostname}` },
    replyTo: contact !== undefined && formats.email(contact) ? contact : undefined,
  };
}

/** A message for the transport. Its id is the same in every attempt, so that a copy can be recognized. */
export const messageOf = (
  { messageId, recipient, createdAt }: { messageId: string; recipient: string; createdAt: number },
  content: MailContent,
  { from, replyTo }: MailSender,
): MailMessage => ({
  from,
  replyTo,
  to: recipient,
  ...renderMail(content),
  messageId: `${messageId}@${from.address.slice(from.address.lastIndexOf('@') + 1)}`,
  date: createdAt,
});
