import type { FastifyInstance, FastifyReply } from 'fastify';
import { createAccount } from '../../account-actions/accounts/create-account.ts';
import { FieldTaken } from '../../account-actions/accounts/usernames.ts';
import { findOpenInvitation } from '../../account-actions/invitations/invitations.ts';
import { beginSignUp, signUpInvited } from '../../account-actions/invitations/sign-up.ts';
import { PROFILE_FIELDS } from '../../accounts/fields.ts';
import { findWeakPassword } from '../../accounts/password-problem.ts';
import { isOpen, mayHaveAddress } from '../../accounts/rules/joining.ts';
import { password as passwordSchema } from '../../accounts/schema.ts';
import { take } from '../../limits/limits.ts';
import { generalProblem, NO_PROBLEMS, type Problems } from '../../pages/components.ts';
import { sendPage } from '../../pages/layout.ts';
import type { Messages } from '../../pages/messages.ts';
import { nonAsciiLocalPart, readableDomain } from '../../platform/domain-name.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { redirect } from '../../platform/http/server.ts';
import { schemasOf } from '../../platform/validation/fields.ts';
import { addressBucket, type Origin, originOf } from '../../platform/validation/origin.ts';
import { trimTyped } from '../../platform/validation/typed-text.ts';
import { findProblem } from '../../platform/validation/validate.ts';
import { advance, loadPendingRequest } from '../authorize/pending-request.ts';
import { HANDLE } from '../authorize/request-fields.ts';
import { sendDeadInvitation } from './invitation-pages.ts';
import { type SignUpValues, signUpPage } from './pages.ts';
import type { PageServices } from './routes.ts';
import {
  attemptSignIn,
  continueSignIn,
  formTargets,
  isProof,
  needsSignIn,
  onSignedIn,
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
  const { site, signUp } = services;
  const { messages } = site;
  const preHandler = loadPendingRequest(services, { optional: true });

  function show(
    visit: SignInVisit,
    status: number,
    problems: Problems,
    values: SignUpValues,
    invited?: Invited,
  ): FastifyReply {
    const token = visit.browser.formToken('signup');
    const shown = typedHere(visit, values, NOTHING_TYPED);
    const page = signUpPage(site, { token, app: visit.pending, problems, values: shown, ...invited?.form });
    return sendPage(visit.reply, status, site, page, formTargets(visit));
  }

  async function findInvited(link: string | undefined): Promise<Invited | undefined> {
    if (link === undefined) return undefined;
    const open = await services.database.read(() => findOpenInvitation(link, services.clock()));
    if (open === undefined) return undefined;
    const { email, mailed } = open.invitation;
    return { link, mailed, form: { invitation: link, fixedEmail: email ?? undefined } };
  }

  /** Where people cannot create accounts, the page that says so. */
  function refuse(
    visit: SignInVisit,
    link: string | undefined,
    invited: Invited | undefined,
  ): FastifyReply | undefined {
    if (link !== undefined && invited === undefined) return sendDeadInvitation(visit.request, visit.reply, site);
    if (isOpen(signUp) || (invited !== undefined && signUp.mode === 'invitation')) return undefined;
    const mode = signUp.mode === 'closed' ? 'closed' : 'invitation';
    return sendPage(visit.reply, 403, site, noSignUpPage(site, mode, visit.pending), formTargets(visit));
  }

  app.get('/signup', { preHandler }, async (request, reply) => {
    const visit = signInVisit(services, request, reply);
    const { pending } = visit;
    if (pending !== undefined && !needsSignIn(pending)) return advance(services, request, reply, pending);
    const link = queryOf(request).get('invitation');
    const invited = await findInvited(link);
    const refused = refuse(visit, link, invited);
    if (refused !== undefined) return refused;
    // The sign-up accepts it: there is nothing to continue to afterwards.
    if (invited !== undefined && visit.browser.invitationSecret !== undefined)
      services.browsers.setInvitation(reply, undefined);
    return show(visit, 200, NO_PROBLEMS, NOTHING_TYPED, invited);
  });

  app.post('/signup', { preHandler }, async (request, reply) => {
    const visit = signInVisit(services, request, reply);
    const form = formOf(request);
    const link = form.get('invitation');
    const invited = await findInvited(link);
    const refused = refuse(visit, link, invited);
    if (refused !== undefined) return refused;
    const values = {
      displayName: (form.get('displayName') ?? '').trim(),
      // Phones capitalize the first letter; usernames are lower case.
      username: trimTyped(form.get('username')).toLowerCase(),
      email: invited?.form.fixedEmail ?? trimTyped(form.get('email')),
    };
    const password = form.get('password') ?? '';
    if (!visit.browser.owns(form, 'signup')) {
      return show(visit, 400, generalProblem(messages.account.formExpired), NOTHING_TYPED, invited);
    }
    const fields = await signUpProblems({ ...values, password }, messages);
    if (fields['email'] === undefined && !mayHaveAddress(signUp, values.email)) {
      fields['email'] = signUpTexts.domainBad(signUp.domains.map(readableDomain));
    }
    if (Object.keys(fields).length > 0) return show(visit, 400, { fields, general: [] }, values, invited);
    const origin = originOf(request);
    const wait = await countSignUp(services, origin);
    if (wait > 0) {
      reply.header('retry-after', String(wait));
      return show(visit, 429, generalProblem(messages.signUp.limited(wait)), values, invited);
    }
    // Counted first: the check asks another service.
    if (await services.breaches.includes(password)) {
      return show(
        visit,
        400,
        { fields: { password: messages.password.problems.breached }, general: [] },
        values,
        invited,
      );
    }
    if (invited !== undefined && (invited.mailed || !services.mail.available)) {
      const fresh = { ...values, password };
      const result = await signUpInvited(services, fresh, invited, signInBrowser(services, visit), onSignedIn(visit));
      if (result.kind === 'signed in') return continueSignIn(services, visit, result);
      if (result.kind === 'invitation refused') return sendDeadInvitation(request, reply, site);
      if (result.kind === 'address taken') {
        return show(visit, 409, generalProblem(messages.signUp.emailTaken), values, invited);
      }
      return show(visit, 409, { fields: { username: messages.signUp.usernameTaken }, general: [] }, values, invited);
    }
    if (services.mail.available) {
      const handle = visit.pending?.handle ?? null;
      const began = { browserHash: visit.browser.hash, handle, invitation: link ?? null, origin };
      if ((await beginSignUp(services, { ...values, password }, began)) === 'username taken') {
        return show(visit, 409, { fields: { username: messages.signUp.usernameTaken }, general: [] }, values, invited);
      }
      const query = handle === null ? '' : `?${HANDLE}=${encodeURIComponent(handle)}`;
      return redirect(request, reply, site.path(`/signup/verify${query}`));
    }
    const taken = await createUnlessTaken(services, { ...values, password }, origin);
    // A second submit of the same form finds the account that the first one created: the right password signs in to it.
    const result = await attemptSignIn(services, visit, values.username, password);
    if (isProof(result)) return continueSignIn(services, visit, result);
    if (taken === undefined) return showRefusal(services, visit, result, typedHere(visit, values.username, ''));
    const text = taken === 'email' ? messages.signUp.emailTaken : messages.signUp.usernameTaken;
    return show(visit, 409, { fields: { [taken]: text }, general: [] }, values, invited);
  });

  if (services.mail.available) {
    verifySignUpRoutes(app, services, async (visit, status, problems, values, link) =>
      show(visit, status, problems, values, await findInvited(link ?? undefined)),
    );
  }
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

async function signUpProblems(values: SignUp, messages: Messages): Promise<Record<string, string>> {
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

/** @returns 0, or the seconds to wait where too many people signed up from this address */
function countSignUp({ database, clock, limits }: PageServices, origin: Origin): Promise<number> {
  const now = clock();
  const about = { name: 'signUpAddress', origin } as const;
  return database.commit(() => take(`sign-up ${addressBucket(origin.address)}`, limits.signUpAddress, now, about));
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
