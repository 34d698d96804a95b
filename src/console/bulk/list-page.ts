import { type Counts, countPeople } from '../../account-actions/bulk/lists.ts';
import { type BulkAct, type ListedPerson, listBulkPeople, type Outcome } from '../../account-actions/bulk/store.ts';
import { findGroup, type Group } from '../../groups/store.ts';
import { holds, INSTALLATION } from '../../operators/rights.ts';
import {
  fact,
  facts,
  hidden,
  isolate,
  moment,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
} from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { joinList } from '../../pages/lists.ts';
import type { Work } from '../../platform/database/database.ts';
import { consolePage } from '../layout.ts';
import { personLink } from '../links.ts';
import { longItems, onward, PAGE_SIZE } from '../list.ts';
import type { ConsoleVisit } from '../visit.ts';
import { BULK, BULK_FORMS, bulkListAddress } from './addresses.ts';

/** Which people of a list are shown. */
export interface Shown {
  readonly outcome: Outcome | undefined;
  /** The place in the list after which they go on. */
  readonly after: number;
}

/** What the page about a list shows. */
export interface FoundList {
  readonly act: BulkAct;
  readonly counts: Counts;
  readonly people: readonly ListedPerson[];
  /** The group that people are added to or removed from. */
  readonly group: Group | undefined;
}

export function* readList(act: BulkAct, { outcome, after }: Shown): Work<FoundList> {
  const { groupId } = act.parameters;
  return {
    act,
    counts: yield* countPeople(act.id),
    people: yield* listBulkPeople({ id: act.id, outcome, after, limit: PAGE_SIZE + 1 }),
    group: groupId === undefined ? undefined : yield* findGroup({ id: groupId }),
  };
}

interface ListView extends FoundList {
  readonly shown: Shown;
  /** The names that are nobody's, in the answer that made the list: they are not stored. */
  readonly unknown?: readonly string[];
  readonly problems?: Problems;
}

/** Before the act: who is found, who is not, and on whom the operator may not act. Afterwards: what became of each. */
export function bulkListPage(site: Site, visit: ConsoleVisit, view: ListView): Page {
  const { messages } = site;
  const { bulk: text } = messages.operators;
  const { act, counts, problems = NO_PROBLEMS } = view;
  const words = text.act[act.act];
  const isFrozen = act.state === 'frozen';
  const title = isFrozen ? text.previewTitle(words.title, counts.waiting) : words.title;
  const lead = isFrozen ? text.previewLead : act.state === 'running' ? text.live : undefined;
  const content = html`<header class="object"><h1>${title}</h1>${lead !== undefined && html`<p class="muted">${lead}</p>`}</header>
${problemSummary(messages, problems)}
${isFrozen ? preview(site, visit, view) : result(site, visit, view)}
${list(site, visit, view)}`;
  return consolePage(site, visit, { section: 'people', title: words.title, content, problems });
}

const groupFact = ({ messages }: Site, group: Group | undefined): HtmlPart =>
  group !== undefined && fact(messages.operators.bulk.toGroup, isolate(group.displayName), true);

function preview(site: Site, visit: ConsoleVisit, { act, counts, group, unknown = [] }: ListView): Html {
  const { messages, path } = site;
  const { bulk: text, cancel } = messages.operators;
  const { waiting, refused } = counts;
  const words = text.act[act.act];
  const named = joinList(unknown.slice(0, PAGE_SIZE).map(isolate), messages, 'enumeration');
  const more = unknown.length > PAGE_SIZE && html` ${text.unknownMore(unknown.length - PAGE_SIZE)}`;
  const start =
    waiting === 0
      ? html`<p>${text.nobodyLeft}</p><p><a class="button" href="${path(BULK)}"><span>${text.backTo}</span></a></p>`
      : html`<form method="post" action="${path(BULK_FORMS.start)}">${hidden(visit.token, { id: act.id, shown: String(waiting) })}
<div class="actions"><button class="danger" type="submit">${text.confirm(words.title, waiting)}</button><a href="${path(BULK)}">${cancel}</a></div></form>`;
  return html`<section class="card"><p>${words.lead}</p>${facts([
    groupFact(site, group),
    fact(text.willAct, text.people(waiting)),
    refused > 0 &&
      fact(text.stronger, html`${text.people(refused)}<br><span class="small muted">${text.strongerHint}</span>`),
    act.unknown > 0 &&
      fact(text.unknown, unknown.length === 0 ? text.unknownCount(act.unknown) : html`${named}${more}`, true),
  ])}
${start}</section>`;
}

function result(site: Site, visit: ConsoleVisit, { act, counts, group, shown }: ListView): Html {
  const { messages, path } = site;
  const { bulk: text } = messages.operators;
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const handled = all - counts.waiting;
  const isRunning = act.state === 'running';
  const isBroken = !isRunning && act.state !== 'finished';
  const address = path(bulkListAddress(act.id));
  const { requestId } = act.origin;
  const readsEvents = requestId !== null && holds(visit.operator, 'events.read', INSTALLATION);
  const outcome = (name: Outcome) =>
    counts[name] > 0 &&
    fact(
      text.outcomes[name],
      html`<a href="${address}?show=${name}"${shown.outcome === name && html` aria-current="true"`}>${counts[name].toLocaleString('en')}</a>`,
    );
  const stop = html`<form method="post" action="${path(BULK_FORMS.stop)}">${hidden(visit.token, { id: act.id })}<div class="actions"><button class="danger" type="submit">${text.stop}</button><a href="${address}">${text.again}</a></div></form>`;
  return html`<section class="card" id="progress"${isRunning && html` data-live="${address}"`}><p><strong${isBroken && html` class="state"`}>${text.states[act.state]}</strong>${!isRunning && counts.waiting > 0 && html` ${text.leftOut}`}</p>
<progress max="${all}" value="${handled}" aria-label="${text.handled}"></progress>
${facts([
  fact(text.handled, text.progress(handled, all)),
  ...(['done', 'nothing', 'refused', 'failed', 'waiting'] as const).map(outcome),
  groupFact(site, group),
  fact(text.began, moment(act.createdAt)),
  act.endedAt !== null && fact(text.ended, moment(act.endedAt)),
])}
${act.total > all && html`<p class="muted">${text.deleted(act.total - all)}</p>`}
${isRunning ? stop : html`<p class="acts"><a class="button" href="${path(BULK)}">${text.backTo}</a>${readsEvents && html`<a class="button" href="${path(`/console/events?requestId=${requestId}`)}">${text.events}</a>`}</p>`}</section>`;
}

function list(site: Site, visit: ConsoleVisit, { act, people, shown }: ListView): Html {
  const { bulk: text, more, first } = site.messages.operators;
  const rows = people.slice(0, PAGE_SIZE).map(({ id, username, displayName, outcome, reason }) => {
    const why = outcome === 'failed' ? text.failed : reason;
    const state = act.state === 'frozen' && outcome === 'waiting' ? undefined : text.outcomes[outcome];
    return html`<li><div>${personLink(site, visit, id, isolate(displayName))} <span class="small muted">${isolate(username)}</span>${why !== null && html`<br><span class="small">${isolate(why)}</span>`}</div>${state !== undefined && html`<span class="small muted">${state}</span>`}</li>`;
  });
  const kept = shown.outcome === undefined ? {} : { show: shown.outcome };
  const last = people.length > PAGE_SIZE ? people[PAGE_SIZE - 1]?.number : undefined;
  const links = [
    ...(shown.outcome === undefined ? [] : [{ query: {}, text: text.all }]),
    ...(shown.after === 0 ? [] : [{ query: kept, text: first }]),
    ...(last === undefined ? [] : [{ query: { ...kept, after: String(last) }, text: more }]),
  ];
  const name = shown.outcome === undefined ? text.list : `${text.list}: ${text.outcomes[shown.outcome]}`;
  return html`<section class="card" id="people"><h2>${name}</h2>${longItems(site, rows, text.empty)}${onward(site, bulkListAddress(act.id), links)}</section>`;
}
