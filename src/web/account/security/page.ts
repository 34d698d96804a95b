import type { FastifyInstance, FastifyReply } from 'fastify';
import { doneNotice, NO_PROBLEMS, problemSummary } from '../../../pages/components.ts';
import { type Html, html } from '../../../pages/html.ts';
import { sendPage } from '../../../pages/layout.ts';
import type { SecurityRowName } from '../../../pages/security-row.ts';
import { queryOf } from '../../../platform/http/parameters.ts';
import type { PageServices } from '../../sign-in/routes.ts';
import { accountLayout } from '../layout.ts';
import { readProof } from '../proof.ts';
import { type AccountHooks, frameOf, visitOf } from '../visit.ts';
import { activitySection } from './activity.ts';
import { passkeysSection } from './passkeys.ts';
import { passwordSection } from './password.ts';
import { recoverySection } from './recovery.ts';
import type { SecurityRow, SecuritySection, SecurityState, ShowSecurity } from './section.ts';
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
      SECTIONS.map(async ({ name, row }) => rowOf(name, await row(services, state), name === open)),
    );
    const content = html`<header><h1>${messages.security.title}</h1></header>
${done !== undefined && doneNotice(html`<p>${done}</p>`)}
${problemSummary(messages, problems)}
<div class="card rows-of-account">
${rows}</div>`;
    const page = accountLayout(site, state, 'security', messages.security.title, content);
    return sendPage(reply, status, site, { ...page, scripts: SECTIONS.flatMap(({ scripts = [] }) => scripts) });
  }

  app.get('/account/security', async (request, reply) =>
    show(queryOf(request).get('row'), reply, 200, visitOf(request), {}),
  );
  for (const { name, routes } of SECTIONS) routes(app, services, hooks, (...answer) => show(name, ...answer));
}

/** A row says how things stand, and opens what can be done about it. */
function rowOf(name: SecurityRowName, row: SecurityRow | undefined, isOpen: boolean): Html | undefined {
  if (row === undefined) return undefined;
  const head = html`<h2>${row.title}</h2><span class="muted small">${row.state}</span>`;
  return 'page' in row
    ? html`<a id="${name}" href="${row.page}">${head}</a>
`
    : html`<details id="${name}"${isOpen && html` open`}><summary>${head}</summary>
<div class="stack">${row.content}</div></details>
`;
}
