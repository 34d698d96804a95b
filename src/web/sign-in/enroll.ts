import type { FastifyInstance, FastifyReply } from 'fastify';
import { confirmByCode, readAddressRequest, requestAddress } from '../../account-actions/addresses/change-address.ts';
import { noPasskeysHere } from '../../account-actions/authentication/passkey.ts';
import { addPasskey, isFirstFactor, requestNewPasskey } from '../../account-actions/factors/passkeys.ts';
import {
  addTotp,
  type Enrollment,
  openEnrollment,
  startEnrollment,
} from '../../account-actions/factors/second-factors.ts';
import type { ActingOwner } from '../../account-actions/sign-in/renew-session.ts';
import { listFactors } from '../../authenticators/factor-store.ts';
import type { EnrollableFactor } from '../../authenticators/rules/requirement.ts';
import { fieldProblem, generalProblem, NO_PROBLEMS, type Problems } from '../../pages/components.ts';
import type { HtmlPart } from '../../pages/html.ts';
import { sendPage } from '../../pages/layout.ts';
import { PASSKEY_FIELD, passkeyProblemText } from '../../pages/passkey.ts';
import { mismatchText } from '../../pages/unused-form.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import { formOf } from '../../platform/http/bodies.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { trimTyped } from '../../platform/validation/typed-text.ts';
import { refuseByRedirect } from '../../protocol/authorize/rules/refusals.ts';
import { type NewSession, SESSION_LIFETIME, SessionEnded } from '../../sessions/sessions.ts';
import { advance, loadPendingRequest, pendingRequestOf, readPending } from '../authorize/pending-request.ts';
import { sendErrorResponse } from '../authorize/send-response.ts';
import type { Browser } from '../browser/browser.ts';
import { countAccountForm } from './account-form.ts';
import { ENROLL, ENROLL_PASSKEY, enrollFactorPage, verifyAddressPage } from './enroll-page.ts';
import { mailHint } from './mail-hint.ts';
import { showNewCodes } from './new-codes.ts';
import { requestQuery } from './pages.ts';
import type { PageServices } from './routes.ts';
import { formTargets, type SignInVisit, signInVisit } from './sign-in.ts';

/** A signed-in person whose authorization request requires a factor that they have not set up. */
interface EnrollVisit extends SignInVisit, ActingOwner {
  readonly browser: Browser;
  readonly browserHash: string;
  /** Names the session in which the page was shown, for the token of its forms. */
  readonly context: string;
  /** The factors of which one is set up; empty where the request now needs another step, such as a fresh proof. */
  readonly factors: readonly EnrollableFactor[];
}

const CANCELLED = refuseByRedirect('factor declined');

/** The pages on which a person sets up a second factor within an authorization request that requires one. */
export function enrollRoutes(app: FastifyInstance, services: PageServices): void {
  const preHandler = loadPendingRequest(services);

  app.get(ENROLL, { preHandler }, async (request, reply) => {
    const visit = enrollVisit(signInVisit(services, request, reply));
    if (visit === undefined || visit.factors.length === 0) {
      return advance(services, request, reply, pendingRequestOf(request));
    }
    return show(services, visit, 200, NO_PROBLEMS);
  });

  app.get(ENROLL_PASSKEY, { preHandler }, async (request, reply) => {
    const visit = enrollVisit(signInVisit(services, request, reply));
    if (visit === undefined || isUnverified(services, visit) || !visit.factors.includes('passkey')) {
      throw noPasskeysHere();
    }
    const options = await requestNewPasskey(services, visit, services.site.messages.product);
    return reply.header('cache-control', 'no-store').send(options);
  });

  app.post(ENROLL, { preHandler }, async (request, reply) => {
    const visit = enrollVisit(signInVisit(services, request, reply));
    if (visit === undefined) return advance(services, request, reply, pendingRequestOf(request));
    const form = formOf(request);
    if (!visit.browser.owns(form, visit.context)) {
      const isEarlier = visit.browser.audienceOf(form).accountId === visit.account.id;
      return refuse(
        services,
        visit,
        mismatchText(services.site, visit.account, isEarlier ? 'earlier session' : 'expired'),
      );
    }
    if (form.get('action') === 'cancel') {
      return sendErrorResponse(services, request, reply, pendingRequestOf(request).request, CANCELLED);
    }
    await countAccountForm(services, visit);
    try {
      return await act(services, visit, form);
    } catch (error) {
      // Another tab has set one up, or the account was secured meanwhile: the request says what is next.
      if (error instanceof SessionEnded) return proceed(services, visit);
      throw error;
    }
  });
}

/** Undefined where the person is no longer signed in. */
function enrollVisit(visit: SignInVisit): EnrollVisit | undefined {
  const { pending, request, browser } = visit;
  if (pending?.visitor.kind !== 'signed in') return undefined;
  const { account, session } = pending.visitor;
  return {
    ...visit,
    account,
    session,
    browserHash: browser.hash,
    origin: originOf(request, { type: 'user', id: account.id }),
    context: `enroll ${session.hash}`,
    factors: pending.step.kind === 'enroll' ? pending.step.factors : [],
    interactionHash: digest(pending.handle),
  };
}

/** Where mail can be sent, a factor is set up only by a person who can get back in by their address (decisions §11). */
const isUnverified = ({ mail }: PageServices, { account }: EnrollVisit): boolean =>
  mail.available && !account.profile.emailVerified;

async function show(
  services: PageServices,
  visit: EnrollVisit,
  status: number,
  problems: Problems,
  enrollment: Enrollment = startEnrollment(services.sealer, visit.session, services.clock()),
): Promise<FastifyReply> {
  const { site, issuer } = services;
  const { reply, factors, account, browser, context } = visit;
  const { username } = account.profile;
  const isPasskeyAlone = !factors.includes('totp');
  const frame = { app: visit.pending, username, token: browser.formToken(context, visit), problems, isPasskeyAlone };
  if (isUnverified(services, visit)) {
    const waiting = await readAddressRequest(services, visit);
    const { email = account.profile.email } = (waiting?.data ?? {}) as { readonly email?: string };
    const page = verifyAddressPage(site, {
      ...frame,
      email,
      isSent: waiting !== undefined,
      hint: waiting && (await mailHint(services)),
    });
    return sendPage(reply, status, site, page, formTargets(visit));
  }
  const totp = isPasskeyAlone ? undefined : { enrollment, issuer };
  const isFirst = isFirstFactor(await services.database.read(() => listFactors(account)));
  const page = await enrollFactorPage(site, { ...frame, totp, passkeys: factors.includes('passkey'), isFirst });
  return sendPage(reply, status, site, page, formTargets(visit));
}

/** Continues with the request, as it is now. */
async function proceed(
  services: PageServices,
  { request, reply }: SignInVisit,
  created?: NewSession,
): Promise<FastifyReply> {
  if (created !== undefined) services.browsers.setSession(reply, created, SESSION_LIFETIME);
  const { handle } = pendingRequestOf(request);
  const pending = await readPending(services, request, reply, handle, created?.session.hash);
  return advance(services, request, reply, pending);
}

/** Shows the page again, unless the request needs another step first. */
const refuse = (services: PageServices, visit: EnrollVisit, text: HtmlPart): Promise<FastifyReply> =>
  visit.factors.length === 0 ? proceed(services, visit) : show(services, visit, 400, generalProblem(text));

function act(services: PageServices, visit: EnrollVisit, form: RepeatableParameters): Promise<FastifyReply> {
  if (isUnverified(services, visit)) return verifyAddress(services, visit, form);
  const response = form.get(PASSKEY_FIELD);
  return response === undefined ? enrollTotp(services, visit, form) : enrollPasskey(services, visit, response);
}

async function verifyAddress(
  services: PageServices,
  visit: EnrollVisit,
  form: RepeatableParameters,
): Promise<FastifyReply> {
  const { messages } = services.site;
  if (visit.factors.length === 0) return proceed(services, visit);
  if (form.get('action') !== 'verify') {
    await requestAddress(services, visit, visit.account.profile.email);
    return show(services, visit, 200, NO_PROBLEMS);
  }
  const result = await confirmByCode(services, visit, trimTyped(form.get('code')));
  if (result.kind === 'confirmed') return proceed(services, visit, result.created);
  if (result.kind !== 'limited') return show(services, visit, 400, fieldProblem('code', messages.address.codeWrong));
  visit.reply.header('retry-after', String(result.seconds));
  return show(services, visit, 429, generalProblem(messages.signIn.limited(result.seconds)));
}

// The enrollment in the form was made for this session after a fresh proof, and so was the challenge of a passkey.
async function enrollTotp(
  services: PageServices,
  visit: EnrollVisit,
  form: RepeatableParameters,
): Promise<FastifyReply> {
  const text = services.site.messages.twoStep;
  const enrollment = openEnrollment(services.sealer, visit.session, form.get('enrollment') ?? '', services.clock());
  if (enrollment === undefined) return refuse(services, visit, text.expired);
  const result = await addTotp(services, visit, enrollment, form.get('code') ?? '');
  if (result.kind !== 'added') {
    const problem = fieldProblem('code', result.kind === 'wrong' ? text.wrong : text.clockOff);
    // Where the proof has grown old meanwhile, no passkey can be set up. The app of this form can.
    const factors: EnrollVisit['factors'] = visit.factors.includes('totp') ? visit.factors : ['totp'];
    return show(services, { ...visit, factors }, 400, problem, enrollment);
  }
  return finish(services, visit, result.created, result.codes, 'app added');
}

async function enrollPasskey(services: PageServices, visit: EnrollVisit, response: string): Promise<FastifyReply> {
  const { site } = services;
  const result = await addPasskey(services, visit, response, { withCodes: true });
  if (result.kind === 'refused') {
    const { problem } = result;
    const { tooMany, exists } = site.messages.passkeys;
    if (problem === 'too many') return refuse(services, visit, tooMany);
    return refuse(services, visit, problem === 'exists' ? exists : passkeyProblemText(site, problem));
  }
  const done = result.renewal === undefined ? 'passkey added' : 'first passkey added';
  return finish(services, visit, result.renewal?.created, result.codes, done);
}

async function finish(
  services: PageServices,
  visit: EnrollVisit,
  created: NewSession | undefined,
  codes: readonly string[] | undefined,
  done: 'app added' | 'passkey added' | 'first passkey added',
): Promise<FastifyReply> {
  if (codes === undefined) return proceed(services, visit, created);
  const { request, reply, account, pending: app } = visit;
  if (created !== undefined) services.browsers.setSession(reply, created, SESSION_LIFETIME);
  const next = `/continue${requestQuery(app)}`;
  return showNewCodes(services, request, reply, { account, codes, done, next, app });
}
