import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { setPicture, signOutEverywhere } from '../../accounts/accounts.ts';
import { passwordProblem } from '../../accounts/password-problem.ts';
import { password as passwordSchema } from '../../accounts/schema.ts';
import { endOfTokens } from '../../credentials/end-sessions.ts';
import { take } from '../../limits/limits.ts';
import { LARGEST_PICTURE, type PictureProblem, type Pictures } from '../../pictures/pictures.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { acceptUploads, uploadFlows, uploadOf } from '../../platform/http/uploads.ts';
import { findProblem } from '../../platform/validation/validate.ts';
import { redirect } from '../../protocol/authorize/pending-request.ts';
import { changePassword } from '../../sessions/change-password.ts';
import { SESSION_LIFETIME } from '../../sessions/sessions.ts';
import { generalProblem, NO_PROBLEMS, type Problems, revocationText } from '../kit/components.ts';
import { type HtmlPart, html } from '../kit/html.ts';
import { type Site, sendPage } from '../kit/layout.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { connectionsRoutes } from './connections.ts';
import { accountPage, everywherePage } from './page.ts';
import { profileRoutes } from './profile.ts';
import { proofRoutes, requireProof } from './proof.ts';
import { sessionsRoutes } from './sessions.ts';
import { type AccountHooks, type AccountVisit, accountHooks, frameOf, ownsForm, servicesIn, visitOf } from './visit.ts';

/**
 * The well-known address to which password managers send people to change a password, at the root of the host
 * (https://www.w3.org/TR/change-password-url/).
 */
export function changePasswordRoute(app: FastifyInstance, { path }: Site): void {
  app.get('/.well-known/change-password', async (request, reply) =>
    redirect(request, reply, path('/account#password')),
  );
}

type AccountServices = PageServices & { readonly pictures: Pictures };

/** The pages of a person's account, for signed-in people only. */
export function accountPages(app: FastifyInstance, services: AccountServices): void {
  app.register(async (pages) => {
    const hooks = accountHooks(pages, services);
    accountRoutes(pages, services, hooks);
    profileRoutes(pages, services, hooks);
    connectionsRoutes(pages, services, hooks);
    sessionsRoutes(pages, services, hooks);
    proofRoutes(pages, services, hooks);
  });
}

/** The main page: picture, password, and signing out everywhere. */
function accountRoutes(
  app: FastifyInstance,
  services: AccountServices,
  { requireVisit, countForm }: AccountHooks,
): void {
  const { site, browsers, database, clock, limits, pictures } = services;
  const { messages } = site;
  const expired = generalProblem(messages.account.formExpired);

  function show(
    reply: FastifyReply,
    status: number,
    visit: AccountVisit,
    problems: Problems,
    done?: HtmlPart,
  ): FastifyReply {
    return sendPage(reply, status, site, accountPage(site, { ...frameOf(visit), problems, done }));
  }

  const fieldProblem = (name: string, text: string): Problems => ({ fields: { [name]: text }, general: [] });

  app.get('/account', async (request, reply) => show(reply, 200, visitOf(request), NO_PROBLEMS));

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
    uploads.post('/account/picture', { onRequest }, async (request, reply) => {
      const visit = visitOf(request);
      const { fields, file } = uploadOf(request);
      const reject = (problem: PictureProblem) =>
        show(reply, problem === 'too large' ? 413 : 400, visit, fieldProblem('picture', messages.picture.bad[problem]));
      // Nothing of such a form was kept, not even its token.
      if (file === 'too large') return reject(file);
      if (!ownsForm(visit, fields)) return show(reply, 400, visit, expired);
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
      const made = await pictures.convert(file ?? new Uint8Array(), uploadFlows(request));
      if (typeof made === 'string') return reject(made);
      const account = await setPicture(own, visit.account.id, made, visit.origin);
      return show(reply, 200, { ...visit, account }, NO_PROBLEMS, messages.picture.changed);
    });
  });

  // The form asks for the password itself.
  const proved = requireProof(services, 'password', 'password');
  app.post('/account/password', { preHandler: [countForm, proved] }, async (request, reply) => {
    const visit = visitOf(request);
    const form = formOf(request);
    if (!ownsForm(visit, form)) return show(reply, 400, visit, expired);
    const password = form.get('password') ?? '';
    if (findProblem(passwordSchema, password) !== undefined) {
      return show(reply, 400, visit, fieldProblem('password', messages.signUp.passwordBad));
    }
    const weak = await passwordProblem(services, password, visit.account.profile);
    if (weak !== undefined) {
      return show(reply, 400, visit, fieldProblem('password', messages.password.problems[weak]));
    }
    const result = await changePassword(services, {
      account: visit.account,
      session: visit.session,
      browserHash: visit.browser.hash,
      current: form.get('current') ?? '',
      password,
      origin: visit.origin,
    });
    if (result.kind === 'limited') {
      reply.header('retry-after', String(result.seconds));
      return show(reply, 429, visit, generalProblem(messages.signIn.limited(result.seconds)));
    }
    if (result.kind === 'wrong') return show(reply, 400, visit, fieldProblem('current', messages.account.currentWrong));
    const { account, created } = result;
    browsers.setSession(reply, created.secret, SESSION_LIFETIME);
    const summary = await endOfTokens(services, visit.account);
    const done = html`${messages.account.passwordChanged} ${revocationText(summary, messages)}`;
    return show(reply, 200, { ...visit, account, session: created.session }, NO_PROBLEMS, done);
  });

  app.post('/account/sign-out-everywhere', { preHandler: countForm }, async (request, reply) => {
    const visit = visitOf(request);
    if (!ownsForm(visit, formOf(request))) return show(reply, 400, visit, expired);
    const { updatedAt } = await signOutEverywhere(servicesIn(services, visit), visit.account.id, visit.origin);
    browsers.clearSession(reply);
    reply.header('clear-site-data', '"cache", "storage"');
    const summary = await endOfTokens(services, visit.account);
    return sendPage(reply, 200, site, everywherePage(site, { at: updatedAt, ...summary }));
  });
}
