import type { Command } from 'commander';
import { approveConsent, withdrawApproval } from '../clients/consent-approval.ts';
import { ApproveConsentRequest } from '../clients/schema.ts';
import { clientView } from '../clients/view.ts';
import { checkInput, examples, type GetCommandContext, requireOptions } from './context.ts';
import { collect } from './option-parsers.ts';
import { organizationId } from './org.ts';
import { CLI_ORIGIN as origin, withCore } from './session.ts';

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
    const approved = await withCore(flags, async (core) => {
      const organization = options.organization === undefined ? null : await organizationId(core, options.organization);
      return approveConsent(core, checkedClientId(id), { scopes, organizationId: organization }, origin);
    });
    out.show(clientView(approved));
  });

  examples(
    about('withdraw-approval', 'withdraw the approval of an app: people are asked at their next authorization'),
    'tessera client withdraw-approval 289236738748416000',
  ).action(async (id: string, _options: unknown, command: Command) => {
    const { flags, out } = getContext(command);
    await withCore(flags, (core) => withdrawApproval(core, checkedClientId(id), origin));
    out.say(`The app ${id} asks each person for consent.`, { clientId: id, consentApproval: null });
  });
}
