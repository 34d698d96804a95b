import type { FastifyInstance } from 'fastify';
import { holds, INSTALLATION } from '../../operators/rights.ts';
import {
  field,
  fieldProblem,
  generalProblem,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
} from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { Failure } from '../../platform/failure.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { formats } from '../../platform/validation/formats.ts';
import { getTrace, listSteps, type Trace } from '../../traces/read-trace.ts';
import { consolePage } from '../layout.ts';
import { afterOf } from '../list.ts';
import type { LiveViews } from '../live/views.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { newestSteps, traceView } from './view.ts';

const PAGE_SIZE = 25;
const ADDRESS = '/console/explain';

/** What a refused request was refused for: the trace of a correlation ID, as `tessera explain` reads it, and the newest steps. */
export function explainRoutes(app: FastifyInstance, services: ConsoleServices, live: LiveViews): void {
  const { site, clock, traces, traceRetention } = services;
  const text = site.messages.operators.explain;

  /** @returns the trace, or why there is none */
  async function find({ services: { database } }: ConsoleVisit, id: string): Promise<Trace | Problems> {
    if (!formats.uuid(id)) return fieldProblem('id', text.bad);
    try {
      return await getTrace(database, id, { now: clock(), retention: traceRetention });
    } catch (error) {
      if (error instanceof Failure && error.kind === 'not found') return generalProblem(error.message);
      throw error;
    }
  }

  async function newest(visit: ConsoleVisit, clientId: string | null, after: string, isLive: boolean): Promise<Html> {
    const found = await visit.services.database.read(() =>
      listSteps({ after, clientId, limit: PAGE_SIZE + 1, order: 'desc' }),
    );
    const steps = found.slice(0, PAGE_SIZE);
    const next = found.length > PAGE_SIZE ? steps.at(-1)?.id : undefined;
    return newestSteps(site, { steps, clientId, isFirst: after === '0', next, live: isLive });
  }

  app.get(ADDRESS, { config: { permission: 'traces.read' } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const query = queryOf(request);
    const typed = (query.get('id') ?? '').trim();
    await traces.flush();
    const found = typed === '' ? undefined : await find(visit, typed.toLowerCase());
    const problems = found !== undefined && 'fields' in found ? found : NO_PROBLEMS;
    const clientId = query.get('app') ?? '';
    const after = query.get('after') ?? '0';
    const list =
      found === undefined
        ? await newest(
            visit,
            isSnowflake(clientId) ? clientId : null,
            isSnowflake(after) ? after : '0',
            query.get('live') === '1',
          )
        : undefined;
    const content = html`<header><h1>${text.title}</h1></header>
${problemSummary(site.messages, problems)}
<form class="search" role="search" method="get" action="${site.path(ADDRESS)}">${field({ name: 'id', label: text.field, hint: text.hint, type: 'text', autocomplete: 'off', value: typed, problems, required: false })}<button class="primary" type="submit">${text.submit}</button></form>
${problems.general.length > 0 && eventsLink(site, visit, typed)}${list}${found !== undefined && 'steps' in found && traceView(site, visit, found)}`;
    const status = problems === NO_PROBLEMS ? 200 : problems.general.length > 0 ? 404 : 400;
    return sendPage(
      reply,
      status,
      site,
      consolePage(site, visit, { section: 'explain', title: text.title, content, problems }),
    );
  });

  app.get(`${ADDRESS}/live`, { config: { permission: 'traces.read', isStream: true } }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const query = queryOf(request);
    const given = query.get('app') ?? '';
    const clientId = isSnowflake(given) ? given : null;
    return live.open(reply, visit, afterOf(query), async (seen) => {
      const step = { clientId, limit: 1, order: 'desc', after: '0' } as const;
      const [last] = await visit.services.database.read(() => listSteps(step));
      const newest = last?.id ?? '0';
      return { newest, isNew: newest !== seen };
    });
  });
}

/** The audit trail may know a request of which there is no trace, or none any more. */
const eventsLink = (site: Site, { operator }: ConsoleVisit, id: string): HtmlPart =>
  holds(operator, 'events.read', INSTALLATION) &&
  html`<p><a href="${site.path(`/console/events?requestId=${encodeURIComponent(id.toLowerCase())}`)}">${site.messages.operators.explain.events}</a></p>`;
