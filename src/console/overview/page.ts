import type { FastifyInstance } from 'fastify';
import { type CountInSpan, listCounts, type RefusalCount } from '../../audit/count-store.ts';
import { holdsSomewhere } from '../../operators/rights.ts';
import { isolate, moment } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { DAY, HOUR, iso } from '../../platform/clock.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { SCOPE_REQUESTS } from '../apps/addresses.ts';
import { keyAddress } from '../keys/addresses.ts';
import { consolePage } from '../layout.ts';
import { appLink } from '../links.ts';
import { foldedOnPhone } from '../list.ts';
import { systemAddress } from '../system/frame.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf, type ServiceFinding } from '../visit.ts';
import { type Attention, listAttention } from './attention-store.ts';
import { chart } from './chart.ts';
import { COUNTED, type Counted, firstHour, isPeriod, PERIODS, type Period } from './rules.ts';

const ADDRESS = '/console/overview';
/** How long before its end a key is named. */
const SOON = 14 * DAY;
/** How many refusals of one kind an app has in a period until it is named. */
const MANY = 5;
const MOST_REFUSALS = 15;
const MOST_KEYS = 5;
/** Up to how many scope requests that wait are counted. */
const MOST_REQUESTS = 20;

interface Found {
  readonly findings: readonly ServiceFinding[];
  readonly attention: readonly Attention[];
  readonly counts: readonly CountInSpan[];
  readonly refusals: readonly RefusalCount[];
}

/** What needs attention, and what happened. */
export function overviewRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site, clock } = services;
  const text = site.messages.operators.overview;

  app.get(ADDRESS, { config: { permission: 'service.read' } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const asked = queryOf(request).get('period') ?? 'day';
    const period = isPeriod(asked) ? asked : 'day';
    const now = clock();
    const hour = Math.floor(now / HOUR);
    const since = firstHour(period, hour);
    const stored = await visit.services.database.read(function* read() {
      const attention = yield* listAttention({
        ...{ now, before: now + SOON, mostKeys: MOST_KEYS, mostRequests: MOST_REQUESTS + 1 },
      });
      return { attention, ...(yield* listCounts({ since, width: PERIODS[period].width, limit: MOST_REFUSALS })) };
    });
    const found: Found = { ...stored, findings: await services.examine() };
    const content = html`<header><h1>${text.title}</h1></header>
${attentionCard(site, visit, found)}
<nav class="tabs" aria-label="${text.period}">${(Object.keys(PERIODS) as Period[]).map((name) => html`<a href="${site.path(`${ADDRESS}?period=${name}`)}"${name === period && html` aria-current="page"`}>${text.periods[name]}</a>`)}</nav>
<div class="counts">${(Object.keys(COUNTED) as Counted[]).map((counted) => chart(site, visit, { counted, period, hour, counts: found.counts }))}</div>
${refusalTable(site, visit, found.refusals, since)}
<p class="muted small">${text.counted}</p>`;
    return sendPage(reply, 200, site, consolePage(site, visit, { section: 'overview', title: text.title, content }));
  });
}

/** Everything that is not in order, problems first, each with what to do. */
function attentionCard(site: Site, visit: ConsoleVisit, { findings, attention, refusals }: Found): Html {
  const { path, messages } = site;
  const { overview: text } = messages.operators;
  const item = (level: 'problem' | 'warning' | 'request', found: HtmlPart, remedy: HtmlPart): Html =>
    html`<li><div><strong${level === 'problem' && html` class="state"`}>${text.levels[level]}</strong> ${found}<br><span class="small muted">${remedy}</span></div></li>`;
  const ofService = (level: 'problem' | 'warning') =>
    findings
      .filter((finding) => finding.level === level)
      // As on the command line, in English.
      .map(({ check, found, remedy }) => {
        const mail =
          check === 'mail' &&
          holdsSomewhere(visit.operator, 'mail.read') &&
          html` <a href="${path(`${systemAddress('mail')}?status=dead`)}">${text.seeMail}</a>`;
        return item(level, html`<span lang="en">${found}</span>`, html`<span lang="en">${remedy}</span>${mail}`);
      });
  const readsKeys = holdsSomewhere(visit.operator, 'operators.read');
  const { key: keys = [], request: requests = [] } = Object.groupBy(attention, ({ kind }) => kind);
  const ending = keys.map(({ id, name, at }) => {
    const link = readsKeys ? html`<a href="${path(keyAddress(id))}">${isolate(name)}</a>` : isolate(name);
    return item('warning', text.keyEnds(link, moment(at)), text.keyRemedy);
  });
  const failing = refusals
    .filter(({ clientId, count }) => clientId !== '0' && count >= MANY)
    .slice(0, 5)
    .map(({ clientId, count, reason }) =>
      item(
        'warning',
        text.appFails(appLink(site, visit, clientId), count.toLocaleString('en'), reason),
        html`<a href="${path(`/console/explain?app=${clientId}`)}">${text.appRemedy}</a>`,
      ),
    );
  const waiting =
    requests.length === 0
      ? []
      : [
          item(
            'request',
            text.scopesWait(requests.length > MOST_REQUESTS ? `${MOST_REQUESTS}+` : `${requests.length}`),
            html`<a href="${path(SCOPE_REQUESTS)}">${text.scopesRemedy}</a>`,
          ),
        ];
  const all = [...ofService('problem'), ...ofService('warning'), ...waiting, ...ending, ...failing];
  return html`<section class="card" id="attention"><h2>${text.attention}</h2>${all.length === 0 ? html`<p class="muted">${text.nothing}</p>` : html`<ul class="items">${all}</ul>`}</section>`;
}

/** The most frequent reasons, each with a link to its events. */
function refusalTable(site: Site, visit: ConsoleVisit, refusals: readonly RefusalCount[], since: number): HtmlPart {
  const { path, messages } = site;
  const { overview: text } = messages.operators;
  if (refusals.length === 0) return undefined;
  const rows = refusals.map(({ type, reason, clientId, count }) => {
    const query = { type, since: iso(since * HOUR), ...(clientId !== '0' && { clientId }) };
    return html`<tr><td>${text.types[type] ?? type}</td><td>${reason === '' ? text.noReason : isolate(reason)}</td><td>${clientId === '0' ? '–' : appLink(site, visit, clientId)}</td><td class="figures"><a href="${path(`/console/events?${new URLSearchParams(query)}`)}">${count.toLocaleString('en')}</a></td></tr>`;
  });
  const table = html`<h2>${text.reasons}</h2><div class="scrolls" tabindex="0" role="region" aria-label="${text.reasons}"><table class="numbers"><thead><tr><th scope="col">${text.what}</th><th scope="col">${text.reason}</th><th scope="col">${text.app}</th><th scope="col">${text.count}</th></tr></thead><tbody>${rows}</tbody></table></div>`;
  return html`<section class="card">${foldedOnPhone(text.reasons, table)}</section>`;
}
