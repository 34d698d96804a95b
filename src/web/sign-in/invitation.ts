import type { FastifyInstance } from 'fastify';
import {
  acceptInvitation,
  findOpenInvitation,
  InvitationRefused,
} from '../../account-actions/invitations/invitations.ts';
import { lockAccount } from '../../accounts/store.ts';
import { sendPage } from '../../pages/layout.ts';
import { isSecretForm } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { redirect } from '../../protocol/authorize/pending-request.ts';
import { findVisitor, SessionEnded, sessionDatabase } from '../../sessions/sessions.ts';
import {
  invitationPage,
  joinedPage,
  joinPage,
  nothingToJoinPage,
  refusedInvitationPage,
  sendDeadInvitation,
} from './invitation-pages.ts';
import type { PageServices } from './routes.ts';

/** The context of the form of a person who is not signed in. */
const SIGN_IN = 'sign in to join';
/** The context of the form: the account to which it was shown. */
const joinContext = (accountId: string): string => `join ${accountId}`;

/** The page of an invitation. Opening it changes nothing; its button joins, or leads to the sign-in and back. */
export function invitationRoutes(app: FastifyInstance, services: PageServices): void {
  const { site, browsers, database, clock, signUp } = services;

  app.get('/invitation', async (request, reply) => {
    const link = queryOf(request).get('link') ?? '';
    const browser = browsers.of(request, reply);
    const open = await database.read(() => findOpenInvitation(link, clock()));
    if (open === undefined) return sendDeadInvitation(request, reply, site);
    const visitor = await findVisitor(services, browser.sessionSecret);
    if (visitor.kind !== 'signed in') {
      const token = browser.formToken(SIGN_IN);
      const mayCreate = signUp.mode !== 'closed';
      const page = invitationPage(site, { token, link, organization: open.organization, mayCreate });
      return sendPage(reply, 200, site, page);
    }
    if (open.organization === undefined) return sendPage(reply, 200, site, nothingToJoinPage(site));
    const { id, profile } = visitor.account;
    const token = browser.formToken(joinContext(id), visitor);
    const page = joinPage(site, { token, link, organization: open.organization, username: profile.username });
    return sendPage(reply, 200, site, page);
  });

  app.post('/invitation', async (request, reply) => {
    browsers.rejectCrossSiteForm(request);
    const form = formOf(request);
    const link = form.get('link') ?? '';
    const browser = browsers.of(request, reply);
    const visitor = await findVisitor(services, browser.sessionSecret);
    if (visitor.kind !== 'signed in') {
      if (browser.owns(form, SIGN_IN) && isSecretForm(link)) browsers.setInvitation(reply, link);
      return redirect(request, reply, site.path('/login'));
    }
    const { account, session } = visitor;
    if (!browser.owns(form, joinContext(account.id))) {
      return redirect(request, reply, site.path(`/invitation?link=${encodeURIComponent(link)}`));
    }
    const now = clock();
    const origin = originOf(request, { type: 'user', id: account.id });
    try {
      await sessionDatabase(services, session).commit(function* join(): Work<void> {
        const locked = yield* lockAccount({ id: account.id });
        if (locked === undefined) throw new InvitationRefused('dead');
        yield* acceptInvitation(link, locked, now, origin);
      });
    } catch (error) {
      if (error instanceof SessionEnded) return redirect(request, reply, site.path('/login'));
      if (!(error instanceof InvitationRefused)) throw error;
      const { refusal } = error;
      if (refusal === 'dead') return sendDeadInvitation(request, reply, site);
      return sendPage(reply, 409, site, refusedInvitationPage(site, refusal));
    }
    return sendPage(reply, 200, site, joinedPage(site));
  });
}
