import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { setPicture, signOutEverywhere, updateAccount } from '../../accounts/accounts.ts';
import { isCommonPassword } from '../../accounts/common-passwords.ts';
import { password as passwordSchema } from '../../accounts/schema.ts';
import { endOfTokens } from '../../credentials/ending.ts';
import { take } from '../../limits/limits.ts';
import { LARGEST_PICTURE, type PictureProblem, type Pictures } from '../../pictures/pictures.ts';
import { acceptUploads, uploadFlows, uploadOf } from '../../platform/http/uploads.ts';
import { findProblem } from '../../platform/validation/validate.ts';
import { redirect } from '../../protocol/authorize/steps.ts';
import { changePassword } from '../../sessions/change-password.ts';
import { SESSION_LIFETIME } from '../../sessions/sessions.ts';
import { generalProblem, NO_PROBLEMS, type Problems, stoppedText } from '../kit/components.ts';
import { type HtmlPart, html } from '../kit/html.ts';
import { type Site, sendPage } from '../kit/layout.ts';
import type { SessionParts } from '../sign-in/routes.ts';
import { accessRoutes } from './access-routes.ts';
import { accountPage, everywherePage } from './page.ts';
import { profilePage } from './profile-page.ts';
import { profileFields, readProfileForm } from './rules/profile-form.ts';
import { type AccountVisit, contextOf, frameOf, originAt, sendToSignIn, visits } from './visit.ts';

/**
 * Where password managers send people to change a password: a well-known address, at the root of the host
 * (https://www.w3.org/TR/change-password-url/).
 */
export function changePasswordRoute(app: FastifyInstance, { path }: Site): void {
  app.get('/.well-known/change-password', async (request, reply) =>
    redirect(request, reply, path('/account#password')),
  );
}

type AccountParts = SessionParts & { readonly pictures: Pictures };

/** The pages of a person's own account. Every one of them begins with who is signed in, by the verdict of now. */
export function accountPages(app: FastifyInstance, parts: AccountParts): void {
  app.register(async (pages) => {
    sendToSignIn(pages, parts);
    accountRoutes(pages, parts);
    accessRoutes(pages, parts);
  });
}

function accountRoutes(app: FastifyInstance, parts: AccountParts): void {
  const { site, browsers } = parts;
  const { messages } = site;
  const { visit, submitted, actingIn } = visits(parts);

  function showAccount(at: AccountVisit, status: number, problems: Problems, done?: HtmlPart): FastifyReply {
    return sendPage(at.reply, status, site, accountPage(site, { ...frameOf(at), problems, done }));
  }

  app.get('/account', async (request, reply) => {
    return showAccount(await visit(request, reply), 200, NO_PROBLEMS);
  });

  function showProfile(
    at: AccountVisit,
    status: number,
    fields: ReadonlyMap<string, string>,
    problems: Problems,
    done?: string,
  ): FastifyReply {
    return sendPage(at.reply, status, site, profilePage(site, { ...frameOf(at), fields, problems, done }));
  }

  app.get('/account/profile', async (request, reply) => {
    const at = await visit(request, reply);
    return showProfile(at, 200, profileFields(at.account.profile), NO_PROBLEMS);
  });

  app.post('/account/profile', async (request, reply) => {
    const { at, form, fits } = await submitted(request, reply);
    // An empty field counts as one: it takes a value away.
    const get = (name: string) => form.get(name) ?? (form.has(name) ? '' : undefined);
    const sentFields = form.names.map((name) => [name, get(name) ?? ''] as const);
    const fields = new Map([...profileFields(at.account.profile), ...sentFields]);
    if (!fits) return showProfile(at, 400, fields, generalProblem(messages.account.formExpired));
    const read = readProfileForm(get, at.account.profile, parts.clock());
    if (read.kind === 'problems') {
      const texts = read.problems.map(({ name, kind }) => [name, messages.profile.bad[kind]] as const);
      return showProfile(at, 400, fields, { fields: Object.fromEntries(texts), general: [] });
    }
    const account = await updateAccount(actingIn(at), at.account.id, read.change, originAt(at));
    return showProfile({ ...at, account }, 200, profileFields(account.profile), NO_PROBLEMS, messages.profile.saved);
  });

  const countUpload = (at: AccountVisit): Promise<number> => {
    const { id } = at.account;
    const about = { name: 'pictureAccount', origin: originAt(at), accountId: id } as const;
    return parts.database.commit(() => take(`picture ${id}`, parts.limits.pictureAccount, parts.clock(), about));
  };

  app.register(async (uploads) => {
    acceptUploads(uploads, 'picture', LARGEST_PICTURE);
    // Asked before the body is read, so that nobody else makes the server hold a file.
    const mayUpload = async (request: FastifyRequest, reply: FastifyReply) => {
      browsers.refuseForeignForm(request);
      request.uploader = `account ${(await visit(request, reply)).account.id}`;
    };
    uploads.post('/account/picture', { onRequest: mayUpload }, async (request, reply) => {
      const { fields, file } = uploadOf(request);
      const at = await visit(request, reply);
      const refuse = (problem: PictureProblem) => {
        const problems = { fields: { picture: messages.picture.bad[problem] }, general: [] };
        return showAccount(at, problem === 'too large' ? 413 : 400, problems);
      };
      // Of such a form nothing was kept, its token neither.
      if (file === 'too large') return refuse(file);
      if (!at.browser.owns(fields, contextOf(at)))
        return showAccount(at, 400, generalProblem(messages.account.formExpired));
      if (fields.get('action') === 'remove') {
        const account = await setPicture(actingIn(at), at.account.id, null, originAt(at));
        return showAccount({ ...at, account }, 200, NO_PROBLEMS, messages.picture.removed);
      }
      const wait = await countUpload(at);
      if (wait > 0) {
        reply.header('retry-after', String(wait));
        return showAccount(at, 429, { fields: { picture: messages.picture.limited(wait) }, general: [] });
      }
      const made = await parts.pictures.make(file ?? new Uint8Array(), uploadFlows(request));
      if (typeof made === 'string') return refuse(made);
      const account = await setPicture(actingIn(at), at.account.id, made, originAt(at));
      return showAccount({ ...at, account }, 200, NO_PROBLEMS, messages.picture.changed);
    });
  });

  app.post('/account/password', async (request, reply) => {
    const { at, form, fits } = await submitted(request, reply);
    if (!fits) return showAccount(at, 400, generalProblem(messages.account.formExpired));
    const password = form.get('password') ?? '';
    if (findProblem(passwordSchema, password) !== undefined) {
      return showAccount(at, 400, { fields: { password: messages.signUp.passwordBad }, general: [] });
    }
    const { username, email } = at.account.profile;
    if (await isCommonPassword(password, [username, email])) {
      return showAccount(at, 400, { fields: { password: messages.signUp.passwordCommon }, general: [] });
    }
    const outcome = await changePassword(parts, {
      account: at.account,
      session: at.session,
      browserHash: at.browser.hash,
      current: form.get('current') ?? '',
      password,
      origin: originAt(at),
    });
    if (outcome.kind === 'limited') {
      reply.header('retry-after', String(outcome.seconds));
      return showAccount(at, 429, generalProblem(messages.signIn.limited(outcome.seconds)));
    }
    if (outcome.kind === 'wrong') {
      return showAccount(at, 400, { fields: { current: messages.account.currentWrong }, general: [] });
    }
    const { account, created } = outcome;
    const { secret, session } = created;
    browsers.setSession(reply, secret, SESSION_LIFETIME);
    const stopped = await endOfTokens(parts, at.account);
    const done = html`${messages.account.passwordChanged} ${stoppedText(stopped, messages)}`;
    return showAccount({ ...at, account, session }, 200, NO_PROBLEMS, done);
  });

  app.post('/account/sign-out-everywhere', async (request, reply) => {
    const { at, fits } = await submitted(request, reply);
    if (!fits) return showAccount(at, 400, generalProblem(messages.account.formExpired));
    const { updatedAt } = await signOutEverywhere(actingIn(at), at.account.id, originAt(at));
    browsers.clearSession(reply);
    reply.header('clear-site-data', '"cache", "storage"');
    const stopped = await endOfTokens(parts, at.account);
    return sendPage(reply, 200, site, everywherePage(site, { at: updatedAt, ...stopped }));
  });
}
