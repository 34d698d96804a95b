import type { FastifyInstance } from 'fastify';
import { field, isolate, NO_PROBLEMS } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import type { ToldSetting } from '../../platform/config/told-settings.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { items } from '../list.ts';
import { typedIn } from '../typed.ts';
import { type ConsoleServices, consoleVisitOf } from '../visit.ts';
import { systemAddress, systemPage } from './frame.ts';
import { areaOf, SETTING_AREAS, type SettingArea } from './rules/areas.ts';

/** As much of a text as is searched for. */
const LONGEST = 64;

/** The settings of the service: by area, those that are set, or those in which a text occurs. */
export function settingsRoute(app: FastifyInstance, { site, settings }: ConsoleServices): void {
  const text = site.messages.operators.system;
  const address = systemAddress('settings');

  app.get(address, { config: { permission: 'service.read' } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    await visit.services.database.read(nothing);
    const query = queryOf(request);
    const q = typedIn(query, 'q', LONGEST);
    const show = q !== '' ? 'found' : query.get('show') === 'set' ? 'set' : 'all';
    const choice = (name: 'all' | 'set', label: string): Html =>
      html`<a href="${site.path(name === 'all' ? address : `${address}?show=set`)}"${name === show && html` aria-current="page"`}>${label}</a>`;
    const listed: Readonly<Record<typeof show, () => HtmlPart>> = {
      all: () => areas(site, settings),
      set: () => list(site, settings.filter(isSet), text.noneSet),
      found: () => list(site, settings.filter(contains(q)), text.noSetting(isolate(q))),
    };
    const content = html`<form class="search" role="search" method="get" action="${site.path(address)}">${field({ name: 'q', label: text.findSetting, type: 'text', autocomplete: 'off', value: q, problems: NO_PROBLEMS, required: false })}<button class="primary" type="submit">${text.find}</button></form>
<section class="card"><nav class="tabs" aria-label="${text.tabs.settings}">${choice('all', text.showAll)}${choice('set', text.showSet)}</nav>${listed[show]()}<p class="muted small">${text.settingsLead}</p></section>`;
    return sendPage(reply, 200, site, systemPage(site, visit, 'settings', content));
  });
}

function* nothing() {}

const isSet = ({ source }: ToldSetting): boolean => source !== 'default';

const contains = (text: string) => {
  const wanted = text.toLowerCase();
  return ({ name, about }: ToldSetting): boolean => `${name} ${about}`.toLowerCase().includes(wanted);
};

/** Each area is folded, with how many settings it has. */
function areas(site: Site, settings: readonly ToldSetting[]): Html {
  const { system: text } = site.messages.operators;
  const byArea = Map.groupBy(settings, ({ name }) => areaOf(name));
  return html`${(Object.keys(SETTING_AREAS) as SettingArea[]).map((area) => {
    const own = byArea.get(area) ?? [];
    const counts = text.areaCounts(own.length, own.filter(isSet).length);
    return own.length === 0
      ? undefined
      : html`<details><summary>${text.areas[area]} <span class="small muted">${counts}</span></summary>${list(site, own, '')}</details>`;
  })}`;
}

const list = (site: Site, settings: readonly ToldSetting[], none: HtmlPart): Html =>
  items(
    settings.map((setting) => row(site, setting)),
    none,
  );

function row(site: Site, { name, value, source, isSecret, initial, about }: ToldSetting): Html {
  const { system: text } = site.messages.operators;
  const set =
    source === 'default' ? text.initial(plainText(initial)) : isSecret ? text.secretSet : html`<code>${value}</code>`;
  return html`<li><div><strong><code>${name}</code></strong><br>${set} <span class="small muted">${text.sources[source]}</span><br><span class="small">${plainText(about)}</span></div></li>`;
}

/** Markdown that the descriptions of settings use: code, and links by their text. */
const plainText = (markdown: string): Html =>
  html`${markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split('`')
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
