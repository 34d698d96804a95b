import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { setPicture } from '../../account-actions/accounts/accounts.ts';
import { take } from '../../limits/limits.ts';
import type { Mailer } from '../../mail/mail.ts';
import { fieldProblem, NO_PROBLEMS, type Problems } from '../../pages/components.ts';
import type { HtmlPart } from '../../pages/html.ts';
import { type Site, sendPage } from '../../pages/layout.ts';
import { securityRow } from '../../pages/security-row.ts';
import { LARGEST_PICTURE, type PictureProblem, type Pictures } from '../../pictures/pictures.ts';
import { redirect } from '../../platform/http/server.ts';
import { acceptUploads, uploadFlows, uploadOf } from '../../platform/http/uploads.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { takeSaid } from '../sign-in/said.ts';
import { activityRoutes } from './activity.ts';
import { connectionsRoutes } from './connections.ts';
import { dataRoutes } from './data/routes.ts';
import { emailRoutes } from './email.ts';
import { invitationRoutes } from './invitation.ts';
import { accountPage } from './page.ts';
import { DECLINE_PASSKEY, offersPasskey } from './passkey-offer.ts';
import { profileRoutes } from './profile.ts';
import { proofRoutes } from './proof.ts';
import { securityRoutes } from './security/page.ts';
import { sessionsRoutes } from './sessions.ts';
import { trustedBrowsersRoutes } from './trusted-browsers.ts';
import { type AccountHooks, type AccountVisit, accountHooks, frameOf, servicesIn, visitOf } from './visit.ts';

/**
 * The well-known address to which password managers send people to change a password, at the root of the host
 * (https://www.w3.org/TR/change-password-url/).
 */
export function changePasswordRoute(app: FastifyInstance, { path }: Site): void {
  app.get('/.well-known/change-password', async (request, reply) =>
    redirect(request, reply, path(securityRow('change-password'))),
  );
}

type AccountServices = PageServices & { readonly pictures: Pictures; readonly mail: Mailer };

/** The pages of a person's account, for signed-in people only, and the page on which they join an organization. */
export function accountPages(app: FastifyInstance, services: AccountServices): void {
  invitationRoutes(app, services);
  app.register(async (pages) => {
    const hooks = accountHooks(pages, services);
    accountRoutes(pages, services, hooks);
    profileRoutes(pages, services, hooks);
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

/** The main page: profile and picture. */
function accountRoutes(
  app: FastifyInstance,
  services: AccountServices,
  { requireVisit, countForm }: AccountHooks,
): void {
  const { site, browsers, database, clock, limits, pictures } = services;
  const { messages } = site;

  function show(
    reply: FastifyReply,
    status: number,
    visit: AccountVisit,
    problems: Problems,
    done?: HtmlPart,
    isOffered = false,
  ): FastifyReply {
    return sendPage(
      reply,
      status,
      site,
      accountPage(site, { ...frameOf(visit), problems, done, offersPasskey: isOffered }),
    );
  }

  app.get('/account', async (request, reply) => {
    const visit = visitOf(request);
    const said = takeSaid(browsers, request, reply, messages);
    return show(reply, 200, visit, NO_PROBLEMS, said, await offersPasskey(services, visit));
  });

  app.post(DECLINE_PASSKEY, { preHandler: countForm }, async (request, reply) => {
    browsers.setDeclinedPasskey(reply);
    return redirect(request, reply, site.path('/account'));
  });

  function countUpload({ account: { id }, origin }: AccountVisit): Promise<number> {
    const about = { name: 'pictureAccount', origin, accountId: id } as const;
    return database.commit(() => take(`picture ${id}`, limits.pictureAccount, clock(), about));
  }

  app.register(async (uploads) => {
    acceptUploads(uploads, 'picture', LARGEST_PICTURE);
    const nameUploader = async (request: FastifyRequest): Promise<void> => {
      request.uploader = `account ${visitOf(request).account.id}`;
    };
    // Before the body is read as well, so that only signed-in people make the server hold a file.
    const onRequest = [requireVisit, nameUploader];
    const reject = (reply: FastifyReply, visit: AccountVisit, problem: PictureProblem) =>
      show(reply, problem === 'too large' ? 413 : 400, visit, fieldProblem('picture', messages.picture.bad[problem]));
    // Nothing of such a form was kept, not even the token that the hooks look at.
    const preValidation = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> =>
      uploadOf(request).file === 'too large' ? reject(reply, visitOf(request), 'too large') : undefined;
    uploads.post('/account/picture', { onRequest, preValidation }, async (request, reply) => {
      const visit = visitOf(request);
      const { fields, file } = uploadOf(request);
      const own = servicesIn(services, visit);
      if (fields.get('action') === 'remove') {
        const account = await setPicture(own, visit.account.id, null, visit.origin);
        return show(reply, 200, { ...visit, account }, NO_PROBLEMS, messages.picture.removed);
      }
      const wait = await countUpload(visit);
      if (wait > 0) {
        reply.header('retry-after', String(wait));
        return show(reply, 429, visit, fieldProblem('picture', messages.picture.limited(wait)));
      }
      if (file === 'too large') return reject(reply, visit, file);
      const made = await pictures.convert(file ?? new Uint8Array(), uploadFlows(request));
      if (typeof made === 'string') return reject(reply, visit, made);
      const account = await setPicture(own, visit.account.id, made, visit.origin);
      return show(reply, 200, { ...visit, account }, NO_PROBLEMS, messages.picture.changed);
    });
  });
}
