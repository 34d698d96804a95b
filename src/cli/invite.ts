import { Command } from 'commander';
import { CreateInvitationRequest } from '../account-actions/invitations/invitations.ts';
import { path, withApi } from './api.ts';
import { checkInput, examples, type GetCommandContext } from './context.ts';
import { noteDefaultBaseUrl } from './link-note.ts';
import { wholeNumber } from './option-parsers.ts';
import { organizationId } from './org.ts';
import { type PageOptions, withPageOptions } from './pages.ts';
import type { InvitationView } from './records.ts';

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
      const made = await withApi(flags, async (api) => {
        const organization = org === undefined ? undefined : await organizationId(api, org);
        const input = checkInput(CreateInvitationRequest, { email, role, days, organizationId: organization });
        return api.post<InvitationView & { readonly link?: string }>('/invitations', input);
      });
      out.show(made);
      if (made.link !== undefined) noteDefaultBaseUrl(flags, out, made.link);
    });

  examples(withPageOptions(invite.command('list')), 'tessera invite list')
    .description('list invitations')
    .action(async (options: PageOptions, command: Command) => {
      const { flags, out } = getContext(command);
      const found = await withApi(flags, (api) => api.list<InvitationView>('/invitations', options));
      out.list(found, ['id', 'email', 'organizationId', 'role', 'expiresAt', 'usedAt']);
    });

  examples(invite.command('revoke'), 'tessera invite revoke 289236738748416000')
    .description('revoke an invitation that was not used')
    .argument('<id>', 'ID of the invitation, from: tessera invite list')
    .action(async (id: string, _options, command: Command) => {
      const { flags, out } = getContext(command);
      await withApi(flags, (api) => api.delete(path`/invitations/${id}`));
      out.say(`Revoked the invitation ${id}.`, { id, revoked: true });
    });

  return invite;
}
