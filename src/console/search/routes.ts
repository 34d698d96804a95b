import type { FastifyInstance } from 'fastify';
import { holdsSomewhere } from '../../operators/rights.ts';
import { field, isolate, NO_PROBLEMS } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { formats } from '../../platform/validation/formats.ts';
import { consolePage, SEARCH } from '../layout.ts';
import { explainAddress } from '../links.ts';
import { typedIn } from '../typed.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { findEverywhere, type Hit } from './find.ts';
import { placesFor } from './places.ts';

/** As much of a text as is searched for: the longest issuer. */
const LONGEST = 255;

/** Everything that the operator may see, by what it is called. The script shows the same page above any other. */
export function searchRoutes(app: FastifyInstance, { site }: ConsoleServices): void {
  const text = site.messages.operators.search;

  app.get(SEARCH, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const typed = typedIn(queryOf(request), 'text', LONGEST);
    const found = await findEverywhere(visit, typed);
    const places = placeRows(site, visit, typed);
    const parts = [
      part(text.kinds.pages, places),
      ...[...found].map(([kind, hits]) =>
        part(
          text.kinds[kind],
          hits.map((hit) => hitRow(site, hit)),
        ),
      ),
    ].filter((one) => one !== undefined);
    const count = places.length + [...found.values()].flat().length;
    const lead: HtmlPart =
      typed === ''
        ? text.all
        : parts.length === 0
          ? site.messages.operators.noResults(isolate(typed))
          : text.found(count);
    const content = html`<header><h1>${text.title}</h1></header>
<div id="search"><form class="search" role="search" method="get" action="${site.path(SEARCH)}">${field({ name: 'text', label: text.field, hint: text.hint, type: 'text', autocomplete: 'off', value: typed, problems: NO_PROBLEMS, required: false })}<button class="primary" type="submit">${text.submit}</button></form>
<p class="small muted" id="count" role="status">${lead}</p><div id="hits">${parts}</div></div>`;
    return sendPage(reply, 200, site, consolePage(site, visit, { title: text.title, content }));
  });
}

/** The explanation of a request, if the text is its ID, and the pages whose title contains the text. */
function placeRows(site: Site, visit: ConsoleVisit, typed: string): readonly Html[] {
  const id = typed.toLowerCase();
  const explains = formats.uuid(id) && holdsSomewhere(visit.operator, 'traces.read');
  const explanation = explains
    ? [rowOf(site, explainAddress(id), site.messages.operators.search.explain(isolate(id)))]
    : [];
  const places = placesFor(visit.operator, site.messages, typed);
  return [...explanation, ...places.map(({ address, title }) => rowOf(site, address, title))];
}

const rowOf = ({ path }: Site, address: string, name: HtmlPart, note?: HtmlPart): Html =>
  html`<li><a href="${path(address)}"><span class="who"><span class="name">${name}</span>${note !== undefined && html` <span class="small muted">${note}</span>`}</span></a></li>`;

const hitRow = (site: Site, { address, name, note }: Hit): Html => rowOf(site, address, isolate(name), isolate(note));

const part = (title: string, rows: readonly Html[]): Html | undefined =>
  rows.length === 0
    ? undefined
    : html`<section class="card"><h2 class="small muted">${title}</h2><ul class="list">${rows}</ul></section>`;
