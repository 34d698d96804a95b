import { type Html, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { KEYS } from '../keys/addresses.ts';
import { consolePage } from '../layout.ts';
import type { ConsoleVisit } from '../visit.ts';
import { OPERATORS } from './addresses.ts';

const TABS = { roles: OPERATORS, keys: KEYS } as const;

/** A list of what lets somebody or something operate the service: roles of people, and keys of programs. */
export function operatorsPage(site: Site, visit: ConsoleVisit, current: keyof typeof TABS, content: Html): Page {
  const { operators: text } = site.messages.operators;
  const tabs = (Object.keys(TABS) as (keyof typeof TABS)[]).map(
    (tab) =>
      html`<a href="${site.path(TABS[tab])}"${tab === current && html` aria-current="page"`}>${text.tabs[tab]}</a>`,
  );
  return consolePage(site, visit, {
    section: 'operators',
    title: text.tabs[current],
    content: html`<header><h1>${text.title}</h1></header>
<nav class="tabs" aria-label="${text.tabsLabel}">${tabs}</nav>
${content}`,
  });
}
