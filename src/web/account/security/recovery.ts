import type { FastifyInstance } from 'fastify';
import { setRecoveryCodeRequired } from '../../../account-actions/factors/recovery-setting.ts';
import { countRecoveryCodes } from '../../../authenticators/recovery-code-store.ts';
import { requiresRecoveryCode } from '../../../authenticators/recovery-setting-store.ts';
import { waysIn } from '../../../authenticators/rules/ways-in.ts';
import { isSecondFactorRequired } from '../../../organizations/requirement.ts';
import { generalProblem, hidden, operator } from '../../../pages/components.ts';
import { type Html, html } from '../../../pages/html.ts';
import { formOf } from '../../../platform/http/bodies.ts';
import { listIdentities } from '../../../upstreams/identity-store.ts';
import type { PageServices } from '../../sign-in/routes.ts';
import { proofGate, requireProof } from '../proof.ts';
import type { AccountRow } from '../rows.ts';
import { type AccountHooks, visitOf } from '../visit.ts';
import type { SecuritySection, SecurityState, ShowSecurity } from './section.ts';
import { wayItems } from './ways-left.ts';

/** How the person gets back in, by what they have set up, and whether mail alone is enough for that. */
export const recoverySection: SecuritySection = { name: 'recovery', row, routes };

const ADDRESS = '/account/security/recovery';

async function row(services: PageServices, state: SecurityState): Promise<AccountRow> {
  const { site, database, mail, secondFactor } = services;
  const { visit, proof } = state;
  const text = site.messages.recovery.ways;
  const accountId = visit.account.id;
  const { factors } = proof;
  const { identities, recoveryCodes, isChosen, isRequired } = await database.read(function* read() {
    const codes = yield* countRecoveryCodes({ accountId });
    const isRequired = yield* isSecondFactorRequired(secondFactor, visit.account);
    const connected = yield* listIdentities({ accountId });
    const identities = connected.filter(({ isActive }) => isActive).length;
    return {
      identities,
      recoveryCodes: codes?.left ?? 0,
      isChosen: yield* requiresRecoveryCode(accountId),
      isRequired,
    };
  });
  const codeRequired = isRequired || isChosen;
  const ways = waysIn({ factors, identities, recoveryCodes, mailAvailable: mail.available, codeRequired });
  // With an authenticator app, a code is asked for already.
  const hasApp = factors.some(({ kind }) => kind === 'totp');
  const isOffered = !isRequired && recoveryCodes > 0 && !hasApp;
  const content = html`<p class="muted small">${text.lead}</p>
<ul>${wayItems(site, ways, factors)}</ul>
${ways.length === 1 && html`<p>${text.last}</p>`}
<p class="muted small">${text.operator(operator(site))}</p>
${(isChosen || (mail.available && isOffered)) && setting(services, state, isChosen)}`;
  return { title: text.title, state: text.count(ways.length), content };
}

/** The form that lets mail alone recover the account, or no longer. */
function setting({ site, signInCode }: PageServices, { token, proof }: SecurityState, isChosen: boolean): Html {
  const text = site.messages.recovery.ways;
  const lost = isChosen ? 'requiredLost' : 'requireLost';
  const form = html`<form method="post" action="${site.path(ADDRESS)}">${hidden(token, { require: isChosen ? 'no' : 'yes' })}<div><button class="equal" type="submit">${isChosen ? text.allow : text.require}</button></div></form>`;
  return html`<hr><header><h3>${text.requireTitle}</h3><p class="muted small">${isChosen ? text.allowLead : text.requireLead}</p></header>
<p class="small">${text[lost]} ${signInCode && site.messages.signInCode[lost]}</p>
${proofGate(site, proof, 'recovery', form)}`;
}

function routes(app: FastifyInstance, services: PageServices, { countForm }: AccountHooks, show: ShowSecurity): void {
  const { messages } = services.site;
  const proved = requireProof(services, 'recovery');
  app.post(ADDRESS, { preHandler: [countForm, proved] }, async (request, reply) => {
    const visit = visitOf(request);
    const form = formOf(request);
    const choice = form.get('require');
    if (choice !== 'yes' && choice !== 'no') {
      return show(reply, 400, visit, { problems: generalProblem(messages.account.codesFormUsed) });
    }
    const isRequired = choice === 'yes';
    await setRecoveryCodeRequired(services, visit, isRequired);
    const { ways } = messages.recovery;
    return show(reply, 200, visit, { done: isRequired ? ways.required : ways.allowed });
  });
}
