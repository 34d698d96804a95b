import { holdsSomewhere } from '../../operators/rights.ts';
import { fact, facts, isolate, moment } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';
import type { ListedStep, Trace, TraceStep } from '../../traces/read-trace.ts';
import { type FactName, factsOf } from '../../traces/rules/step-facts.ts';
import { addUriAddress } from '../apps/added-uri.ts';
import { refusedRedirectUri } from '../apps/rules/kinds.ts';
import { appLink, explainAddress, personLink } from '../links.ts';
import { foldedOnPhone, rowList } from '../list.ts';
import { liveList } from '../live/control.ts';
import type { ConsoleVisit } from '../visit.ts';

/** What a step was asked for, and how it was answered. */
export const requestOf = ({ method, path, status }: TraceStep): string =>
  [method, path, status].filter((part) => part !== undefined).join(' ');

export function outcomeText({ messages }: Site, { outcome }: TraceStep): Html {
  const text = messages.operators.explain;
  return outcome === 'failure'
    ? html`<strong class="state">${text.failed}</strong>`
    : html`<span class="muted">${text.passed}</span>`;
}

/** What is told of a step before all else: what is wrong, and what helps. */
const FIRST_FACTS: readonly FactName[] = ['error', 'reason', 'expected', 'received', 'remedy'];

/** The facts of a step that come first, and the others. */
function orderedFacts({ messages }: Site, step: TraceStep): readonly [first: readonly Html[], others: readonly Html[]] {
  const told = factsOf(step);
  const hasReason = told.some(([name]) => name === 'reason');
  const leads = (name: FactName): boolean => FIRST_FACTS.includes(name) || (name === 'description' && !hasReason);
  const shown = (isFirst: boolean): readonly Html[] =>
    told
      .filter(([name]) => leads(name) === isFirst)
      .map(([name, value]) => fact(messages.operators.explain.facts[name], isolate(value), true));
  return [shown(true), shown(false)];
}

/** The steps of one authorization, each with its reason and remedy. */
export function traceView(site: Site, visit: ConsoleVisit, { requestId, clientId, userId, steps }: Trace): Html {
  const text = site.messages.operators.explain;
  const rows = steps.map((step) => {
    const own = step.requestId === requestId;
    const [first, others] = orderedFacts(site, step);
    return html`<li${own && html` class="own"`}><p><strong lang="en">${step.step}</strong> ${outcomeText(site, step)}${own && html` · ${text.thisRequest}`}<br><span class="small muted">${moment(Date.parse(step.at))}${requestOf(step) !== '' && html` · <code>${requestOf(step)}</code>`}</span></p>${first.length > 0 && facts(first)}${addUri(site, visit, step)}${others.length > 0 && foldedOnPhone(text.moreFacts, facts(others))}</li>`;
  });
  const about = facts([
    fact(text.count, text.steps(steps.length)),
    fact(text.app, clientId === null ? text.unknown : appLink(site, visit, clientId)),
    fact(text.person, userId === null ? text.unknown : personLink(site, visit, userId)),
  ]);
  return html`<section class="card" aria-label="${text.count}">${about}<ol class="steps-told">${rows}</ol></section>`;
}

/** A redirect URI that was refused can be added to its app. */
function addUri({ path, messages }: Site, visit: ConsoleVisit, { clientId, received }: TraceStep): HtmlPart {
  const uri = refusedRedirectUri(received);
  if (uri === undefined || clientId === null || !holdsSomewhere(visit.operator, 'apps.manage')) return undefined;
  const address = addUriAddress(visit, clientId, uri);
  return html`<p class="acts"><a class="button" href="${path(address)}">${messages.operators.explain.addUri}</a></p>`;
}

interface NewestSteps {
  readonly steps: readonly ListedStep[];
  readonly clientId: string | null;
  readonly isFirst: boolean;
  /** Where the list goes on. */
  readonly next: string | undefined;
  /** Whether what is new is shown as it happens. */
  readonly live: boolean;
}

/** The newest steps, each leading to its trace. */
export function newestSteps(site: Site, { steps, clientId, isFirst, next, live }: NewestSteps): Html {
  const { path, messages } = site;
  const { explain: text, older, newest } = messages.operators;
  const address = (query: Readonly<Record<string, string>>) => {
    const all = { ...(clientId !== null && { app: clientId }), ...query };
    return path(`/console/explain${Object.keys(all).length > 0 ? `?${new URLSearchParams(all)}` : ''}`);
  };
  const links: HtmlPart[] = [
    !isFirst && html`<a href="${address({})}">${newest}</a>`,
    next !== undefined && html`<a rel="next" href="${address({ after: next })}">${older}</a>`,
    clientId !== null && html`<a href="${path('/console/explain')}">${text.everything}</a>`,
  ];
  const query = { ...(clientId !== null && { app: clientId }), after: steps[0]?.id ?? '0' };
  const stream = `/console/explain/live?${new URLSearchParams(query)}`;
  const watched = liveList(site, { isFirst, live, address, stream });
  const list = rowList(
    site,
    steps.map((step) => stepRow(site, step)),
    FIRST_STEPS,
  );
  const lead = clientId === null ? text.newest : text.ofApp(html`<span class="figures">${clientId}</span>`);
  return html`<section class="card" id="listed" aria-labelledby="newest"${watched.attribute}>${watched.control}<h2 class="small muted" id="newest">${steps.length === 0 ? text.none : lead}</h2>${list}${links.some((link) => link !== false) && html`<nav class="pager" aria-label="${messages.pager.label}">${links}</nav>`}</section>`;
}

function stepRow(site: Site, step: ListedStep): Html {
  const what = step.description ?? step.reason ?? step.ignored ?? '';
  const inner = html`<span class="who"><span><strong lang="en">${step.step}</strong> ${outcomeText(site, step)}${step.error !== undefined && html` · <code>${step.error}</code>`}</span><span class="small muted what">${isolate(what.length > LONGEST ? `${what.slice(0, LONGEST)}…` : what)}</span></span><span class="small muted when">${moment(Date.parse(step.at))}</span>`;
  return step.requestId === null
    ? html`<li><div>${inner}</div></li>`
    : html`<li><a href="${site.path(explainAddress(step.requestId))}">${inner}</a></li>`;
}

/** How many steps a small phone shows at first: each takes several lines. */
const FIRST_STEPS = 6;

/** How much of a description is shown in a row, in characters. */
const LONGEST = 160;
