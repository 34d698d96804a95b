import type { FastifyInstance, FastifyReply } from 'fastify';
import { FieldTaken } from '../../../account-actions/accounts/accounts.ts';
import { takeGeneration } from '../../../account-actions/accounts/generation-limit.ts';
import { updateAccount } from '../../../account-actions/addresses/update-account.ts';
import { deviceFacts } from '../../../account-actions/notices/rules/notice-text.ts';
import { LastOwner, requestDeletion } from '../../../account-actions/personal-data/deletion.ts';
import { PROFILE_FIELDS } from '../../../accounts/fields.ts';
import { take } from '../../../limits/limits.ts';
import type { Mailer } from '../../../mail/mail.ts';
import {
  doneNotice,
  fieldProblem,
  formatMoment,
  generalProblem,
  moment,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
} from '../../../pages/components.ts';
import { type HtmlPart, html } from '../../../pages/html.ts';
import { sendPage } from '../../../pages/layout.ts';
import { formOf } from '../../../platform/http/bodies.ts';
import { schemasOf } from '../../../platform/validation/fields.ts';
import { trimTyped } from '../../../platform/validation/typed-text.ts';
import { findProblem } from '../../../platform/validation/validate.ts';
import { takeDraft } from '../../sign-in/draft.ts';
import type { PageServices } from '../../sign-in/routes.ts';
import { accountLayout } from '../layout.ts';
import { readProof, requireProof } from '../proof.ts';
import { type AccountHooks, type AccountVisit, frameOf, servicesIn, visitOf } from '../visit.ts';
import { exportRoutes } from './export.ts';
import { deletionSection, exportSection, usernameSection } from './sections.ts';

export type DataServices = PageServices & { readonly mail: Mailer };

const { username: usernameSchema } = schemasOf(PROFILE_FIELDS, 'schema');

/** The page on which people change their username and delete their account. */
export function dataRoutes(app: FastifyInstance, services: DataServices, hooks: AccountHooks): void {
  const { countForm } = hooks;
  exportRoutes(app, services, hooks);
  const { site, browsers, database, clock, limits } = services;
  const { messages } = site;
  const text = messages.data;

  async function show(
    reply: FastifyReply,
    status: number,
    visit: AccountVisit,
    { problems = NO_PROBLEMS, done, username = '' }: { problems?: Problems; done?: HtmlPart; username?: string },
  ): Promise<FastifyReply> {
    const state = { ...frameOf(visit), proof: await readProof(services, visit), problems };
    const content = html`<header><h1>${text.title}</h1></header>
${done !== undefined && doneNotice(html`<p>${done}</p>`)}
${problemSummary(messages, problems)}
${usernameSection(site, state, username)}
${exportSection(site)}
${deletionSection(site, state)}`;
    return sendPage(reply, status, site, accountLayout(site, state, 'data', text.title, content));
  }

  app.get('/account/data', async (request, reply) => {
    const visit = visitOf(request);
    const username = takeDraft(services, request, reply, visit.account.id)?.['username'];
    return show(reply, 200, visit, username === undefined ? {} : { username, done: messages.account.draftBack });
  });

  // Changes are counted; a name that is refused costs no more than the page.
  app.post('/account/username', { preHandler: requireProof(services, 'username') }, async (request, reply) => {
    const visit = visitOf(request);
    const form = formOf(request);
    // Phones capitalize the first letter; usernames are lower case.
    const username = trimTyped(form.get('username')).toLowerCase();
    const reject = (status: number, problem: string) =>
      show(reply, status, visit, { problems: fieldProblem('username', problem), username });
    if (findProblem(usernameSchema, username) !== undefined) return reject(400, messages.signUp.usernameBad);
    const { id, profile } = visit.account;
    if (username === profile.username) return reject(400, text.usernameSame);
    const about = { name: 'usernameAccount', origin: visit.origin, accountId: id } as const;
    const wait = await database.commit(() => take(`username ${id}`, limits.usernameAccount, clock(), about));
    if (wait > 0) {
      reply.header('retry-after', String(wait));
      return reject(429, text.usernameLimited(wait));
    }
    try {
      const account = await updateAccount(servicesIn(services, visit), id, { username }, visit.origin);
      return await show(reply, 200, { ...visit, account }, { done: text.usernameChanged(username) });
    } catch (error) {
      if (!(error instanceof FieldTaken)) throw error;
      const { heldUntil } = error;
      return reject(
        409,
        heldUntil === undefined ? messages.signUp.usernameTaken : text.usernameHeld(formatMoment(heldUntil)),
      );
    }
  });

  const mayDelete = [countForm, requireProof(services, 'deletion')];
  app.post('/account/deletion', { preHandler: mayDelete }, async (request, reply) => {
    const visit = visitOf(request);
    const form = formOf(request);
    if (form.get('confirm') !== 'yes') {
      return show(reply, 400, visit, { problems: fieldProblem('confirm', text.confirmMissing) });
    }
    const { id } = visit.account;
    await takeGeneration(services, { accountId: id, origin: visit.origin });
    try {
      const { deletionDueAt } = await requestDeletion(
        servicesIn(services, visit),
        id,
        visit.origin,
        deviceFacts(visit.session),
        ({ profile }, due) => ({
          subject: text.mail.subject,
          paragraphs: [text.mail.asked(profile.username), text.mail.until(formatMoment(due))],
          action: { label: messages.signIn.title, url: `${services.issuer}/login` },
          footer: [text.mail.notYou],
        }),
      );
      browsers.clearSession(reply);
      reply.header('clear-site-data', '"cache", "storage"');
      const body = html`<section class="card"><header><h1>${text.deletedTitle}</h1><p>${text.deletedText(moment(deletionDueAt ?? 0))}</p></header>
<p><a href="${site.path('/login')}">${messages.signOut.signInAgain}</a></p></section>`;
      return await sendPage(reply, 200, site, { title: text.deletedTitle, layout: 'narrow', body });
    } catch (error) {
      if (!(error instanceof LastOwner)) throw error;
      return show(reply, 409, visit, { problems: generalProblem(text.lastOwner) });
    }
  });
}
