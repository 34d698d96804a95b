import { Command } from 'commander';
import {
  CreateInvitationRequest,
  createInvitation,
  invitationView,
  revokeInvitation,
} from '../account-actions/invitations/invitations.ts';
import { listInvitations } from '../invitations/store.ts';
import { baseUrlOf } from '../platform/config/config.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { wholeNumber } from './option-parsers.ts';
import { organizationId } from './org.ts';
import { allPages, type PageOptions, withPageOptions } from './pages.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

interface Given {
  readonly email?: string;
  readonly org?: string;
  readonly role?: string;
  readonly days?: number;
}

export function inviteCommands(getContext: GetCommandContext): Command {
  const invite = new Command('invite').description('invite people: create, list, revoke');

  examples(
    invite.command('create'),
    'tessera invite create --email ada@example.com --org acme --role ADMIN',
    'tessera invite create --days 1',
  )
    .description('invite a person; with an address and mail, the link is sent there')
    .option('--email <address>', 'address that the invitation is bound to')
    .option('--org <organization>', 'ID or name of the organization to join')
    .option('--role <role>', 'OWNER, ADMIN or MEMBER; without --email, MEMBER at most')
    .option('--days <count>', 'how long the link works', wholeNumber(1, 90))
    .action(async ({ org, email, role, days }: Given, command: Command) => {
      const { flags, out } = getContext(command);
      const made = await withCore(flags, async (core) => {
        const organization = org === undefined ? undefined : await organizationId(core, org);
        const input = checkInput(CreateInvitationRequest, { email, role, days, organizationId: organization });
        const issuer = baseUrlOf(core.config, core.config.port);
        return createInvitation({ ...core, mail: await core.mailer(), issuer, adminKeyId: null }, input, origin);
      });
      out.show({ ...invitationView(made.invitation), ...(made.link !== undefined && { link: made.link }) });
    });

  examples(withPageOptions(invite.command('list')), 'tessera invite list')
    .description('list invitations')
    .action(async (options: PageOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const found = await withCore(flags, ({ database }) => database.read(() => allPages(listInvitations, options)));
      out.list(found.map(invitationView), ['id', 'email', 'organizationId', 'role', 'expiresAt', 'usedAt']);
    });

  examples(invite.command('revoke'), 'tessera invite revoke 289236738748416000')
    .description('revoke an invitation that was not used')
    .argument('<id>', 'ID of the invitation, from: tessera invite list')
    .action(async (id: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      await withCore(flags, (core) => revokeInvitation(core, isSnowflake(id) ? id : '0', origin));
      out.say(`Revoked the invitation ${id}.`, { id, revoked: true });
    });

  return invite;
}
