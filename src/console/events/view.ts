import { eventTypes } from '../../audit/audit.ts';
import type { RecordedEvent } from '../../audit/event-store.ts';
import type { FoundEvents } from '../../audit/search-store.ts';
import { holdsSomewhere } from '../../operators/rights.ts';
import { field, isolate, moment, type Problems, selectField } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';
import { EXPORT_ADDRESSES } from '../export/addresses.ts';
import { appLink, explainAddress, personLink } from '../links.ts';
import { orderedRows } from '../list.ts';
import { liveList } from '../live/control.ts';
import type { ConsoleVisit } from '../visit.ts';

const ADDRESS = '/console/events';

/** The filters of the page, as in the admin API. */
export const FILTER_NAMES = [
  'type',
  'outcome',
  'userId',
  'clientId',
  'upstreamId',
  'actorId',
  'requestId',
  'address',
  'since',
  'until',
] as const;

export type FilterName = (typeof FILTER_NAMES)[number];

const FAMILIES = [...new Set(Object.keys(eventTypes).map((type) => type.split('.')[0] ?? ''))];
const TYPES = [...new Set([...FAMILIES, ...Object.keys(eventTypes)])].sort();

/** The filters, folded unless one is wrong; those that are set are named. */
export function filterForm(site: Site, typed: ReadonlyMap<string, string>, problems: Problems): Html {
  const text = site.messages.operators.events;
  const input = (name: FilterName, type: 'text' | 'date') =>
    field({
      ...{ name, type, label: text.fields[name], autocomplete: 'off', required: false, problems },
      value: typed.get(name) ?? '',
    });
  // What was typed as an instant stays one.
  const day = (name: 'since' | 'until') =>
    input(name, /^$|^\d{4}-\d\d-\d\d$/.test(typed.get(name) ?? '') ? 'date' : 'text');
  const select = (name: 'type' | 'outcome', options: readonly (readonly [string, string])[]) =>
    selectField({
      ...{ name, label: text.fields[name], value: typed.get(name) ?? '', problems },
      options: [['', text.any], ...options],
    });
  const isWrong = Object.keys(problems.fields).length > 0;
  const set = [...typed].map(
    ([name, value]) => html`<li>${text.fields[name as FilterName]}: <strong>${isolate(value)}</strong></li>`,
  );
  const named =
    set.length > 0 && html`<ul class="set">${set}<li><a href="${site.path(ADDRESS)}">${text.clear}</a></li></ul>`;
  return html`<div class="card filters"><details${isWrong && html` open`}><summary>${text.filter}</summary>
<form method="get" action="${site.path(ADDRESS)}"><div class="filter-fields">${select(
    'type',
    TYPES.map((type) => [type, type]),
  )}${select('outcome', Object.entries(text.outcomes))}${input('userId', 'text')}${input('clientId', 'text')}${input('upstreamId', 'text')}${input('actorId', 'text')}${input('requestId', 'text')}${input('address', 'text')}${day('since')}${day('until')}</div>
<div class="actions"><button class="primary" type="submit">${text.submit}</button></div></form></details>${named}</div>`;
}

interface EventPage extends FoundEvents {
  readonly typed: ReadonlyMap<string, string>;
  readonly isFirst: boolean;
  /** Whether what is new is shown as it happens. */
  readonly live: boolean;
}

/** Events, and where the list goes on. */
export function eventList(site: Site, visit: ConsoleVisit, { items, next, typed, isFirst, live }: EventPage): Html {
  const { path, messages } = site;
  const text = messages.operators.events;
  const address = (more: Readonly<Record<string, string>>) => {
    const query = new URLSearchParams([...typed, ...Object.entries(more)]);
    return path(query.size === 0 ? ADDRESS : `${ADDRESS}?${query}`);
  };
  const none = next === undefined ? text.none : text.noneSoFar;
  const list =
    items.length === 0
      ? html`<p class="muted">${none}</p>`
      : orderedRows(
          site,
          'events',
          items.map((event) => row(site, visit, event)),
        );
  const links: HtmlPart[] = [
    !isFirst && html`<a href="${address({})}">${text.newest}</a>`,
    next !== undefined &&
      html`<a rel="next" href="${address({ after: next })}">${items.length === 0 ? text.searchOn : text.older}</a>`,
  ];
  const watched = liveList(site, {
    isFirst,
    live,
    address,
    stream: `${ADDRESS}/live?${new URLSearchParams([...typed, ['after', items[0]?.id ?? '0']])}`,
  });
  const file = path(`${EXPORT_ADDRESSES.events}${typed.size === 0 ? '' : `?${new URLSearchParams([...typed])}`}`);
  const saved = items.length > 0 && html`<a class="button" href="${file}">${messages.operators.exports.link}</a>`;
  return html`<section class="card" id="listed" aria-label="${text.title}"${watched.attribute}>${watched.lead}${(watched.links !== undefined || saved) && html`<p class="acts">${watched.links}${saved}</p>`}${list}${links.some((link) => link !== false) && html`<nav class="pager" aria-label="${messages.pager.label}">${links}</nav>`}</section>`;
}

function actorOf(site: Site, visit: ConsoleVisit, { actor }: RecordedEvent): HtmlPart {
  const names: Readonly<Record<string, string>> = site.messages.operators.events.actors;
  const name = names[actor.type] ?? actor.type;
  if (actor.id === null) return name;
  return html`${name} ${actor.type === 'user' ? personLink(site, visit, actor.id) : html`<span class="figures">${actor.id}</span>`}`;
}

function row(site: Site, visit: ConsoleVisit, event: RecordedEvent): Html {
  const text = site.messages.operators.events;
  const { type, outcome, at, userId, clientId, address, requestId } = event;
  const details = JSON.stringify(event.details, null, 1);
  const explains = requestId !== null && holdsSomewhere(visit.operator, 'traces.read');
  const about: HtmlPart[] = [
    html`${text.by} ${actorOf(site, visit, event)}`,
    userId !== null && html` · ${text.person} ${personLink(site, visit, userId)}`,
    clientId !== null && html` · ${text.app} ${appLink(site, visit, clientId)}`,
    address !== null && html` · ${address}`,
    explains && html` · <a href="${site.path(explainAddress(requestId))}">${text.explain}</a>`,
  ];
  const head = html`<strong lang="en">${type}</strong>${outcome === 'failure' && html` <strong class="state">${text.failure}</strong>`} <span class="small muted">${moment(Date.parse(at))}</span>`;
  return html`<li><details><summary><span class="event">${head}</span></summary><p class="small" lang="en">${withCode(eventTypes[type])}</p>${details !== '{}' && html`<pre>${isolate(details)}</pre>`}</details>
<p class="small muted told">${about}</p></li>`;
}

/** A text of the reference, which is in English, in which the names of fields are between backticks. */
const withCode = (text: string): HtmlPart =>
  text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`));
