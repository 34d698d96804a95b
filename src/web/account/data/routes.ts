import type { FastifyInstance, FastifyReply } from 'fastify';
import { takeGeneration } from '../../../account-actions/accounts/generation-limit.ts';
import { deviceFacts } from '../../../account-actions/notices/rules/notice-text.ts';
import { LastOwner, requestDeletion } from '../../../account-actions/personal-data/deletion.ts';
import type { Mailer } from '../../../mail/mail.ts';
import {
  fieldProblem,
  generalProblem,
  moment,
  NO_PROBLEMS,
  operator,
  type Problems,
  problemSummary,
} from '../../../pages/components.ts';
import { html } from '../../../pages/html.ts';
import { sendPage } from '../../../pages/layout.ts';
import { formOf } from '../../../platform/http/bodies.ts';
import { queryOf } from '../../../platform/http/parameters.ts';
import { forgetPerson } from '../../browser/forget-person.ts';
import type { PageServices } from '../../sign-in/routes.ts';
import { accountLayout } from '../layout.ts';
import { ownerLink } from '../owner-link.ts';
import { readProof, requireProof } from '../proof.ts';
import { accountRow, accountRows } from '../rows.ts';
import { type AccountHooks, type AccountVisit, frameOf, servicesIn, visitOf } from '../visit.ts';
import { exportRoutes } from './export.ts';
import { deletionRow, exportRow } from './sections.ts';

export type DataServices = PageServices & { readonly mail: Mailer };

/** The page on which people get a copy of their data and delete their account. */
export function dataRoutes(app: FastifyInstance, services: DataServices, hooks: AccountHooks): void {
  const { countForm } = hooks;
  exportRoutes(app, services, hooks);
  const { site, browsers } = services;
  const { messages } = site;
  const text = messages.data;

  async function show(
    reply: FastifyReply,
    status: number,
    visit: AccountVisit,
    problems: Problems,
    open = problems !== NO_PROBLEMS,
  ): Promise<FastifyReply> {
    const state = { ...frameOf(visit), proof: await readProof(services, visit), problems };
    const content = html`<header><h1>${text.title}</h1></header>
${problemSummary(messages, problems)}
${accountRows([accountRow('export', exportRow(site), false), accountRow('deletion', deletionRow(site, state), open)])}`;
    return sendPage(reply, status, site, accountLayout(site, state, 'data', text.title, content, problems));
  }

  app.get('/account/data', async (request, reply) =>
    show(reply, 200, visitOf(request), NO_PROBLEMS, queryOf(request).get('row') === 'deletion'),
  );

  const mayDelete = [countForm, requireProof(services, 'deletion')];
  app.post('/account/deletion', { preHandler: mayDelete }, async (request, reply) => {
    const visit = visitOf(request);
    const form = formOf(request);
    if (form.get('confirm') !== 'yes') {
      return show(reply, 400, visit, fieldProblem('confirm', text.confirmMissing));
    }
    const { id } = visit.account;
    await takeGeneration(services, { accountId: id, origin: visit.origin });
    try {
      const { deletionDueAt } = await requestDeletion(
        servicesIn(services, visit),
        id,
        visit.origin,
        deviceFacts(visit.session),
      );
      forgetPerson(browsers, reply);
      const body = html`<section class="card"><header><h1>${text.deletedTitle}</h1><p>${text.deletedText(moment(deletionDueAt ?? 0))}</p></header>
<p><a href="${site.path('/login')}">${messages.signOut.signInAgain}</a></p></section>`;
      return await sendPage(reply, 200, site, { title: text.deletedTitle, layout: 'narrow', body });
    } catch (error) {
      if (!(error instanceof LastOwner)) throw error;
      return show(reply, 409, visit, generalProblem(text.lastOwner(ownerLink(site), operator(site))));
    }
  });
}
