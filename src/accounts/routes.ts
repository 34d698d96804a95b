import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { redirect } from '../authorization/steps.ts';
import { findClient } from '../clients/store.ts';
import { connectionsOf, revokeAccess } from '../consent/connections.ts';
import { connectionsPage } from '../consent/pages.ts';
import { formOf } from '../http/bodies.ts';
import type { Browser } from '../http/browser.ts';
import { originOf } from '../http/origin.ts';
import { acceptUploads, uploadOf } from '../http/uploads.ts';
import { isSnowflake } from '../identifiers/snowflake.ts';
import { NO_PROBLEMS, type Problems } from '../pages/components.ts';
import { sendPage } from '../pages/layout.ts';
import { LARGEST_PICTURE, type PictureProblem, type Pictures } from '../pictures/pictures.ts';
import { logoutContext, type SessionParts } from '../sessions/routes.ts';
import { newSession, SESSION_LIFETIME, whoIs } from '../sessions/sessions.ts';
import { confirmPassword } from '../sessions/sign-in.ts';
import { insertSession, removeSession, type Session } from '../sessions/store.ts';
import { findProblem } from '../validation/validate.ts';
import { setPicture, signOutEverywhere, updateAccount } from './accounts.ts';
import { isCommonPassword } from './common-passwords.ts';
import { accountPage } from './page.ts';
import { profilePage } from './profile-page.ts';
import { profileFields, readProfileForm } from './rules/profile-form.ts';
import { password as passwordSchema } from './schema.ts';
import type { Account } from './store.ts';

/** The pages of a person's own account. Every one of them begins with who is signed in, by the verdict of now. */
export function accountRoutes(app: FastifyInstance, parts: SessionParts & { readonly pictures: Pictures }): void {
  const { site, browsers } = parts;
  const { messages } = site;

  interface Visit {
    readonly request: FastifyRequest;
    readonly reply: FastifyReply;
    readonly browser: Browser;
    readonly account: Account;
    readonly session: Session;
  }

  /** The person behind a request; undefined where the browser was sent to sign in. */
  async function visit(request: FastifyRequest, reply: FastifyReply): Promise<Visit | undefined> {
    const browser = browsers.of(request, reply);
    const signedIn = await whoIs(parts, browser.sessionSecret);
    if (signedIn.kind === 'somebody') return { request, reply, browser, ...signedIn };
    browsers.clearSession(reply);
    redirect(request, reply, site.path('/login'));
    return undefined;
  }

  const contextOf = ({ session }: Visit): string => `account ${session.hash}`;
  const originAt = ({ request, account }: Visit) => originOf(request, { type: 'user', id: account.id });
  const general = (text: string): Problems => ({ fields: {}, general: [text] });

  function showAccount(at: Visit, status: number, problems: Problems, done?: string): FastifyReply {
    const { browser, account } = at;
    const page = accountPage(site, {
      account,
      token: browser.formToken(contextOf(at)),
      logoutToken: browser.formToken(logoutContext(account.id)),
      problems,
      done,
    });
    return sendPage(at.reply, status, site, page);
  }

  async function showConnections(
    at: Visit,
    status: number,
    problems: Problems,
    revoked?: { clientId: string; app: string; at: number },
  ): Promise<FastifyReply> {
    const { browser, account } = at;
    const connections = await connectionsOf(parts, account.id);
    const page = connectionsPage(site, {
      account,
      token: browser.formToken(contextOf(at)),
      logoutToken: browser.formToken(logoutContext(account.id)),
      connections,
      revoked,
      problems,
    });
    return sendPage(at.reply, status, site, page);
  }

  /** A form of the account, sent from our own page by the person who is signed in; undefined where the answer was sent. */
  async function submitted(request: FastifyRequest, reply: FastifyReply) {
    browsers.refuseForeignForm(request);
    const at = await visit(request, reply);
    if (at === undefined) return undefined;
    const form = formOf(request);
    return { at, form, fits: at.browser.owns(form, contextOf(at)) };
  }

  app.get('/account', async (request, reply) => {
    const at = await visit(request, reply);
    return at === undefined ? reply : showAccount(at, 200, NO_PROBLEMS);
  });

  function showProfile(
    at: Visit,
    status: number,
    fields: ReadonlyMap<string, string>,
    problems: Problems,
  ): FastifyReply {
    const { browser, account } = at;
    const page = profilePage(site, {
      account,
      token: browser.formToken(contextOf(at)),
      logoutToken: browser.formToken(logoutContext(account.id)),
      fields,
      problems,
    });
    return sendPage(at.reply, status, site, page);
  }

  app.get('/account/profile', async (request, reply) => {
    const at = await visit(request, reply);
    return at === undefined ? reply : showProfile(at, 200, profileFields(at.account.profile), NO_PROBLEMS);
  });

  app.post('/account/profile', async (request, reply) => {
    const sent = await submitted(request, reply);
    if (sent === undefined) return reply;
    const { at, form, fits } = sent;
    // An empty field counts as one: it takes a value away.
    const get = (name: string) => form.get(name) ?? (form.has(name) ? '' : undefined);
    const sentFields = form.names.map((name) => [name, get(name) ?? ''] as const);
    const fields = new Map([...profileFields(at.account.profile), ...sentFields]);
    if (!fits) return showProfile(at, 400, fields, general(messages.account.formExpired));
    const read = readProfileForm(get, at.account.profile, parts.clock());
    if (read.kind === 'problems') {
      const texts = read.problems.map(({ name, kind }) => [name, messages.profile.bad[kind]] as const);
      return showProfile(at, 400, fields, { fields: Object.fromEntries(texts), general: [] });
    }
    const account = await updateAccount(parts, at.account.id, read.change, originAt(at));
    return showAccount({ ...at, account }, 200, NO_PROBLEMS, messages.profile.saved);
  });

  app.register(async (uploads) => {
    acceptUploads(uploads, 'picture', LARGEST_PICTURE);
    // Asked before the body is read, so that nobody else makes the server hold a file.
    const mayUpload = async (request: FastifyRequest, reply: FastifyReply) => {
      browsers.refuseForeignForm(request);
      return (await visit(request, reply)) === undefined ? reply : undefined;
    };
    uploads.post('/account/picture', { onRequest: mayUpload }, async (request, reply) => {
      const { fields, file } = uploadOf(request);
      const at = await visit(request, reply);
      if (at === undefined) return reply;
      const refuse = (problem: PictureProblem) => {
        const problems = { fields: { picture: messages.picture.bad[problem] }, general: [] };
        return showAccount(at, problem === 'too large' ? 413 : 400, problems);
      };
      // Of such a form nothing was kept, its token neither.
      if (file === 'too large') return refuse(file);
      if (!at.browser.owns(fields, contextOf(at))) return showAccount(at, 400, general(messages.account.formExpired));
      if (fields.get('action') === 'remove') {
        const account = await setPicture(parts, at.account.id, null, originAt(at));
        return showAccount({ ...at, account }, 200, NO_PROBLEMS, messages.picture.removed);
      }
      const made = await parts.pictures.make(file ?? new Uint8Array());
      if (typeof made === 'string') return refuse(made);
      const account = await setPicture(parts, at.account.id, made, originAt(at));
      return showAccount({ ...at, account }, 200, NO_PROBLEMS, messages.picture.changed);
    });
  });

  app.post('/account/password', async (request, reply) => {
    const sent = await submitted(request, reply);
    if (sent === undefined) return reply;
    const { at, form, fits } = sent;
    if (!fits) return showAccount(at, 400, general(messages.account.formExpired));
    const password = form.get('password') ?? '';
    if (findProblem(passwordSchema, password) !== undefined) {
      return showAccount(at, 400, { fields: { password: messages.signUp.passwordBad }, general: [] });
    }
    const { username, email } = at.account.profile;
    if (await isCommonPassword(password, [username, email])) {
      return showAccount(at, 400, { fields: { password: messages.signUp.passwordCommon }, general: [] });
    }
    const check = await confirmPassword(parts, at.account, {
      password: form.get('current') ?? '',
      browserHash: at.browser.hash,
      origin: originAt(at),
    });
    if (typeof check === 'object') {
      reply.header('retry-after', String(check.seconds));
      return showAccount(at, 429, general(messages.signIn.limited(check.seconds)));
    }
    if (check === 'wrong') {
      return showAccount(at, 400, { fields: { current: messages.account.currentWrong }, general: [] });
    }
    const account = await updateAccount(parts, at.account.id, { password }, originAt(at));
    const { secret, session } = newSession(account, parts.clock());
    await parts.database.commit(function* carryOn() {
      yield* removeSession(at.session.hash);
      yield* insertSession(session);
    });
    browsers.setSession(reply, secret, SESSION_LIFETIME);
    return showAccount({ ...at, account, session }, 200, NO_PROBLEMS, messages.account.passwordChanged);
  });

  app.post('/account/sign-out-everywhere', async (request, reply) => {
    const sent = await submitted(request, reply);
    if (sent === undefined) return reply;
    const { at, fits } = sent;
    if (!fits) return showAccount(at, 400, general(messages.account.formExpired));
    await signOutEverywhere(parts, at.account.id, originAt(at));
    browsers.clearSession(reply);
    reply.header('clear-site-data', '"cache", "storage"');
    return redirect(request, reply, site.path('/login'));
  });

  app.get('/account/connections', async (request, reply) => {
    const at = await visit(request, reply);
    return at === undefined ? reply : showConnections(at, 200, NO_PROBLEMS);
  });

  app.post('/account/connections', async (request, reply) => {
    const sent = await submitted(request, reply);
    if (sent === undefined) return reply;
    const { at, form, fits } = sent;
    const clientId = form.get('client_id') ?? '';
    if (!fits || !isSnowflake(clientId)) return showConnections(at, 400, general(messages.account.formExpired));
    const client = await parts.database.read(() => findClient(clientId));
    await revokeAccess(parts, at.account.id, clientId, originAt(at));
    // A second press finds it done already, and says the same.
    const revoked = client === undefined ? undefined : { clientId, app: client.name, at: parts.clock() };
    return showConnections(at, 200, NO_PROBLEMS, revoked);
  });
}
