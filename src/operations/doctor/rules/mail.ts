import { isLoopback } from '../../../platform/config/loopback.ts';
import { mailVariables } from '../../../platform/config/mail.ts';
import type { Config } from '../../../settings/config.ts';
import { type Finding, ok, tabulate, warning } from '../finding.ts';

const HOW_TO = 'docs/how-to/send-mail.md shows how.';

/**
 * Whether mail is sent, and as it should be.
 * @param dead how many messages were given up; undefined where that is not known
 */
export function judgeMail({ mail }: Pick<Config, 'mail'>, baseUrl: string, dead: number | undefined): Finding[] {
  const { hostname } = new URL(baseUrl);
  const { smtp, from, mailbox } = mail;
  const { name: smtpUrl } = mailVariables.smtpUrl;
  if (smtp === undefined) {
    if (mailbox) return [ok('mail', `No mail is sent; ${baseUrl}/mailbox shows it, by the link of: tessera mail link`)];
    if (isLoopback(hostname)) return [ok('mail', 'Mail is off, and with it what needs mail.')];
    return [
      warning(
        'mail',
        `${smtpUrl} is not set: people cannot verify an address or recover their account by themselves.`,
        `Set ${smtpUrl} and ${mailVariables.mailFrom.name}; ${HOW_TO}`,
      ),
    ];
  }
  const server = `${smtp.host}:${smtp.port}`;
  const findings = tabulate('mail', [
    [
      smtp.tls === 'off' && !isLoopback(smtp.host) && 'warning',
      `${smtpUrl} has ?tls=off: links that sign people in are sent to ${server} unencrypted.`,
      'Use smtps://, or smtp:// without it for STARTTLS, unless that network is your own.',
    ],
    [
      from === undefined && !isLoopback(hostname) && 'warning',
      `${mailVariables.mailFrom.name} is not set: mail comes from no-reply@${hostname}.`,
      `Set it to an address of a domain that your mail server may send for; ${HOW_TO}`,
    ],
    [
      dead !== undefined && dead > 0 && 'warning',
      `${dead} ${dead === 1 ? 'message was' : 'messages were'} given up.`,
      'See why with: tessera mail list --dead. Find the cause with: tessera mail test <address>. The people concerned ask again.',
    ],
  ]);
  if (findings.length > 0) return findings;
  const domain = from?.address.slice(from.address.lastIndexOf('@') + 1).toLowerCase() ?? hostname;
  const isRelated = hostname === domain || hostname.endsWith(`.${domain}`) || domain.endsWith(`.${hostname}`);
  const note = isRelated
    ? ''
    : ` The sender’s domain ${domain} is not that of ${hostname}: make sure that SPF and DKIM of ${domain} name this server.`;
  return [ok('mail', `Mail is sent through ${server}.${note} To try it: tessera mail test <address>`)];
}
