import type { Permission } from '../../operators/permissions.ts';
import { holdsSomewhere } from '../../operators/rights.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { consolePage } from '../layout.ts';
import type { ConsoleVisit } from '../visit.ts';

export const SYSTEM = '/console/system';

/** The pages about the service, each with the permission without which it is not shown. */
const TABS = {
  health: { path: '', permission: 'service.read' },
  mail: { path: '/mail', permission: 'mail.read' },
  settings: { path: '/settings', permission: 'service.read' },
} as const satisfies Readonly<Record<string, { readonly path: string; readonly permission: Permission }>>;
export type SystemTab = keyof typeof TABS;

export const systemAddress = (tab: SystemTab): string => SYSTEM + TABS[tab].path;

/** A page about the service itself. */
export function systemPage(site: Site, visit: ConsoleVisit, current: SystemTab, content: Html): Page {
  const { system: text } = site.messages.operators;
  const tabs = (Object.keys(TABS) as SystemTab[])
    .filter((tab) => holdsSomewhere(visit.operator, TABS[tab].permission))
    .map(
      (tab) =>
        html`<a href="${site.path(systemAddress(tab))}"${tab === current && html` aria-current="page"`}>${text.tabs[tab]}</a>`,
    );
  return consolePage(site, visit, {
    section: 'system',
    title: text.tabs[current],
    content: html`<header><h1>${text.title}</h1></header>
<nav class="tabs" aria-label="${text.tabsLabel}">${tabs}</nav>
${content}`,
  });
}
