import type { FastifyInstance } from 'fastify';
import { sendPage } from '../pages/layout.ts';
import { redirect } from '../platform/http/server.ts';
import { readDraft } from '../web/sign-in/draft.ts';
import { actRoutes } from './act.ts';
import { consoleActs } from './acts.ts';
import { appActRoutes } from './apps/acts.ts';
import { createAppRoutes } from './apps/create.ts';
import { appListRoutes } from './apps/list.ts';
import { appLogRoutes } from './apps/log.ts';
import { appPageRoutes } from './apps/page.ts';
import { waitingRequestRoutes } from './apps/scope-requests.ts';
import { tryRoutes } from './apps/try.ts';
import { bulkRoutes } from './bulk/routes.ts';
import { eventRoutes } from './events/routes.ts';
import { explainRoutes } from './explain/routes.ts';
import { listExportRoutes } from './export/routes.ts';
import { nothingPage } from './gate-pages.ts';
import { memberRoutes } from './groups/members.ts';
import { groupPageRoutes } from './groups/pages.ts';
import { invitationListRoutes } from './invitations/list.ts';
import { keyPageRoutes } from './keys/pages.ts';
import { addressOf, sectionsOf } from './layout.ts';
import { liveViews } from './live/views.ts';
import { operatorListRoutes } from './operators/list.ts';
import { organizationPageRoutes } from './organizations/pages.ts';
import { overviewRoutes } from './overview/page.ts';
import { personActRoutes } from './people/act-routes.ts';
import { peopleRoutes } from './people/list.ts';
import { personPartRoutes } from './people/parts.ts';
import { personRoutes } from './people/person.ts';
import { searchRoutes } from './search/routes.ts';
import { systemRoutes } from './system/pages.ts';
import { upstreamListRoutes } from './upstreams/list.ts';
import { upstreamPageRoutes } from './upstreams/page.ts';
import { type ConsoleServices, consoleHooks, consoleVisitOf } from './visit.ts';

/** The operators' console: decisions §13. */
export function consoleRoutes(app: FastifyInstance, services: ConsoleServices): void {
  const { site, browsers } = services;

  // Outside of the hooks, which lead here after a proof. The page is one that the browser keeps, sealed, since it asked for it.
  app.get('/console/back', async (request, reply) => {
    const draft = readDraft(services, browsers.of(request, reply));
    const page = draft !== undefined && /^\/console(\/|\?|$)/.test(draft.page) ? draft.page : '/console';
    if (draft !== undefined && draft.fields === undefined) browsers.setNote(reply, 'draft', undefined, 0);
    return redirect(request, reply, site.path(page));
  });

  app.register(async (pages) => {
    consoleHooks(pages, services);
    pages.get('/console', async (request, reply) => {
      const visit = consoleVisitOf(request);
      const [first] = sectionsOf(visit);
      if (first === undefined) return sendPage(reply, 200, site, nothingPage(site, visit));
      return redirect(request, reply, site.path(addressOf(first)));
    });
    searchRoutes(pages, services);
    overviewRoutes(pages, services);
    systemRoutes(pages, services);
    peopleRoutes(pages, services);
    bulkRoutes(pages, services);
    listExportRoutes(pages, services);
    personRoutes(pages, services);
    personPartRoutes(pages, services);
    personActRoutes(pages, services);
    groupPageRoutes(pages, services);
    memberRoutes(pages, services);
    appListRoutes(pages, services);
    appPageRoutes(pages, services);
    waitingRequestRoutes(pages, services);
    appActRoutes(pages, services);
    createAppRoutes(pages, services);
    organizationPageRoutes(pages, services);
    operatorListRoutes(pages, services);
    keyPageRoutes(pages, services);
    invitationListRoutes(pages, services);
    upstreamListRoutes(pages, services);
    upstreamPageRoutes(pages, services);
    for (const act of consoleActs) actRoutes(pages, services, act);
    const live = liveViews(services.isDraining);
    explainRoutes(pages, services, live);
    appLogRoutes(pages, services, live);
    tryRoutes(pages, services);
    eventRoutes(pages, services, live);
  });
}
