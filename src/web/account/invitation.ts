import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  declineInvitation,
  findJoined,
  findOpenInvitation,
  InvitationRefused,
  joinByInvitation,
} from '../../account-actions/invitations/invitations.ts';
import { obstacleToJoining } from '../../account-actions/invitations/obstacles.ts';
import { sendPage } from '../../pages/layout.ts';
import { isSecretForm } from '../../platform/crypto/secrets.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { redirect } from '../../platform/http/server.ts';
import { type Origin, originOf } from '../../platform/validation/origin.ts';
import { findVisitor, SessionEnded } from '../../sessions/sessions.ts';
import type { Session } from '../../sessions/store.ts';
import { signedInFrame, visitorFrame } from '../browser/signed-in.ts';
import {
  alreadyJoinedPage,
  declinedPage,
  invitationPage,
  joinedPage,
  joinPage,
  nothingToJoinPage,
  sendDeadInvitation,
} from '../sign-in/invitation-pages.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { confirmAddress, readProof } from './proof.ts';

/** The context of the form of a person who is not signed in. */
const SIGN_IN = 'sign in to join';
/** The context of the form: the session in which it was shown. */
const joinContext = ({ hash }: Session): string => `join ${hash}`;

/**
 * The page of an invitation. Opening it changes nothing; its buttons join, lead to the sign-in and back, or decline. Joining needs a fresh proof: an
 * organization may bar its members from the recovery of their accounts by mail.
 */
export function invitationRoutes(app: FastifyInstance, services: PageServices): void {
  const { site, browsers, database, clock, signUp } = services;

  async function decline(
    request: FastifyRequest,
    reply: FastifyReply,
    link: string,
    origin: Origin,
  ): Promise<FastifyReply> {
    const open = await database.read(() => findOpenInvitation(link, clock()));
    const declined = await declineInvitation(services, link, origin);
    browsers.setInvitation(reply, undefined);
    if (!declined) return sendDeadInvitation(request, reply, site);
    const frame = await visitorFrame(services, request, reply);
    return sendPage(reply, 200, site, { ...declinedPage(site, open?.organization?.name), ...frame });
  }

  /** What a person may do with the invitation of a link. */
  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    link: string,
  ): Promise<FastifyReply> {
    const browser = browsers.of(request, reply);
    const open = await database.read(() => findOpenInvitation(link, clock()));
    const visitor = await findVisitor(services, browser.sessionSecret);
    if (open === undefined) {
      const joined =
        visitor.kind === 'signed in' ? await database.read(() => findJoined(link, visitor.account.id)) : undefined;
      if (joined === undefined) return sendDeadInvitation(request, reply, site);
      const frame = await visitorFrame(services, request, reply);
      return sendPage(reply, 200, site, { ...alreadyJoinedPage(site, joined), ...frame });
    }
    const { invitation, ...about } = open;
    const { email, role } = invitation;
    if (visitor.kind !== 'signed in') {
      const token = browser.formToken(SIGN_IN);
      const ways = { mayCreate: signUp.mode !== 'closed', upstreams: await joinableUpstreams(services) };
      return sendPage(reply, 200, site, invitationPage(site, { ...about, token, link, email, role, ...ways }));
    }
    if (open.organization === undefined) {
      return sendPage(reply, 200, site, { ...nothingToJoinPage(site), ...signedInFrame(site, browser, visitor) });
    }
    const { account } = visitor;
    const obstacle = await database.read(() => obstacleToJoining(invitation, account, clock()));
    const token = browser.formToken(joinContext(visitor.session), visitor);
    const page =
      obstacle?.kind === 'member'
        ? alreadyJoinedPage(site, open.organization.name)
        : joinPage(site, { ...about, token, link, email, role, account }, obstacle);
    return sendPage(reply, status, site, { ...page, ...signedInFrame(site, browser, visitor) });
  }

  app.get('/invitation', async (request, reply) => {
    // After a sign-in or a proof, the link waits in a cookie.
    const link = queryOf(request).get('link') ?? browsers.of(request, reply).invitationSecret ?? '';
    return show(request, reply, 200, link);
  });

  app.post('/invitation', async (request, reply) => {
    browsers.rejectCrossSiteForm(request);
    const form = formOf(request);
    const link = form.get('link') ?? '';
    const browser = browsers.of(request, reply);
    const visitor = await findVisitor(services, browser.sessionSecret);
    const declines = form.get('decision') === 'decline';
    if (visitor.kind !== 'signed in') {
      const isOwn = browser.owns(form, SIGN_IN);
      if (isOwn && declines) return decline(request, reply, link, originOf(request));
      if (isOwn && isSecretForm(link)) browsers.setInvitation(reply, link);
      const asked = form.get('upstream');
      const upstream = isOwn && (await joinableUpstreams(services)).find(({ name }) => name === asked);
      return redirect(request, reply, site.path(upstream ? `/login/with/${upstream.name}` : '/login'));
    }
    const { account, session } = visitor;
    // Another session of this person is another form, too.
    if (!browser.owns(form, joinContext(session))) {
      return redirect(request, reply, site.path(`/invitation?link=${encodeURIComponent(link)}`));
    }
    if (declines) return decline(request, reply, link, originOf(request, { type: 'user', id: account.id }));
    if ((await readProof(services, visitor)).needed) {
      if (isSecretForm(link)) browsers.setInvitation(reply, link);
      return redirect(request, reply, site.path(confirmAddress('invitation')));
    }
    const origin = originOf(request, { type: 'user', id: account.id });
    let joined: Awaited<ReturnType<typeof joinByInvitation>>;
    try {
      joined = await joinByInvitation(services, { account, session, origin }, link);
    } catch (error) {
      if (error instanceof SessionEnded) return redirect(request, reply, site.path('/login'));
      if (!(error instanceof InvitationRefused)) throw error;
      return error.refusal === 'dead' ? sendDeadInvitation(request, reply, site) : show(request, reply, 409, link);
    }
    browsers.setInvitation(reply, undefined);
    const page = joinedPage(site, joined?.organization ?? '', joined?.role ?? null);
    return sendPage(reply, 200, site, { ...page, ...signedInFrame(site, browser, visitor) });
  });
}

/** The other providers with which a person may create an account by an invitation. */
const joinableUpstreams = async ({ upstreams }: PageServices) =>
  (await upstreams.shown()).filter(({ signUp }) => signUp !== 'nobody');
