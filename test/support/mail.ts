import { type KeptMail, readMailbox } from '../../src/mail/mail.ts';
import { mailboxKey, mailboxLink } from '../../src/web/mailbox/key.ts';
import { withData } from './forged-token.ts';
import type { TestServer } from './server.ts';

/** A message that a server would have sent. */
export interface SentMail {
  readonly to: string;
  readonly kind: string;
  readonly subject: string;
  /** All its text, one paragraph on each line, with the label of its link and the code. */
  readonly text: string;
  readonly link: string | undefined;
  readonly code: string | undefined;
}

const readable = ({ to, kind, content }: KeptMail): SentMail => ({
  to,
  kind,
  subject: content.subject,
  text: [
    ...content.paragraphs,
    ...(content.facts ?? []).map(([name, value]) => `${name}: ${value}`),
    content.code,
    content.action?.label,
    ...(content.footer ?? []),
  ]
    .filter((line) => line !== undefined)
    .join('\n'),
  link: content.action?.url,
  code: content.code,
});

/** Every message that a server with `TESSERA_MAILBOX: 'on'` would have sent, newest first. */
export const allMails = (server: TestServer): Promise<readonly SentMail[]> =>
  withData(server, async ({ database, sealer }) => (await readMailbox(database, await sealer())).map(readable));

/** The link that a start prints for the mailbox. */
export const mailboxLinkOf = (server: TestServer): Promise<string> =>
  withData(server, async ({ config, secret }) => mailboxLink(server.baseUrl, mailboxKey(config, secret)));

/** Those to one address. */
export const mailsTo = async (server: TestServer, address: string): Promise<readonly SentMail[]> =>
  (await allMails(server)).filter(({ to }) => to.toLowerCase() === address.toLowerCase());
