import type { FastifyInstance } from 'fastify';
import type { Site } from '../../pages/layout.ts';
import { securityRow } from '../../pages/security-row.ts';
import { redirect } from '../../platform/http/server.ts';
import { activityRoutes } from './activity.ts';
import { connectionsRoutes } from './connections.ts';
import { dataRoutes } from './data/routes.ts';
import { emailRoutes } from './email.ts';
import { invitationRoutes } from './invitation.ts';
import { ownOrganizationRoutes } from './profile/organization.ts';
import { profileRoutes } from './profile/page.ts';
import type { ProfileServices } from './profile/section.ts';
import { proofRoutes } from './proof.ts';
import { securityRoutes } from './security/page.ts';
import { sessionsRoutes } from './sessions.ts';
import { trustedBrowsersRoutes } from './trusted-browsers.ts';
import { accountHooks } from './visit.ts';

/**
 * The well-known address to which password managers send people to change a password, at the root of the host
 * (https://www.w3.org/TR/change-password-url/).
 */
export function changePasswordRoute(app: FastifyInstance, { path }: Site): void {
  app.get('/.well-known/change-password', async (request, reply) =>
    redirect(request, reply, path(securityRow('change-password'))),
  );
}

/** The pages of a person's account, for signed-in people only, and the page on which they join an organization. */
export function accountPages(app: FastifyInstance, services: ProfileServices): void {
  invitationRoutes(app, services);
  app.register(async (pages) => {
    const hooks = accountHooks(pages, services);
    profileRoutes(pages, services, hooks);
    ownOrganizationRoutes(pages, services, hooks);
    emailRoutes(pages, services, hooks);
    securityRoutes(pages, services, hooks);
    connectionsRoutes(pages, services, hooks);
    sessionsRoutes(pages, services, hooks);
    dataRoutes(pages, services, hooks);
    activityRoutes(pages, services);
    proofRoutes(pages, services, hooks);
    trustedBrowsersRoutes(pages, services, hooks);
  });
}
