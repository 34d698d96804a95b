import type { FastifyInstance } from 'fastify';
import { newestEventId } from '../../audit/event-store.ts';
import { searchEvents } from '../../audit/search-store.ts';
import { NO_PROBLEMS, problemSummary } from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import { sendPage } from '../../pages/layout.ts';
import { invalid } from '../../platform/failure.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { consolePage } from '../layout.ts';
import { afterOf } from '../list.ts';
import type { LiveViews } from '../live/views.ts';
import { type ConsoleServices, consoleVisitOf } from '../visit.ts';
import { eventFilterOf, problemsOfFilter, typedFilters } from './filter.ts';
import { eventList, filterForm } from './view.ts';

const PAGE_SIZE = 25;
const LIVE = '/console/events/live';

/** The audit trail, with its filters in the address. */
export function eventRoutes(app: FastifyInstance, services: ConsoleServices, live: LiveViews): void {
  const { site } = services;
  const text = site.messages.operators.events;

  app.get('/console/events', { config: { permission: 'events.read' } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const query = queryOf(request);
    const typed = typedFilters(query);
    const filter = eventFilterOf(typed);
    const problems = problemsOfFilter(filter, site.messages);
    const given = query.get('after') ?? '';
    const after = isSnowflake(given) ? given : '0';
    const found =
      problems === NO_PROBLEMS
        ? await searchEvents(visit.services.database, {
            filter,
            order: 'desc',
            after,
            limit: PAGE_SIZE,
          })
        : undefined;
    const content = html`<header class="object"><h1>${text.title}</h1><p class="muted">${text.lead}</p></header>
${problemSummary(site.messages, problems)}
${filterForm(site, typed, problems)}
${found !== undefined && eventList(site, visit, { ...found, typed, isFirst: after === '0', live: query.get('live') === '1' })}`;
    const page = consolePage(site, visit, { section: 'events', title: text.title, content, problems });
    return sendPage(reply, found === undefined ? 400 : 200, site, page);
  });

  app.get(LIVE, { config: { permission: 'events.read', isStream: true } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const query = queryOf(request);
    const { database } = visit.services;
    const filter = eventFilterOf(typedFilters(query));
    const [wrong] = Object.values(problemsOfFilter(filter, site.messages).fields);
    if (wrong !== undefined) throw invalid(wrong);
    return live.open(reply, visit, afterOf(query), async (seen) => {
      const newest = (await database.read(() => newestEventId({}))) ?? '0';
      if (newest === seen) return { newest, isNew: false };
      const { items } = await searchEvents(database, { filter, order: 'asc', after: seen, limit: 1 });
      // An event that came between the two reads is told by the next look, which knows a newest that includes it.
      return { newest, isNew: items.some(({ id }) => BigInt(id) <= BigInt(newest)) };
    });
  });
}
