import type { Command } from 'commander';
import { ApproveConsentRequest } from '../clients/schema.ts';
import { path, withApi } from './api.ts';
import { checkInput, examples, type GetCommandContext, requireOptions } from './context.ts';
import { collect } from './option-parsers.ts';
import { organizationId } from './org.ts';
import type { ClientView } from './records.ts';

/** Adds the commands by which an operator consents for the people who use an app. */
export function consentApprovalCommands(
  about: (name: string, description: string) => Command,
  checkedClientId: (id: string) => string,
  getContext: GetCommandContext,
): void {
  examples(
    requireOptions(
      about('approve', 'approve scopes of an app with consent operator: people are not asked for them')
        .option('--scope <scope>', 'scope that the app may request; may be given several times', collect)
        .option('--organization <organization>', 'only for the members of this organization (ID or name)'),
      '--scope',
    ),
    'tessera client approve 289236738748416000 --scope openid --scope profile --scope email',
  ).action(async (id: string, options: { scope: readonly string[]; organization?: string }, command: Command) => {
    const { flags, out } = getContext(command);
    const { scopes } = checkInput(ApproveConsentRequest, { scopes: options.scope });
    const approved = await withApi(flags, async (api) => {
      const organization = options.organization === undefined ? null : await organizationId(api, options.organization);
      const approval = { scopes, organizationId: organization };
      return api.put<ClientView>(path`/clients/${checkedClientId(id)}/consent-approval`, approval);
    });
    out.show(approved);
  });

  examples(
    about('withdraw-approval', 'withdraw the approval of an app: people are asked at their next authorization'),
    'tessera client withdraw-approval 289236738748416000',
  ).action(async (id: string, _options: unknown, command: Command) => {
    const { flags, out } = getContext(command);
    await withApi(flags, (api) => api.delete(path`/clients/${checkedClientId(id)}/consent-approval`));
    out.say(`The app ${id} asks each person for consent.`, { clientId: id, consentApproval: null });
  });
}
