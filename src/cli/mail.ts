import { Command } from 'commander';
import type { Core } from '../core.ts';
import { sendTestMessage } from '../mail/test-message.ts';
import { ConfigError } from '../platform/config/config-error.ts';
import { mailVariables } from '../platform/config/mail.ts';
import { asciiEmail, nonAsciiLocalPart } from '../platform/domain-name.ts';
import { invalid } from '../platform/failure.ts';
import { baseUrlOf, DEFAULT_PORT } from '../settings/config.ts';
import { mailboxKey, mailboxLink } from '../web/mailbox/key.ts';
import { withApi } from './api.ts';
import { examples, type GetCommandContext } from './context.ts';
import { noteDefaultBaseUrl } from './link-note.ts';
import { wholeNumber } from './option-parsers.ts';
import type { ListedRow } from './records.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

const MAX_MAILS = 1000;

const linkOfMailbox = ({ config, secret }: Core): string =>
  mailboxLink(baseUrlOf(config, config.port), mailboxKey(config, secret));

const BASE_URL = ['--base-url <url>', 'public base URL of the server (TESSERA_BASE_URL)'] as const;
const PORT = ['--port <port>', 'port of the server, where it has no base URL (TESSERA_PORT)'] as const;

/** A command is not told at which port the server listens, which may have been started with another one. */
const portHint = ({ config }: Core): string =>
  config.baseUrl === undefined && config.port === DEFAULT_PORT
    ? `\nIf the server listens at another port than ${DEFAULT_PORT}, repeat the command with --port.`
    : '';

export function mailCommands(getContext: GetCommandContext): Command {
  const mail = new Command('mail').description('look after mail: test, list, link');

  examples(mail.command('test'), 'tessera mail test ada@example.com')
    .description('send a test message, and show what the mail server answers')
    .argument('<address>', 'where to send it')
    .option(...BASE_URL)
    .option(...PORT)
    .action(async (typed: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      const to = asciiEmail(typed);
      if (to === undefined)
        throw invalid(
          `${typed} is not an email address such as ada@example.com.${nonAsciiLocalPart(typed) === '' ? '' : ' Before the @, only ASCII characters are accepted.'}`,
        );
      await withCore(flags, async (core) => {
        const baseUrl = baseUrlOf(core.config, core.config.port);
        const mailer = await core.mailer();
        const result = await sendTestMessage(core, mailer, { to, baseUrl, origin, now: core.clock() });
        if (result.kind === 'off') {
          throw new ConfigError([
            `Mail is off: ${mailVariables.smtpUrl.name} is not set. Set it as docs/how-to/send-mail.md shows.`,
          ]);
        }
        if (result.kind === 'kept') {
          const where = `No mail server is set. The message is shown at ${linkOfMailbox(core)}`;
          return out.say(`${where}${portHint(core)}`, { to, sent: false });
        }
        if (result.kind === 'accepted') {
          const { answer } = result;
          return out.say(`The mail server accepted a message to ${to}: ${answer}`, { to, sent: true, answer });
        }
        throw invalid(`The message was not sent. ${result.problem}`);
      });
    });

  examples(mail.command('list'), 'tessera mail list', 'tessera mail list --dead')
    .description('list messages, newest first, without their contents')
    .option('--dead', 'only messages that were given up')
    .option('--limit <count>', `number of messages, at most ${MAX_MAILS}`, wholeNumber(1, MAX_MAILS), 50)
    .action(async ({ dead, limit }: { dead?: boolean; limit: number }, command: Command) => {
      const { flags, out } = getContext(command);
      const status = dead ? 'dead' : undefined;
      const mails = await withApi(flags, (api) => api.list<ListedRow>('/mail', { limit }, { status }));
      out.list(mails, ['id', 'createdAt', 'kind', 'status', 'recipient', 'attempts', 'problem']);
    });

  examples(mail.command('link'), 'tessera mail link')
    .description('print the link that opens the mailbox, where mail is not sent but shown at /mailbox')
    .option(...BASE_URL)
    .option(...PORT)
    .action(async (_options, command: Command) => {
      const { flags, out } = getContext(command);
      const url = await withCore(flags, async (core) => {
        if (core.config.mail.mailbox) return linkOfMailbox(core);
        throw new ConfigError([
          `There is no mailbox: it needs ${mailVariables.mailbox.name}=on, a base URL on this machine and no ${mailVariables.smtpUrl.name}.`,
        ]);
      });
      out.say(url, { url });
      noteDefaultBaseUrl(flags, out, url);
    });

  return mail;
}
