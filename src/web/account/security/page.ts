import type { FastifyInstance } from 'fastify';
import { doneNotice, NO_PROBLEMS, problemSummary } from '../../../pages/components.ts';
import { html } from '../../../pages/html.ts';
import { sendPage } from '../../../pages/layout.ts';
import type { PageServices } from '../../sign-in/routes.ts';
import { accountLayout } from '../layout.ts';
import { readProof } from '../proof.ts';
import { type AccountHooks, frameOf, visitOf } from '../visit.ts';
import { activitySection } from './activity.ts';
import { passkeysSection } from './passkeys.ts';
import { passwordSection } from './password.ts';
import { recoverySection } from './recovery.ts';
import type { SecuritySection, SecurityState, ShowSecurity } from './section.ts';
import { signOutEverywhereSection } from './sign-out-everywhere.ts';
import { twoStepSection } from './two-step.ts';
import { upstreamsSection } from './upstreams.ts';

/** The sections of the page, in their order. */
const SECTIONS: readonly SecuritySection[] = [
  passwordSection,
  passkeysSection,
  twoStepSection,
  upstreamsSection,
  recoverySection,
  activitySection,
  signOutEverywhereSection,
];

/** The page on which people secure their account. */
export function securityRoutes(app: FastifyInstance, services: PageServices, hooks: AccountHooks): void {
  const { site } = services;
  const { messages } = site;

  const show: ShowSecurity = async (reply, status, visit, { problems = NO_PROBLEMS, done }) => {
    const proof = await readProof(services, visit);
    const state: SecurityState = { ...frameOf(visit), visit, proof, problems };
    const sections = await Promise.all(SECTIONS.map(({ section }) => section(services, state)));
    const content = html`<header><h1>${messages.security.title}</h1></header>
${done !== undefined && doneNotice(html`<p>${done}</p>`)}
${problemSummary(messages, problems)}
${sections}`;
    const page = accountLayout(site, state, 'security', messages.security.title, content);
    return sendPage(reply, status, site, { ...page, scripts: SECTIONS.flatMap(({ scripts = [] }) => scripts) });
  };

  app.get('/account/security', async (request, reply) => show(reply, 200, visitOf(request), {}));
  for (const { routes } of SECTIONS) routes(app, services, hooks, show);
}
