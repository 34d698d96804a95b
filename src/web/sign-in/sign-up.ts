import type { FastifyInstance, FastifyReply } from 'fastify';
import { createAccount } from '../../account-actions/accounts/create-account.ts';
import { FieldTaken } from '../../account-actions/accounts/usernames.ts';
import { findOpenInvitation } from '../../account-actions/invitations/invitations.ts';
import { beginSignUp, pendingSignUp, signUpInvited } from '../../account-actions/invitations/sign-up.ts';
import { PROFILE_FIELDS } from '../../accounts/fields.ts';
import { findWeakPassword } from '../../accounts/password-problem.ts';
import { isOpen, mayHaveAddress } from '../../accounts/rules/joining.ts';
import { password as passwordSchema } from '../../accounts/schema.ts';
import { takeFrom } from '../../limits/limits.ts';
import { findChallengeOfBrowser } from '../../mail/challenges.ts';
import { fieldProblem, generalProblem, NO_PROBLEMS, type Problems, unownedForm } from '../../pages/components.ts';
import { sendPage } from '../../pages/layout.ts';
import type { Messages } from '../../pages/messages.ts';
import { nonAsciiLocalPart, readableDomain } from '../../platform/domain-name.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf, type RepeatableParameters } from '../../platform/http/parameters.ts';
import { redirect } from '../../platform/http/server.ts';
import { schemasOf } from '../../platform/validation/fields.ts';
import { type Origin, originOf } from '../../platform/validation/origin.ts';
import { trimTyped } from '../../platform/validation/typed-text.ts';
import { findProblem } from '../../platform/validation/validate.ts';
import { advance, loadPendingRequest } from '../authorize/pending-request.ts';
import { HANDLE } from '../authorize/request-fields.ts';
import { sendDeadInvitation } from './invitation-pages.ts';
import { type SignUpValues, signUpPage } from './pages.ts';
import type { PageServices } from './routes.ts';
import { saveSaid } from './said.ts';
import {
  attemptSignIn,
  continueSignIn,
  formTargets,
  isProof,
  needsSignIn,
  type SignInVisit,
  showRefusal,
  signInBrowser,
  signInVisit,
  typedHere,
} from './sign-in.ts';
import { signUpTexts } from './sign-up-messages.ts';
import { noSignUpPage } from './sign-up-pages.ts';
import { verifySignUpRoutes } from './verify-sign-up.ts';

const NOTHING_TYPED: SignUpValues = { displayName: '', username: '', email: '' };

/** The sign-up page. */
export function signUpRoutes(app: FastifyInstance, services: PageServices): void {
  const { site, browsers } = services;
  const preHandler = loadPendingRequest(services, { optional: true });

  app.get('/signup', { preHandler }, async (request, reply) => {
    const visit = signInVisit(services, request, reply);
    const { pending } = visit;
    if (pending !== undefined && !needsSignIn(pending)) return advance(services, request, reply, pending);
    const link = queryOf(request).get('invitation');
    const invited = await findInvited(services, link);
    const refused = refuse(services, visit, link, invited);
    if (refused !== undefined) return refused;
    // The sign-up accepts it: there is nothing to continue to afterwards.
    if (invited !== undefined && visit.browser.invitationSecret !== undefined) browsers.setInvitation(reply, undefined);
    const values = queryOf(request).has('again') ? await typedBefore(services, visit) : NOTHING_TYPED;
    return show(services, visit, 200, NO_PROBLEMS, values, invited);
  });

  app.post('/signup', { preHandler }, async (request, reply) => {
    const visit = signInVisit(services, request, reply);
    const form = formOf(request);
    const link = form.get('invitation');
    const invited = await findInvited(services, link);
    const refused = refuse(services, visit, link, invited);
    if (refused !== undefined) return refused;
    if (!visit.browser.owns(form, 'signup')) {
      return show(services, visit, 400, unownedForm(site.messages, visit.request), NOTHING_TYPED, invited);
    }
    const fixedEmail = invited?.form.fixedEmail;
    const typed = { ...typedInSignUp(form), ...(fixedEmail !== undefined && { email: fixedEmail }) };
    const again: ShowAgain = (status, problems) => show(services, visit, status, problems, typed, invited);
    const problem = await checkSignUp(services, visit, typed);
    if (problem !== undefined) return again(problem.status, problem.problems);
    if (invited !== undefined && (invited.mailed || !services.mail.available)) {
      return joinInvited(services, visit, typed, invited, again);
    }
    return services.mail.available
      ? beginByMail(services, visit, typed, link ?? null, again)
      : signUpAtOnce(services, visit, typed, again);
  });

  if (services.mail.available) {
    verifySignUpRoutes(app, services, async (visit, status, problems, values, link) =>
      show(services, visit, status, problems, values, await findInvited(services, link ?? undefined)),
    );
  }
}

/** What was typed into the sign-up that waits in this browser. */
async function typedBefore({ database, sealer, clock }: PageServices, { browser }: SignInVisit): Promise<SignUpValues> {
  const now = clock();
  const waiting = await database.read(() => findChallengeOfBrowser(sealer, browser.hash, 'sign up', now));
  return waiting === undefined ? NOTHING_TYPED : pendingSignUp(waiting);
}

/** Shows the page with what was typed. */
type ShowAgain = (status: number, problems: Problems) => Promise<FastifyReply>;

async function show(
  { site, upstreams }: Pick<PageServices, 'site' | 'upstreams'>,
  visit: SignInVisit,
  status: number,
  problems: Problems,
  { displayName, username, email }: SignUpValues,
  invited?: Invited,
): Promise<FastifyReply> {
  // An invitation is accepted with the account that is created here.
  const buttons = invited === undefined ? await upstreams.shown() : [];
  const token = visit.browser.formToken('signup');
  const values = typedHere(visit, { displayName, username, email }, NOTHING_TYPED);
  const page = signUpPage(site, { token, app: visit.pending, problems, values, upstreams: buttons, ...invited?.form });
  return sendPage(visit.reply, status, site, page, formTargets(visit));
}

async function findInvited({ database, clock }: PageServices, link: string | undefined): Promise<Invited | undefined> {
  if (link === undefined) return undefined;
  const open = await database.read(() => findOpenInvitation(link, clock()));
  if (open === undefined) return undefined;
  const { email, mailed } = open.invitation;
  return { link, mailed, form: { invitation: link, fixedEmail: email ?? undefined } };
}

/** Where people cannot create accounts, the page that says so. */
function refuse(
  { site, signUp }: PageServices,
  visit: SignInVisit,
  link: string | undefined,
  invited: Invited | undefined,
): FastifyReply | undefined {
  if (link !== undefined && invited === undefined) return sendDeadInvitation(visit.request, visit.reply, site);
  if (isOpen(signUp) || (invited !== undefined && signUp.mode === 'invitation')) return undefined;
  const mode = signUp.mode === 'closed' ? 'closed' : 'invitation';
  return sendPage(visit.reply, 403, site, noSignUpPage(site, mode, visit.pending), formTargets(visit));
}

/** What was typed into the form of a new account. */
export const typedInSignUp = (form: RepeatableParameters): SignUp => ({
  displayName: (form.get('displayName') ?? '').trim(),
  // Phones capitalize the first letter; usernames are lower case.
  username: trimTyped(form.get('username')).toLowerCase(),
  email: trimTyped(form.get('email')),
  password: form.get('password') ?? '',
});

/** Why a sign-up is not begun: what was typed, or too many from this address. */
async function checkSignUp(
  services: PageServices,
  { request, reply }: SignInVisit,
  typed: SignUp,
): Promise<{ readonly status: number; readonly problems: Problems } | undefined> {
  const { signUp } = services;
  const { messages } = services.site;
  const fields = await signUpProblems(typed, messages);
  if (fields['email'] === undefined && !mayHaveAddress(signUp, typed.email)) {
    fields['email'] = signUpTexts.domainBad(signUp.domains.map(readableDomain));
  }
  if (Object.keys(fields).length > 0) return { status: 400, problems: { fields, general: [] } };
  const wait = await countSignUp(services, originOf(request));
  if (wait > 0) {
    reply.header('retry-after', String(wait));
    return { status: 429, problems: generalProblem(messages.signUp.limited(wait)) };
  }
  // Counted first: the check asks another service.
  if (!(await services.breaches.includes(typed.password))) return undefined;
  return { status: 400, problems: fieldProblem('password', messages.password.problems.breached) };
}

/** Creates the account of an invited person, whose address needs no proof. */
async function joinInvited(
  services: PageServices,
  visit: SignInVisit,
  typed: SignUp,
  invited: Invited,
  again: ShowAgain,
): Promise<FastifyReply> {
  const { site } = services;
  const text = site.messages.signUp;
  const result = await signUpInvited(services, typed, invited, signInBrowser(services, visit));
  if (result.kind === 'signed in') {
    saveSaid(services.browsers, visit.reply, 'created');
    return continueSignIn(services, visit, result);
  }
  if (result.kind === 'invitation refused') return sendDeadInvitation(visit.request, visit.reply, site);
  if (result.kind === 'address taken') return again(409, generalProblem(text.emailTaken));
  return again(409, fieldProblem('username', text.usernameTaken));
}

/** Sends a link and a code, with which the sign-up goes on. */
async function beginByMail(
  services: PageServices,
  { request, reply, pending, browser }: SignInVisit,
  typed: SignUp,
  invitation: string | null,
  again: ShowAgain,
): Promise<FastifyReply> {
  const { site } = services;
  const handle = pending?.handle ?? null;
  const began = { browserHash: browser.hash, handle, invitation, origin: originOf(request) };
  if ((await beginSignUp(services, typed, began)) === 'username taken') {
    return again(409, fieldProblem('username', site.messages.signUp.usernameTaken));
  }
  const query = handle === null ? '' : `?${HANDLE}=${encodeURIComponent(handle)}`;
  return redirect(request, reply, site.path(`/signup/verify${query}`));
}

/** Creates an account whose address nobody proves, where no mail can be sent. */
async function signUpAtOnce(
  services: PageServices,
  visit: SignInVisit,
  typed: SignUp,
  again: ShowAgain,
): Promise<FastifyReply> {
  const text = services.site.messages.signUp;
  const taken = await createUnlessTaken(services, typed, originOf(visit.request));
  // A second submit of the same form finds the account that the first one created: the right password signs in to it.
  const result = await attemptSignIn(services, visit, typed.username, typed.password);
  if (isProof(result)) {
    if (taken === undefined) saveSaid(services.browsers, visit.reply, 'created');
    return continueSignIn(services, visit, result);
  }
  if (taken === undefined) return showRefusal(services, visit, result, typedHere(visit, typed.username, ''));
  return again(409, fieldProblem(taken, taken === 'email' ? text.emailTaken : text.usernameTaken));
}

/** A sign-up by invitation. */
interface Invited {
  readonly link: string;
  readonly mailed: boolean;
  readonly form: { readonly invitation: string; readonly fixedEmail: string | undefined };
}

interface SignUp extends SignUpValues {
  readonly password: string;
}

const { username, displayName, email } = schemasOf(PROFILE_FIELDS, 'schema');
const SIGN_UP_SCHEMAS = { displayName, username, email, password: passwordSchema } as const;

/** What is wrong with the fields of a new account. */
export async function signUpProblems(values: SignUp, messages: Messages): Promise<Record<string, string>> {
  const { signUp: text } = messages;
  const letters = nonAsciiLocalPart(values.email);
  const texts = {
    displayName: text.displayNameBad,
    username: text.usernameBad,
    email: letters === '' ? text.emailBad : text.emailBadBeforeAt(letters),
    password: text.passwordBad,
  };
  const problems: Record<string, string> = {};
  for (const name of Object.keys(texts) as (keyof typeof texts)[]) {
    if (findProblem(SIGN_UP_SCHEMAS[name], values[name]) !== undefined) problems[name] = texts[name];
  }
  if (Object.keys(problems).length > 0) return problems;
  const weak = await findWeakPassword(values.password, values);
  return weak === undefined ? {} : { password: messages.password.problems[weak] };
}

/** @returns 0, or the seconds to wait where too many people signed up from this address or its network */
export function countSignUp({ database, clock, limits }: PageServices, origin: Origin): Promise<number> {
  const now = clock();
  const about = { name: 'signUpAddress', origin } as const;
  return database.commit(() => takeFrom('sign-up', limits.signUpAddress, now, about));
}

/** Creates an account, or gives the field whose value another account has. */
async function createUnlessTaken(
  services: PageServices,
  values: SignUp,
  origin: Origin,
): Promise<FieldTaken['field'] | undefined> {
  try {
    const by = { kind: 'person', signUp: services.signUp, isInvited: false, isAddressProved: false } as const;
    await createAccount(services, values, by, origin);
    return undefined;
  } catch (error) {
    if (error instanceof FieldTaken) return error.field;
    throw error;
  }
}
