import { holdsSomewhere } from '../../operators/rights.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';
import { INVITATIONS } from '../invitations/addresses.ts';
import type { ConsoleVisit } from '../visit.ts';

const TABS = {
  people: { address: '/console/people', permission: 'users.read' },
  invitations: { address: INVITATIONS, permission: 'invitations.read' },
} as const;

/** The lists of people: those with an account, and those who are invited. */
export function peopleTabs(site: Site, { operator }: ConsoleVisit, current: keyof typeof TABS): Html | undefined {
  const { invitations: text } = site.messages.operators;
  const shown = (Object.keys(TABS) as (keyof typeof TABS)[]).filter((tab) =>
    holdsSomewhere(operator, TABS[tab].permission),
  );
  if (shown.length < 2) return undefined;
  return html`<nav class="tabs" aria-label="${text.tabsLabel}">${shown.map((tab) => html`<a href="${site.path(TABS[tab].address)}"${tab === current && html` aria-current="page"`}>${text.tabs[tab]}</a>`)}</nav>`;
}
