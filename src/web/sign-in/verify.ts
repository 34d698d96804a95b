import type { FastifyInstance, FastifyReply } from 'fastify';
import type { AttemptsLimited, CheckedAttempt } from '../../account-actions/authentication/authenticators.ts';
import { authenticators } from '../../account-actions/authentication/authenticators.ts';
import { noPasskeysHere, requestPasskey } from '../../account-actions/authentication/passkey.ts';
import { completeSignIn, completeStepUp, readPendingSignIn } from '../../account-actions/sign-in/sign-in.ts';
import type { BrowserTrust } from '../../account-actions/sign-in/trusted-browsers.ts';
import type { Account } from '../../accounts/store.ts';
import { listPasskeys } from '../../authenticators/passkey-store.ts';
import { removePendingSignIn } from '../../authenticators/pending-sign-in-store.ts';
import { countRecoveryCodes } from '../../authenticators/recovery-code-store.ts';
import type { Method } from '../../authenticators/rules/authentication-context.ts';
import type { ChallengeUse } from '../../authenticators/rules/passkey-challenge.ts';
import { generalProblem, isolate, NO_PROBLEMS, type Problems } from '../../pages/components.ts';
import { sendPage } from '../../pages/layout.ts';
import { PASSKEY_FIELD, passkeyProblemText } from '../../pages/passkey.ts';
import { randomSecret } from '../../platform/crypto/secrets.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf, type RepeatableParameters } from '../../platform/http/parameters.ts';
import { redirect } from '../../platform/http/server.ts';
import { findVisitor } from '../../sessions/sessions.ts';
import { loadPendingRequest } from '../authorize/pending-request.ts';
import { HANDLE } from '../authorize/request-fields.ts';
import { readNamed } from './named.ts';
import { requestQuery } from './pages.ts';
import type { PageServices } from './routes.ts';
import {
  continueSignIn,
  formTargets,
  keepSession,
  type SignInVisit,
  showRefusal,
  showSignIn,
  signInBrowser,
  signInVisit,
} from './sign-in.ts';
import { type CodeMethod, codeMethodOf, codeUsedPage, TRUST, verifyPage, wrongCode } from './verify-page.ts';

/** A person who must prove more before they go on, and what follows when they have. */
interface VerifyVisit extends SignInVisit {
  /** Names what is completed, for the token of the form. */
  readonly context: string;
  readonly account: Account;
  /** The methods of which one is asked. */
  readonly methods: readonly Method[];
  /** @param trust where the person does not want to be asked in this browser again */
  complete(
    checked: CheckedAttempt | AttemptsLimited,
    trust: BrowserTrust | undefined,
  ): ReturnType<typeof completeSignIn>;
  /** Gives up what is completed here: the person begins again. */
  abandon(): Promise<void>;
}

/** What this browser has to complete; undefined where there is nothing, or no longer. */
async function readVerifyVisit(services: PageServices, visit: SignInVisit): Promise<VerifyVisit | undefined> {
  const { database, clock } = services;
  const { signInSecret } = visit.browser;
  const browser = signInBrowser(services, visit);
  const waiting = await database.read(() => readPendingSignIn(signInSecret, browser, clock()));
  if (waiting === undefined) return stepUpVisit(services, visit);
  // One without a further factor is complete, and waits for the person to come back.
  if (waiting.methods.length === 0) return undefined;
  const { pending, account, methods } = waiting;
  return {
    ...visit,
    context: `verify ${pending.hash}`,
    account,
    methods,
    complete(checked, trust) {
      return completeSignIn(services, signInSecret, checked, browser, trust);
    },
    async abandon() {
      await database.commit(() => removePendingSignIn({ hash: pending.hash }));
    },
  };
}

/** A passkey is used for what is completed here, once. */
const verifyUse = ({ browser, context }: VerifyVisit): ChallengeUse => ({
  purpose: 'second factor',
  browserHash: browser.hash,
  subject: context,
});

/** A signed-in person whose session must be raised for the pending request. */
function stepUpVisit(services: PageServices, visit: SignInVisit): VerifyVisit | undefined {
  const { step, visitor } = visit.pending ?? {};
  if (step?.kind !== 'second factor' || visitor?.kind !== 'signed in') return undefined;
  const { account, session } = visitor;
  return {
    ...visit,
    context: `verify ${session.hash}`,
    account,
    methods: step.methods,
    complete: (checked) => completeStepUp(services, session, checked, signInBrowser(services, visit)),
    // The session stays as it is; the sign-in page asks for another account.
    abandon: async () => {},
  };
}

/** Checks the code or the passkey in the form. */
function checkFactor(services: PageServices, visit: VerifyVisit, form: RepeatableParameters, method: CodeMethod) {
  const { account } = visit;
  const { mark: browser, origin } = signInBrowser(services, visit);
  const now = services.clock();
  const response = form.get(PASSKEY_FIELD);
  return response === undefined
    ? authenticators[method](services, { account, code: form.get('code') ?? '', browser, origin }, now)
    : authenticators.passkey(services, { response, use: verifyUse(visit), accountId: account.id, origin }, now);
}

/** Where a person reads how many recovery codes are left. */
const USED = '/login/verify/used';

/** Where a person who is signed in continues: an invitation waits in a cookie. */
const nextAfterSignIn = ({ browser, pending }: SignInVisit): string => {
  if (pending !== undefined) return `/continue${requestQuery(pending)}`;
  return browser.invitationSecret === undefined ? '/account' : '/invitation';
};

/** The page that asks for a second factor. */
export function verifyRoutes(app: FastifyInstance, services: PageServices): void {
  const { site, browsers, clock } = services;
  const { messages } = site;
  const preHandler = loadPendingRequest(services, { optional: true });

  function show(visit: VerifyVisit, status: number, shown: CodeMethod, problems: Problems): FastifyReply {
    const { browser, account, context, methods } = visit;
    const page = verifyPage(site, {
      passkeys: services.relyingParty !== undefined && methods.includes('passkey'),
      codes: methods.includes('totp'),
      token: browser.formToken(context),
      app: visit.pending,
      username: account.profile.username,
      problems,
      shown,
      // A session that is raised says nothing of the browser.
      trustLifetime: visit.pending?.step.kind === 'second factor' ? null : services.trustedBrowsers,
    });
    return sendPage(visit.reply, status, site, page, formTargets(visit));
  }

  function signInAgain({ request, reply, pending }: SignInVisit): FastifyReply {
    browsers.setSignIn(reply, undefined, 0);
    const query = pending === undefined ? '' : `?${HANDLE}=${encodeURIComponent(pending.handle)}`;
    return redirect(request, reply, site.path(`/login${query}`));
  }

  /** What was typed in the first step. */
  const nameOf = ({ browser }: SignInVisit): string => readNamed(services, browser)?.identifier ?? '';

  /** Back at the sign-in page, with what happened. */
  function showExpired(visit: SignInVisit): Promise<FastifyReply> {
    browsers.setSignIn(visit.reply, undefined, 0);
    return showSignIn(services, visit, 409, generalProblem(messages.verify.expired), nameOf(visit));
  }

  app.get('/login/verify', { preHandler }, async (request, reply) => {
    const signIn = signInVisit(services, request, reply);
    const visit = await readVerifyVisit(services, signIn);
    if (visit !== undefined) return show(visit, 200, codeMethodOf(queryOf(request)), NO_PROBLEMS);
    return signIn.browser.signInSecret === undefined ? signInAgain(signIn) : showExpired(signIn);
  });

  app.get('/login/verify/passkey', { preHandler }, async (request, reply) => {
    const visit = await readVerifyVisit(services, signInVisit(services, request, reply));
    const { relyingParty, database } = services;
    if (visit === undefined || relyingParty === undefined) throw noPasskeysHere();
    const allowed = await database.read(() => listPasskeys({ accountId: visit.account.id }));
    return reply
      .header('cache-control', 'no-store')
      .send(requestPasskey(relyingParty, verifyUse(visit), allowed, clock()));
  });

  usedCodeRoute(app, services);

  app.post('/login/verify', { preHandler }, async (request, reply) => {
    const signIn = signInVisit(services, request, reply);
    const visit = await readVerifyVisit(services, signIn);
    if (visit === undefined) return showExpired(signIn);
    const form = formOf(request);
    const method = codeMethodOf(form);
    if (!visit.browser.owns(form, visit.context)) {
      const username = isolate(visit.account.profile.username);
      return show(visit, 400, method, generalProblem(messages.unusedForm.otherSignIn(username)));
    }
    if (form.get('action') === 'another') {
      await visit.abandon();
      return signInAgain(visit);
    }
    const checked = await checkFactor(services, visit, form, method);
    const lifetime = form.get(TRUST) === 'on' ? services.trustedBrowsers : null;
    const trust = lifetime === null ? undefined : { secret: randomSecret(), lifetime };
    const result = await visit.complete(checked, trust);
    if (result.kind === 'signed in' && trust !== undefined) browsers.setTrusted(reply, trust.secret, trust.lifetime);
    if (result.kind === 'signed in' && method === 'recovery code' && !form.has(PASSKEY_FIELD)) {
      await keepSession(services, visit, result);
      return redirect(request, reply, site.path(`${USED}${requestQuery(visit.pending)}`));
    }
    if (result.kind === 'signed in' || result.kind === 'deletion pending')
      return continueSignIn(services, visit, result);
    if (result.kind === 'wrong') {
      request.refusal = { code: 'access_denied', reason: 'wrong code', description: 'wrong code' };
      return show(visit, 401, method, wrongCode(site, method));
    }
    if (result.kind === 'wrong passkey' || result.kind === 'unknown passkey') {
      request.refusal = { code: 'access_denied', reason: 'refused passkey', description: 'refused passkey' };
      const { passkeys } = messages;
      const text = result.kind === 'unknown passkey' ? passkeys.unknown : passkeyProblemText(site, result.problem);
      return show(visit, 401, method, generalProblem(text));
    }
    // A limit ends the sign-in (PW-09), and so does a change to the account.
    await visit.abandon();
    browsers.setSignIn(reply, undefined, 0);
    return showRefusal(services, visit, result, nameOf(visit));
  });
}

/** The page after a recovery code: how many are left, and the way on. */
function usedCodeRoute(app: FastifyInstance, services: PageServices): void {
  const { site } = services;
  const preHandler = loadPendingRequest(services, { optional: true });

  app.get(USED, { preHandler }, async (request, reply) => {
    const visit = signInVisit(services, request, reply);
    const { browser, pending } = visit;
    const visitor = await findVisitor(services, browser.sessionSecret);
    const next = nextAfterSignIn(visit);
    if (visitor.kind !== 'signed in' || visitor.session.provedBy !== 'recovery code') {
      return redirect(request, reply, site.path(next));
    }
    const codes = await services.database.read(() => countRecoveryCodes({ accountId: visitor.account.id }));
    const page = codeUsedPage(site, { app: pending, left: codes?.left ?? 0, next });
    return sendPage(reply, 200, site, page, formTargets(visit));
  });
}
