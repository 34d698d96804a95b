import type { FastifyInstance } from 'fastify';
import { withSharedNames } from '../../account-actions/connections/shared-names.ts';
import { readClientRecord } from '../../clients/clients.ts';
import { fact, facts, isolate, moment } from '../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { formats } from '../../platform/validation/formats.ts';
import { appLog } from '../../traces/app-log.ts';
import type { ListedStep } from '../../traces/read-trace.ts';
import { factsOf } from '../../traces/rules/step-facts.ts';
import { outcomeText, requestOf } from '../explain/view.ts';
import { consolePage } from '../layout.ts';
import { personLink } from '../links.ts';
import { afterOf } from '../list.ts';
import { liveList } from '../live/control.ts';
import type { LiveViews } from '../live/views.ts';
import { type ConsoleServices, type ConsoleVisit, consoleVisitOf } from '../visit.ts';
import { appAddress, logAddress } from './addresses.ts';

const PAGE_SIZE = 25;
const ADDRESS = '/console/apps/:clientId/log';

/** The log of an app, for those who manage it: its newest steps, or the flow of one request. */
export function appLogRoutes(app: FastifyInstance, services: ConsoleServices, live: LiveViews): void {
  const { site, traces } = services;
  const { apps: text, older, newest } = site.messages.operators;
  const config = { permission: 'apps.traces', objects: { app: ['clientId'] } } as const;

  app.get<{ Params: { clientId: string } }>(ADDRESS, { config }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const { clientId } = request.params;
    const query = queryOf(request);
    const [given, from] = [query.get('request') ?? '', query.get('after') ?? ''];
    const requestId = formats.uuid(given) ? given.toLowerCase() : undefined;
    const after = requestId === undefined && isSnowflake(from) ? from : '0';
    await traces.flush();
    const most = requestId === undefined ? PAGE_SIZE : MOST_OF_FLOW;
    const page = { clientId, requestId, after, limit: most + 1, order: 'desc' } as const;
    const { client, found } = await visit.services.database.read(function* read() {
      const client = yield* readClientRecord(clientId);
      return { client, found: yield* withSharedNames(client, yield* appLog(page)) };
    });
    const steps = found.slice(0, most);
    const last = found.length > most ? steps.at(-1)?.id : undefined;
    const address = (more: Readonly<Record<string, string>>) => site.path(logAddress(clientId, more));
    const links: readonly HtmlPart[] = [
      (after !== '0' || requestId !== undefined) && html`<a href="${address({})}">${newest}</a>`,
      last !== undefined &&
        requestId === undefined &&
        html`<a rel="next" href="${address({ after: last })}">${older}</a>`,
    ];
    const watched = liveList(site, {
      isFirst: after === '0' && requestId === undefined,
      live: query.get('live') === '1',
      address,
      stream: `${ADDRESS.replace(':clientId', clientId)}/live?after=${steps[0]?.id ?? '0'}`,
    });
    const lead = steps.length === 0 ? text.logNone : requestId === undefined ? text.logNewest : text.logFlow;
    const content = html`<header class="object"><h1>${text.logTitle(isolate(client.name))}</h1><p class="muted">${text.logLead}</p></header>
<section class="card" id="listed" aria-labelledby="newest"${watched.attribute}>${watched.control}<h2 class="small muted" id="newest">${lead}</h2>${steps.length > 0 && html`<ol class="steps-told">${steps.map((step) => row(site, visit, clientId, step))}</ol>`}${links.some((link) => link !== false) && html`<nav class="pager" aria-label="${site.messages.pager.label}">${links}</nav>`}</section>
<p><a class="button" href="${site.path(appAddress(clientId))}">${text.logBack}</a></p>`;
    return sendPage(reply, 200, site, consolePage(site, visit, { section: 'apps', title: text.log, content }));
  });

  const stream = { ...config, isStream: true } as const;
  app.get<{ Params: { clientId: string } }>(`${ADDRESS}/live`, { config: stream }, async (request, reply) => {
    const visit = consoleVisitOf(request);
    const { clientId } = request.params;
    const page = { clientId, limit: 1, order: 'desc', after: '0' } as const;
    // An app that may not be seen is answered before anything is sent.
    await visit.services.database.read(() => readClientRecord(clientId));
    return live.open(reply, visit, afterOf(queryOf(request)), async (seen) => {
      const [last] = await visit.services.database.read(() => appLog(page));
      const id = last?.id ?? '0';
      return { newest: id, isNew: id !== seen };
    });
  });
}

/** A step, with the name of its person where the app may read it. */
type LoggedStep = ListedStep & { readonly userName: string | null };

/** More than one flow has. */
const MOST_OF_FLOW = 100;

function row(site: Site, visit: ConsoleVisit, clientId: string, step: LoggedStep): Html {
  const { explain: text } = site.messages.operators;
  const { requestId, userId, userName } = step;
  const flow =
    requestId !== null &&
    html` · <a href="${site.path(logAddress(clientId, { request: requestId }))}">${text.count}</a>`;
  const person: HtmlPart =
    userId !== null &&
    fact(text.person, html`${userName !== null && html`${isolate(userName)} `}${personLink(site, visit, userId)}`);
  const told = factsOf(step).map(([name, value]) => fact(text.facts[name], isolate(value), true));
  const asked = requestOf(step);
  return html`<li><p><strong lang="en">${step.step}</strong> ${outcomeText(site, step)}${flow}<br><span class="small muted">${moment(Date.parse(step.at))}${asked !== '' && html` · <code>${asked}</code>`}</span></p>${(told.length > 0 || userId !== null) && facts([person, ...told])}</li>`;
}
