import type { FastifyInstance, FastifyReply } from 'fastify';
import { doneNotice, NO_PROBLEMS, problemSummary } from '../../../pages/components.ts';
import { html } from '../../../pages/html.ts';
import { sendPage } from '../../../pages/layout.ts';
import { queryOf } from '../../../platform/http/parameters.ts';
import type { PageServices } from '../../sign-in/routes.ts';
import { accountLayout } from '../layout.ts';
import { readProof } from '../proof.ts';
import { accountRow, accountRows } from '../rows.ts';
import { type AccountHooks, frameOf, visitOf } from '../visit.ts';
import { activitySection } from './activity.ts';
import { passkeysSection } from './passkeys.ts';
import { passwordSection } from './password.ts';
import { recoverySection } from './recovery.ts';
import type { SecuritySection, SecurityState, ShowSecurity } from './section.ts';
import { signOutEverywhereSection } from './sign-out-everywhere.ts';
import { twoStepSection } from './two-step.ts';
import { upstreamsSection } from './upstreams.ts';

/** The rows of the page, in their order. */
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

  /** @param open the row that is open: the one that was asked for, or whose form was sent */
  async function show(
    open: string | undefined,
    ...[reply, status, visit, { problems = NO_PROBLEMS, done }]: Parameters<ShowSecurity>
  ): Promise<FastifyReply> {
    const proof = await readProof(services, visit);
    const state: SecurityState = { ...frameOf(visit), visit, proof, problems };
    const rows = await Promise.all(
      SECTIONS.map(async ({ name, row }) => accountRow(name, await row(services, state), name === open)),
    );
    const content = html`<header><h1>${messages.security.title}</h1></header>
${done !== undefined && doneNotice(html`<p>${done}</p>`)}
${problemSummary(messages, problems)}
${accountRows(rows)}`;
    const page = accountLayout(site, state, 'security', messages.security.title, content, problems);
    return sendPage(reply, status, site, { ...page, scripts: SECTIONS.flatMap(({ scripts = [] }) => scripts) });
  }

  app.get('/account/security', async (request, reply) =>
    show(queryOf(request).get('row'), reply, 200, visitOf(request), {}),
  );
  for (const { name, routes } of SECTIONS) routes(app, services, hooks, (...answer) => show(name, ...answer));
}
