import { isFirstFactor, mayAddPasskeys } from '../../account-actions/factors/passkeys.ts';
import { hidden } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';
import { passkeyButton, passkeyForm } from '../../pages/passkey.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { readProof } from './proof.ts';
import type { AccountVisit } from './visit.ts';

/** Where a person declines: the browser does not offer one again for some weeks. */
export const DECLINE_PASSKEY = '/account/passkey-offer';

/**
 * Whether the main page of the account offers a passkey: to a person without one who has just signed in with the password, and did not decline
 * in this browser lately.
 * @returns whether it would be the first factor beside the password; undefined where none is offered
 */
export async function offersPasskey(
  services: PageServices,
  visit: AccountVisit,
): Promise<{ readonly isFirst: boolean } | undefined> {
  const { browser, session, account } = visit;
  if (browser.declinedPasskey || !session.amr.includes('pwd') || !mayAddPasskeys(services, account)) {
    return undefined;
  }
  const { needed, factors } = await readProof(services, visit);
  const isOffered = !needed && factors.every(({ kind }) => kind !== 'passkey');
  return isOffered ? { isFirst: isFirstFactor(factors) } : undefined;
}

/** The offer, which a script shows where the browser can keep passkeys. */
export function passkeyOffer(site: Site, token: string, { isFirst }: { readonly isFirst: boolean }): Html {
  const { passkeys: text, twoStep } = site.messages;
  const add = passkeyForm(site, {
    id: 'add-passkey',
    action: '/account/security/passkeys',
    options: '/account/security/passkeys/new',
    kind: 'create',
    token,
    values: { action: 'add' },
    content: html`<div>${passkeyButton('add-passkey', text.add, 'primary')}</div>`,
  });
  return html`<section class="card" id="passkey-offer" hidden data-passkey-offer><header><h2>${text.offer}</h2><p class="muted small">${text.offerLead} ${isFirst && twoStep.securedLead}</p></header>
${add}
<form method="post" action="${site.path(DECLINE_PASSKEY)}">${hidden(token)}<div><button class="link" type="submit">${text.notNow}</button></div></form></section>`;
}
