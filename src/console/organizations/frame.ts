import { holds } from '../../operators/rights.ts';
import type { Organization } from '../../organizations/store.ts';
import { isolate } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { consolePage } from '../layout.ts';
import type { ConsoleVisit } from '../visit.ts';
import { ORGANIZATION_TABS, type OrganizationTab, organizationAddress, placeIn } from './addresses.ts';

/** A page about an organization: its name, the pages about it, and what one of these shows. */
export function organizationPage(
  site: Site,
  visit: ConsoleVisit,
  { id, name, domain }: Organization,
  current: OrganizationTab,
  content: Html,
): Page {
  const { path, messages } = site;
  const { organizations: text } = messages.operators;
  const tabs = (Object.keys(ORGANIZATION_TABS) as OrganizationTab[]).filter((tab) =>
    holds(visit.operator, ORGANIZATION_TABS[tab].permission, placeIn(id)),
  );
  return consolePage(site, visit, {
    section: 'organizations',
    title: name,
    content: html`<header class="object"><h1>${isolate(name)}</h1><p class="muted">${isolate(domain)}</p></header>
<nav class="tabs" aria-label="${text.tabsLabel}">${tabs.map((tab) => html`<a href="${path(organizationAddress(id, tab))}"${tab === current && html` aria-current="page"`}>${text.tabs[tab]}</a>`)}</nav>
${content}`,
  });
}
