import { isIPv4 } from 'node:net';
import { BRAND } from '../platform/brand.ts';
import { isLoopback } from '../platform/config/loopback.ts';
import type { MailAddress, MailSettings } from '../platform/config/mail.ts';
import { asciiDomain, asciiEmail } from '../platform/domain-name.ts';
import type { MailMessage } from '../platform/mail/transport.ts';
import type { MailContent } from './content.ts';
import { type Helper, renderMail } from './rules/render.ts';

/** The settings that a message needs. */
export interface MessageSettings {
  readonly mail: MailSettings;
  /** Whom people ask for help. */
  readonly contact: string | undefined;
}

/** Whom messages come from, and who reads the answers. */
export interface MailSender extends Helper {
  readonly from: MailAddress;
  readonly replyTo: string | undefined;
}

/** The sender that the settings name; by default an address at the host of the base URL. */
export function senderOf({ mail, contact }: MessageSettings, baseUrl: string): MailSender {
  const { host, hostname } = new URL(baseUrl);
  return {
    from: mail.from ?? { name: BRAND.name, address: `no-reply@${hostname}` },
    replyTo: contact === undefined ? undefined : asciiEmail(contact),
    contact,
    host,
  };
}

/**
 * The name that greets the mail server, which may refuse anything but a full host name or the address of the client (RFC 5321
 * §4.1.1.1). A base URL on this machine has none, so the sender's domain stands in for it; undefined where that has none either.
 */
export function greetingOf({ mail }: Pick<MessageSettings, 'mail'>, baseUrl: string): string | undefined {
  if (mail.greeting !== undefined) return mail.greeting;
  const { hostname } = new URL(baseUrl);
  const sender = mail.from?.address ?? '';
  if (isLoopback(hostname)) return asciiDomain(sender.slice(sender.lastIndexOf('@') + 1));
  if (isIPv4(hostname)) return `[${hostname}]`;
  return hostname.startsWith('[') ? hostname.replace('[', '[IPv6:') : hostname;
}

/** A message for the transport. Its id is the same in every attempt, so that a copy can be recognized. */
export const messageOf = (
  { messageId, recipient, createdAt }: { messageId: string; recipient: string; createdAt: number },
  content: MailContent,
  { from, replyTo, ...helper }: MailSender,
): MailMessage => ({
  from,
  replyTo,
  to: recipient,
  ...renderMail(content, helper),
  messageId: `${messageId}@${from.address.slice(from.address.lastIndexOf('@') + 1)}`,
  date: createdAt,
});
