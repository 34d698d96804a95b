import { Command } from 'commander';
import {
  banAccount,
  createAccount,
  deleteAccount,
  getAccount,
  reinstateAccount,
  suspendAccount,
  unbanAccount,
  updateAccount,
} from '../accounts/accounts.ts';
import { AccountChange, Ban, NewAccount, Suspension } from '../accounts/schema.ts';
import { type Account, findByIdentifier, listAccounts } from '../accounts/store.ts';
import { accountView } from '../accounts/view.ts';
import { connectionsOf, connectionView, revokeAccessOf } from '../consent/connections.ts';
import type { Core } from '../core.ts';
import { isSnowflake } from '../identifiers/snowflake.ts';
import { invalidRequest, notFound } from '../oauth-error.ts';
import { validate } from '../validation/validate.ts';
import { type ContextOf, given } from './context.ts';
import { CLI_ORIGIN as origin, readStandardInput, withCore } from './session.ts';

interface Fields {
  readonly username?: string;
  readonly displayName?: string;
  readonly email?: string;
  readonly passwordStdin?: boolean;
  readonly emailVerified?: boolean;
  readonly about?: string;
  readonly language?: string;
  readonly theme?: string;
  readonly website?: string;
  readonly location?: string;
  readonly birthDate?: string;
  readonly phone?: string;
  readonly socialLinks?: string;
  readonly avatarColor?: string;
}

const withFields = (command: Command): Command =>
  command
    .option('--username <name>', '3 to 32 of a-z 0-9 _ . -')
    .option('--display-name <name>', 'the name as others see it')
    .option('--email <address>', 'the email address')
    .option('--password-stdin', 'read the password from standard input')
    .option('--email-verified', 'the address is known to be theirs')
    .option('--no-email-verified', 'the address is not known to be theirs')
    .option('--about <text>', 'up to 500 characters')
    .option('--language <code>', 'such as en')
    .option('--theme <theme>', 'light, dark or system; "" for none')
    .option('--website <url>', 'an https address; "" for none')
    .option('--location <text>', 'free text; "" for none')
    .option('--birth-date <date>', 'YYYY-MM-DD; "" for none')
    .option('--phone <number>', 'E.164, such as +905551234567; "" for none')
    .option('--social-links <json>', 'a JSON list of {platform, url, label}')
    .option('--avatar-color <color>', 'such as #5b2a86');

/** Fields that can be emptied: the empty text stands for null. */
const orNull = (text: string | undefined): string | null | undefined => (text === '' ? null : text);

async function readFields(fields: Fields): Promise<Record<string, unknown>> {
  return given({
    username: fields.username,
    displayName: fields.displayName,
    email: fields.email,
    password: fields.passwordStdin ? await readStandardInput() : undefined,
    emailVerified: fields.emailVerified,
    about: fields.about,
    language: fields.language,
    theme: orNull(fields.theme),
    website: orNull(fields.website),
    location: orNull(fields.location),
    birthDate: orNull(fields.birthDate),
    phone: orNull(fields.phone),
    socialLinks: fields.socialLinks === undefined ? undefined : parseLinks(fields.socialLinks),
    avatarColor: fields.avatarColor,
  });
}

function parseLinks(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidRequest(
      '--social-links must be a JSON list, such as [{"platform":"github","url":"https://…","label":"GitHub"}].',
    );
  }
}

/** The id of an account that is named by its id, user name or email address. */
export async function accountId({ database }: Pick<Core, 'database'>, who: string): Promise<string> {
  if (isSnowflake(who)) return who;
  const account = await database.read(() => findByIdentifier(who));
  if (account === undefined) throw notFound(`There is no user named ${who}. List them with: tessera user list`);
  return account.id;
}

export function userCommands(contextOf: ContextOf): Command {
  const user = new Command('user').description('people: create, show, list, update, ban, suspend, delete');
  const view = (account: Account) => accountView(account, Date.now());

  withFields(user.command('create'))
    .description('make an account')
    .addHelpText(
      'after',
      '\nExample:\n  printf %s "$PASSWORD" | tessera user create --username ada --display-name "Ada" --email ada@example.com --password-stdin',
    )
    .action(async (fields: Fields, command: Command) => {
      const { flags, out } = contextOf(command);
      const input = validate(NewAccount, await readFields(fields));
      out.show(view(await withCore(flags, (core) => createAccount(core, input, origin))));
    });

  user
    .command('show')
    .description('show an account')
    .argument('<user>', 'id, username or email')
    .action(async (who: string, _options, command: Command) => {
      const { flags, out } = contextOf(command);
      out.show(view(await withCore(flags, async (core) => getAccount(core, await accountId(core, who)))));
    });

  user
    .command('list')
    .description('list accounts')
    .option('--query <text>', 'only those whose name or email contains this')
    .action(async (options: { query?: string }, command: Command) => {
      const { flags, out } = contextOf(command);
      const accounts = await withCore(flags, async ({ database }) => {
        const found: Account[] = [];
        for (let after = '0'; ; ) {
          const part = await database.read(() => listAccounts({ after, limit: 500, text: options.query }));
          found.push(...part);
          if (part.length < 500) return found;
          after = part.at(-1)?.id ?? after;
        }
      });
      out.list(accounts.map(view), ['id', 'username', 'email', 'status', 'createdAt']);
    });

  withFields(user.command('update'))
    .description('change fields of an account')
    .argument('<user>', 'id, username or email')
    .action(async (who: string, fields: Fields, command: Command) => {
      const { flags, out } = contextOf(command);
      const change = validate(AccountChange, await readFields(fields));
      if (Object.keys(change).length === 0) throw invalidRequest('Nothing to change: give at least one field.');
      out.show(
        view(await withCore(flags, async (core) => updateAccount(core, await accountId(core, who), change, origin))),
      );
    });

  user
    .command('ban')
    .description('ban an account; every token and session of it is dead from now on')
    .argument('<user>', 'id, username or email')
    .option('--until <instant>', 'when the ban ends, such as 2030-01-31T12:00:00Z; without it, never')
    .option('--reason <text>', 'for the record; the person does not see it')
    .action(async (who: string, options: { until?: string; reason?: string }, command: Command) => {
      const { flags, out } = contextOf(command);
      const ban = validate(Ban, given(options));
      out.show(view(await withCore(flags, async (core) => banAccount(core, await accountId(core, who), ban, origin))));
    });

  user
    .command('suspend')
    .description('suspend an account until it is reinstated; every token and session of it is dead from now on')
    .argument('<user>', 'id, username or email')
    .option('--reason <text>', 'for the record; the person does not see it')
    .action(async (who: string, options: { reason?: string }, command: Command) => {
      const { flags, out } = contextOf(command);
      const input = validate(Suspension, given(options));
      out.show(
        view(await withCore(flags, async (core) => suspendAccount(core, await accountId(core, who), input, origin))),
      );
    });

  const lifts = [
    ['unban', 'lift a ban; what was dead stays dead', unbanAccount],
    ['reinstate', 'lift a suspension; what was dead stays dead', reinstateAccount],
  ] as const;
  for (const [name, description, lift] of lifts) {
    user
      .command(name)
      .description(description)
      .argument('<user>', 'id, username or email')
      .action(async (who: string, _options, command: Command) => {
        const { flags, out } = contextOf(command);
        out.show(view(await withCore(flags, async (core) => lift(core, await accountId(core, who), origin))));
      });
  }

  user
    .command('delete')
    .description('delete an account with all that hangs on it')
    .argument('<user>', 'id, username or email')
    .action(async (who: string, _options, command: Command) => {
      const { flags, out } = contextOf(command);
      const id = await withCore(flags, async (core) => {
        const found = await accountId(core, who);
        await deleteAccount(core, found, origin);
        return found;
      });
      out.say(`Deleted the user ${id}.`, { id, deleted: true });
    });

  user
    .command('connections')
    .description('list the apps that have access to an account')
    .argument('<user>', 'id, username or email')
    .action(async (who: string, _options, command: Command) => {
      const { flags, out } = contextOf(command);
      const found = await withCore(flags, async (core) => connectionsOf(core, await accountId(core, who)));
      out.list(found.map(connectionView), ['clientId', 'name', 'scopes', 'connectedAt', 'lastUsedAt']);
    });

  user
    .command('disconnect')
    .description('take an app’s access to an account away, as the person would')
    .argument('<user>', 'id, username or email')
    .argument('<clientId>', 'the id of the client')
    .action(async (who: string, clientId: string, _options, command: Command) => {
      const { flags, out } = contextOf(command);
      if (!isSnowflake(clientId)) throw notFound(`There is no client with the id ${clientId}.`);
      await withCore(flags, async (core) => revokeAccessOf(core, await accountId(core, who), clientId, origin));
      out.say(`The client ${clientId} has no access any more.`, { clientId, revoked: true });
    });

  return user;
}
