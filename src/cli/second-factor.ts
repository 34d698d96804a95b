import { Command } from 'commander';
import { invalid } from '../platform/failure.ts';
import { type Api, withApi } from './api.ts';
import { checkedClientId } from './client-id.ts';
import { examples, type GetCommandContext } from './context.ts';
import { organizationId } from './org.ts';
import { confirm, YES } from './prompt.ts';

/** What was ended, as the admin API answers. */
interface Ended {
  readonly users: number;
  readonly sessions: number;
  readonly authorizations: number;
}

interface Concerned {
  readonly everyone?: boolean;
  readonly org?: string;
  readonly client?: string;
}

export function secondFactorCommands(getContext: GetCommandContext): Command {
  const secondFactor = new Command('second-factor').description('after a second factor was required: end-existing');

  examples(
    secondFactor.command('end-existing'),
    'tessera second-factor end-existing --org acme',
    'tessera second-factor end-existing --everyone --yes',
  )
    .description('end the sessions and tokens of people who used no second factor; for an app, only its tokens')
    .option('--everyone', 'of everyone')
    .option('--org <organization>', 'of the members of an organization: ID or name')
    .option('--client <clientId>', 'of the users of an app')
    .option(...YES)
    .action(async (options: Concerned & { yes?: boolean }, command: Command) => {
      const { flags, out } = getContext(command);
      const ended = await withApi(flags, async (api) => {
        const required = await requiredOf(api, options);
        await confirm('This signs people out who used no second factor, and ends what apps got for them.', options);
        return api.post<Ended>('/end-weaker-access', required);
      });
      const { users, sessions, authorizations } = ended;
      out.say(`Ended ${sessions} sessions and ${authorizations} authorizations of ${users} users.`, { ...ended });
    });

  return secondFactor;
}

async function requiredOf(api: Api, { everyone, org, client }: Concerned): Promise<object> {
  if ([everyone, org, client].filter((given) => given !== undefined).length !== 1) {
    throw invalid('Give exactly one of --everyone, --org and --client.');
  }
  if (org !== undefined) return { organizationId: await organizationId(api, org) };
  return client === undefined ? { everyone: true } : { clientId: checkedClientId(client) };
}
