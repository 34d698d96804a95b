import { countRecoveryCodes } from '../../../authenticators/recovery-code-store.ts';
import { type WayIn, waysIn } from '../../../authenticators/rules/ways-in.ts';
import type { Work } from '../../../platform/database/database.ts';
import { operator } from '../../kit/components.ts';
import { type Html, html } from '../../kit/html.ts';
import type { PageServices } from '../../sign-in/routes.ts';
import type { SecuritySection, SecurityState } from './section.ts';

/** How the person gets back in, by what they have set up. */
export const recoverySection: SecuritySection = { section, routes: () => {} };

async function section({ site, database, mail }: PageServices, { visit, proof }: SecurityState): Promise<Html> {
  const text = site.messages.recovery.ways;
  const accountId = visit.account.id;
  const ways = await database.read(function* read(): Work<readonly WayIn[]> {
    const codes = yield* countRecoveryCodes({ accountId });
    return waysIn({
      factors: proof.factors,
      recoveryCodes: codes?.left ?? 0,
      mailAvailable: mail.available,
    });
  });
  return html`<section class="card" id="recovery"><header><h2>${text.title}</h2><p class="muted small">${text.lead}</p></header>
<ul>${ways.map((way) => html`<li>${text.texts[way]}</li>`)}</ul>
${ways.length === 1 && html`<p>${text.last}</p>`}
<p class="muted small">${text.operator(operator(site))}</p></section>`;
}
