import type { FastifyInstance } from 'fastify';
import { eventFilters } from '../../audit/schema.ts';
import { searchEvents } from '../../audit/search-store.ts';
import { NO_PROBLEMS, type Problems, problemSummary } from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import { sendPage } from '../../pages/layout.ts';
import type { Messages } from '../../pages/messages.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import * as Type from '../../platform/validation/type.ts';
import { findProblem, validate } from '../../platform/validation/validate.ts';
import { consolePage } from '../layout.ts';
import { type ConsoleServices, consoleVisitOf } from '../visit.ts';
import { eventList, FILTER_NAMES, type FilterName, filterForm } from './view.ts';

const PAGE_SIZE = 25;

const Filters = Type.Object(eventFilters, { additionalProperties: false });

/** What was typed, with a day as the instant at which it begins. */
function filterOf(typed: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  const entries = [...typed].map(([name, text]) => [
    name,
    (name === 'since' || name === 'until') && /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text,
  ]);
  return Object.fromEntries(entries);
}

/** What is wrong with each filter by itself. */
function problemsOf(filter: Readonly<Record<string, string>>, { operators: { events: text } }: Messages): Problems {
  const isWrong = (name: FilterName): boolean =>
    filter[name] !== undefined && findProblem(Filters, { [name]: filter[name] }) !== undefined;
  const wrong = FILTER_NAMES.filter(isWrong).map((name) => [name, text.bad[name]] as const);
  return wrong.length === 0 ? NO_PROBLEMS : { fields: Object.fromEntries(wrong), general: [] };
}

/** The audit trail, with its filters in the address. */
export function eventRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site } = services;
  const text = site.messages.operators.events;

  app.get('/console/events', { config: { permission: 'events.read' } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const query = queryOf(request);
    const typed = new Map(
      FILTER_NAMES.map((name) => [name, (query.get(name) ?? '').trim()] as const).filter(([, value]) => value !== ''),
    );
    const filter = filterOf(typed);
    const problems = problemsOf(filter, site.messages);
    const given = query.get('after') ?? '';
    const after = isSnowflake(given) ? given : '0';
    const found =
      problems === NO_PROBLEMS
        ? await searchEvents(visit.services.database, {
            filter: validate(Filters, filter),
            order: 'desc',
            after,
            limit: PAGE_SIZE,
          })
        : undefined;
    const content = html`<header class="object"><h1>${text.title}</h1><p class="muted">${text.lead}</p></header>
${problemSummary(site.messages, problems)}
${filterForm(site, typed, problems)}
${found !== undefined && eventList(site, visit, { ...found, typed, isFirst: after === '0' })}`;
    const page = consolePage(site, visit, { section: 'events', title: text.title, content });
    return sendPage(reply, found === undefined ? 400 : 200, site, page);
  });
}
