import { isIPv4, isIPv6 } from 'node:net';
import { asciiDomain, asciiEmail, nonAsciiLocalPart } from '../domain-name.ts';
import { isLoopback } from './loopback.ts';
import { onOff } from './readings.ts';
import { type Reading, Variable } from './variable.ts';

/** The SMTP server that messages are handed to. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** `implicit`: from the first byte; `required`: by STARTTLS; `optional`: by STARTTLS, where offered; `off`: never. */
  readonly tls: 'implicit' | 'required' | 'optional' | 'off';
  readonly credentials: { readonly user: string; readonly password: string } | undefined;
}

/** An address with the name that mail programs show with it. */
export interface MailAddress {
  readonly name: string | undefined;
  readonly address: string;
}

const SMTP_PROBLEM =
  'must be smtps://<user>:<password>@<host>:<port>, or smtp:// for a server with STARTTLS, for example smtps://tessera:secret@mail.example.com:465';

const PASSWORD_PROBLEM = 'must be a URL: percent-encode # / ? @ : in the password, as %23 %2F %3F %40 %3A';

/** Characters that end a line of SMTP or of a header. */
const CONTROL = /\p{Cc}/u;

function smtpUrl(value: string): Reading<SmtpServer> {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isMalformed =
    url === undefined ||
    !['smtp:', 'smtps:'].includes(url.protocol) ||
    url.hostname === '' ||
    !['', '/'].includes(url.pathname) ||
    url.hash !== '';
  if (isMalformed) {
    const password = /^smtps?:\/\/[^:]*:(.*)@/s.exec(value)?.[1] ?? '';
    return { problem: /[#/?@:]/.test(password) ? PASSWORD_PROBLEM : SMTP_PROBLEM };
  }
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (user === undefined || password === undefined || CONTROL.test(user + password)) {
    return { problem: 'must have its user name and password percent-encoded, such as %40 for @' };
  }
  if ((user === '') !== (password === '')) return { problem: 'must have both a user name and a password, or neither' };
  const implicit = url.protocol === 'smtps:';
  // URLs of other schemes than those of the web keep the brackets of an IPv6 address, and the case and script of a name.
  const name = decoded(url.hostname) ?? '';
  const host = (asciiDomain(name) ?? name).toLowerCase();
  const { tls: asked, ...others } = Object.fromEntries(url.searchParams);
  if (Object.keys(others).length > 0 || (asked !== undefined && (implicit || !['required', 'off'].includes(asked)))) {
    return { problem: 'must have no query but ?tls=off or ?tls=required, with smtp://' };
  }
  const credentials = user === '' ? undefined : { user, password };
  if (asked === 'off' && credentials !== undefined && !isLoopback(host)) {
    return { problem: 'must not send a password without encryption: remove ?tls=off, or the user name and password' };
  }
  return {
    value: {
      host: host.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? (implicit ? 465 : 587) : Number(url.port),
      tls: implicit ? 'implicit' : ((asked as 'required' | 'off') ?? (isLoopback(host) ? 'optional' : 'required')),
      credentials,
    },
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function mailFrom(value: string): Reading<MailAddress> {
  const [, quoted, bare, bracketed, plain] =
    /^(?:(?:"([^"\\<>]*)"|([^"\\<>]*?))\s*<([^<>]+)>|([^<>]+))$/.exec(value.trim()) ?? [];
  const address = bracketed ?? plain ?? '';
  const name = (quoted ?? bare ?? '').trim();
  // A sender on this machine is for development.
  const known = /@localhost$/.test(address) ? asciiEmail(`${address}.invalid`) && address : asciiEmail(address);
  if (nonAsciiLocalPart(address) !== '') return { problem: 'must have only ASCII characters before the @' };
  if (!known || CONTROL.test(value) || name.length > 100) {
    return { problem: 'must be an address such as no-reply@example.com, or Example <no-reply@example.com>' };
  }
  return { value: { name: name === '' ? undefined : name, address: known } };
}

/** A host name with a dot, or an address literal (RFC 5321 §4.1.3). */
function smtpName(value: string): Reading<string> {
  const name = value.trim();
  const [, version = '', address = ''] = /^\[(IPv6:)?([0-9a-f:.]+)\]$/i.exec(name) ?? [];
  const domain = asciiDomain(name);
  if (domain !== undefined) return { value: domain };
  if (version === '' ? isIPv4(address) : isIPv6(address)) return { value: name };
  return {
    problem: 'must be a full host name such as id.example.com, or an address such as [192.0.2.1] or [IPv6:2001:db8::1]',
  };
}

/** The variables of mail, in the order of the reference page. */
export const mailVariables = {
  smtpUrl: new Variable('TESSERA_SMTP_URL', smtpUrl, {
    initial: 'none',
    about:
      'The SMTP server that sends mail: `smtps://<user>:<password>@<host>:<port>`, or `smtp://` for STARTTLS, without which it is not used; `smtp://…?tls=off` sends without encryption and without a password. On a loopback host encryption is used where it is offered. Without the variable, what needs mail is off.',
  }),
  mailFrom: new Variable('TESSERA_MAIL_FROM', mailFrom, {
    initial: '`Tessera <no-reply@<host of the base URL>>`',
    about: 'The sender of mail: an address, or a name with an address in angle brackets.',
  }),
  smtpName: new Variable('TESSERA_SMTP_NAME', smtpName, {
    initial: 'the host of the base URL; on a loopback host the domain of `TESSERA_MAIL_FROM`',
    about:
      'The name by which Tessera greets the mail server (`EHLO`): a full host name, or an address such as `[192.0.2.1]`. Some servers accept only a name that the DNS knows.',
  }),
  mailbox: new Variable('TESSERA_MAILBOX', onOff, {
    initial: '`on` for a base URL on a loopback host without `TESSERA_SMTP_URL` and `TESSERA_TRUST_PROXY`, else `off`',
    about:
      'Whether `/mailbox` shows the mail that would have been sent, to browsers on the same machine that were opened with its link. For development.',
  }),
  mailboxKey: new Variable('TESSERA_MAILBOX_KEY', mailboxKeySetting, {
    initial: 'follows from the root secret',
    about:
      'What opens `/mailbox`, as `?key=` or `Authorization: Bearer`: 16 to 512 letters, digits and `. _ ~ -`, for tests of apps that read the mail. `open` lets everyone in who reaches the server from the same machine, which includes the visitors of a proxy there: for machines that are thrown away.',
  }),
} as const;

/** The value of `TESSERA_MAILBOX_KEY` with which the mailbox needs no key. */
export const OPEN_MAILBOX = 'open';

function mailboxKeySetting(value: string): Reading<string> {
  if (value === OPEN_MAILBOX || /^[A-Za-z0-9._~-]{16,512}$/.test(value)) return { value };
  return { problem: `must be ${OPEN_MAILBOX}, or 16 to 512 letters, digits and the signs . _ ~ -` };
}

/** How mail is delivered. */
export interface MailSettings {
  /** Undefined where no mail is sent. */
  readonly smtp: SmtpServer | undefined;
  /** The name that greets the server; undefined for the default. */
  readonly greeting?: string | undefined;
  /** The sender; undefined for the default. */
  readonly from: MailAddress | undefined;
  /** Whether `/mailbox` shows the mail instead. */
  readonly mailbox: boolean;
}

/**
 * Reads the settings of mail.
 * @param surroundings whether the base URL is on a loopback host, and whether proxies are trusted
 */
export function readMailSettings(
  environment: Readonly<Record<string, string | undefined>>,
  problems: string[],
  { local, proxied }: { readonly local: boolean; readonly proxied: boolean },
): MailSettings {
  const smtp = mailVariables.smtpUrl.read(environment, problems);
  const from = mailVariables.mailFrom.read(environment, problems);
  const greeting = mailVariables.smtpName.read(environment, problems);
  const asked = mailVariables.mailbox.read(environment, problems);
  if (asked === true) {
    const { name } = mailVariables.mailbox;
    if (!local) {
      problems.push(
        `${name} is on, and the base URL is not on a loopback host. The mailbox shows links that sign people in: set ${mailVariables.smtpUrl.name} instead.`,
      );
    }
    if (smtp !== undefined)
      problems.push(`${name} is on, and ${mailVariables.smtpUrl.name} is set. Remove one of them.`);
    if (proxied) problems.push(`${name} is on, and TESSERA_TRUST_PROXY is not off. Remove one of them.`);
  }
  return { smtp, greeting, from, mailbox: asked ?? (local && smtp === undefined && !proxied) };
}
