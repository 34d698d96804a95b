import type { FastifyInstance } from 'fastify';
import { holds, INSTALLATION } from '../../operators/rights.ts';
import { field, isolate, NO_PROBLEMS } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { initials } from '../../pictures/rules/initials.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { findUpstreamsContaining, listUpstreams, type Upstream } from '../../upstreams/store.ts';
import { consolePage } from '../layout.ts';
import { afterOf, forward, onward, PAGE_SIZE, pageOfRows, rowList } from '../list.ts';
import { typedIn } from '../typed.ts';
import { type ConsoleServices, consoleVisitOf } from '../visit.ts';
import { NEW_UPSTREAM, UPSTREAMS, upstreamActAddress, upstreamAddress } from './addresses.ts';
import { providerKinds } from './rules/kinds.ts';

/** As much of a text as is searched for: the longest issuer. */
const LONGEST = 255;

/** The providers through which people sign in, and the choice of the kind of a new one. */
export function upstreamListRoutes(app: FastifyInstance, { site }: ConsoleServices): void {
  const text = site.messages.operators.upstreams;

  app.get(UPSTREAMS, { config: { permission: 'upstreams.read' } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const query = queryOf(request);
    const [q, after] = [typedIn(query, 'q', LONGEST), afterOf(query)];
    const page = { after, limit: PAGE_SIZE + 1 };
    const found = await visit.services.database.read(() =>
      q === '' ? listUpstreams(page) : findUpstreamsContaining({ ...page, text: q }),
    );
    const { rows, next } = pageOfRows(found);
    const none = q === '' ? text.nothing : site.messages.operators.noResults(isolate(q));
    const some = q === '' ? text.inOrder : text.contains(isolate(q));
    const adds = holds(visit.operator, 'upstreams.manage', INSTALLATION);
    const content = html`<header class="with-link"><div><h1>${text.title}</h1><p class="muted">${text.lead}</p></div>${adds && html`<a class="button" href="${site.path(NEW_UPSTREAM)}">${text.add}</a>`}</header>
<form class="search" role="search" method="get" action="${site.path(UPSTREAMS)}">${field({ name: 'q', label: text.search, hint: text.searchHint, type: 'text', autocomplete: 'off', value: q, problems: NO_PROBLEMS, required: false })}<button class="primary" type="submit">${text.submit}</button></form>
<section class="card" aria-labelledby="found"><h2 class="small muted" id="found">${rows.length === 0 ? none : some}</h2>${rowList(
      site,
      rows.map((upstream) => row(site, upstream)),
    )}${onward(site, UPSTREAMS, forward(site, after, next, q === '' ? {} : { q }))}</section>`;
    return sendPage(reply, 200, site, consolePage(site, visit, { section: 'upstreams', title: text.title, content }));
  });

  app.get(NEW_UPSTREAM, { config: { permission: 'upstreams.manage', acts: true } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    await visit.services.database.read(function* nothing() {});
    const choices = providerKinds.map((kind) => {
      const [name = '', about = ''] = text.choose.kinds[kind];
      return html`<li><a href="${site.path(upstreamActAddress('create', { provider: kind }))}"><span class="letters" aria-hidden="true">${initials(name)}</span><span class="who"><span class="name">${name}</span> <span class="small muted">${about}</span></span></a></li>`;
    });
    const content = html`<header class="object"><h1>${text.choose.title}</h1><p class="muted">${text.choose.lead}</p></header>
<section class="card"><ul class="list">${choices}</ul></section>
<p><a href="${site.path(UPSTREAMS)}">${site.messages.operators.cancel}</a></p>`;
    const page = consolePage(site, visit, { section: 'upstreams', title: text.choose.title, content });
    return sendPage(reply, 200, site, page);
  });
}

/** Whether people can use a provider. */
export const upstreamState = ({ messages }: Site, { status }: Pick<Upstream, 'status'>): HtmlPart =>
  status === 'active'
    ? messages.operators.upstreams.on
    : html`<strong class="state">${messages.operators.upstreams.off}</strong>`;

function row(site: Site, upstream: Upstream): Html {
  const { displayName, issuer, name } = upstream;
  return html`<li><a href="${site.path(upstreamAddress(upstream.id))}"><span class="letters" aria-hidden="true">${initials(displayName)}</span><span class="who"><span class="name">${isolate(displayName)}</span> <span class="small muted">${isolate(name)} · ${isolate(new URL(issuer).host)}</span></span><span class="small">${upstreamState(site, upstream)}</span></a></li>`;
}
