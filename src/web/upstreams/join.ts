import type { FastifyInstance, FastifyReply } from 'fastify';
import { JoiningRefused } from '../../account-actions/accounts/create-account.ts';
import { FieldTaken } from '../../account-actions/accounts/usernames.ts';
import { findOpenInvitation, InvitationRefused } from '../../account-actions/invitations/invitations.ts';
import { joinThroughUpstream } from '../../account-actions/invitations/join-through-upstream.ts';
import { beginUpstreamSignUp } from '../../account-actions/invitations/sign-up.ts';
import type { SignedIn } from '../../account-actions/sign-in/sign-in.ts';
import {
  labelOf,
  mayJoinWith,
  NotVouched,
  offerTo,
  signUpOf,
  vouchedAddress,
} from '../../account-actions/upstreams/join.ts';
import { PROFILE_FIELDS } from '../../accounts/fields.ts';
import { findByIdentifier } from '../../accounts/store.ts';
import { fieldProblem, generalProblem, NO_PROBLEMS, type Problems } from '../../pages/components.ts';
import { sendPage } from '../../pages/layout.ts';
import type { Work } from '../../platform/database/database.ts';
import { nonAsciiLocalPart, readableDomain } from '../../platform/domain-name.ts';
import { formOf } from '../../platform/http/bodies.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { redirect } from '../../platform/http/server.ts';
import { schemasOf } from '../../platform/validation/fields.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { trimTyped } from '../../platform/validation/typed-text.ts';
import { findProblem } from '../../platform/validation/validate.ts';
import { findActive } from '../../upstreams/active.ts';
import type { UpstreamPerson } from '../../upstreams/rules/id-token.ts';
import type { Upstream } from '../../upstreams/store.ts';
import { advance, loadPendingRequest } from '../authorize/pending-request.ts';
import { sendDeadInvitation } from '../sign-in/invitation-pages.ts';
import { requestQuery } from '../sign-in/pages.ts';
import type { PageServices } from '../sign-in/routes.ts';
import {
  continueSignIn,
  formTargets,
  needsSignIn,
  type SignInVisit,
  signInBrowser,
  signInVisit,
  typedHere,
} from '../sign-in/sign-in.ts';
import { countSignUp } from '../sign-in/sign-up.ts';
import { signUpTexts } from '../sign-in/sign-up-messages.ts';
import { readVouched, type Vouched } from './kept.ts';
import { noAccountPage } from './pages.ts';
import { showUnusable } from './problems.ts';

const FORM = 'join with an upstream';

interface OfUpstream {
  Params: { name: string };
}

type Values = Parameters<typeof noAccountPage>[1]['values'];

/** The proposals of the upstream, for the person to correct. */
const proposedBy = ({ name, email }: UpstreamPerson): Values => ({
  displayName: name ?? '',
  username: '',
  email: email ?? '',
});

/** What is known of a person who is not connected to an account here. */
interface Arrival {
  readonly upstream: Upstream;
  readonly vouched: Vouched;
  /** The address that needs no proof: the upstream is authoritative for it. */
  readonly address: string | undefined;
  /** Whether an account here has that address, so that it is to be connected. */
  readonly hasAccount: boolean;
  /** The invitation that was opened in this browser. */
  readonly invited: Invited | undefined;
}

interface Invited {
  readonly link: string;
  /** The address that it was sent to, which it proves. */
  readonly address: string | undefined;
}

/** An address that the person need not prove, and cannot change. */
const fixedAddress = ({ address, invited }: Arrival): string | undefined => invited?.address ?? address;

/** Whether the person may create an account, and whether they lack a proof of their address that it needs. */
function offered(services: Pick<PageServices, 'mail' | 'signUp'>, arrival: Arrival) {
  const { upstream, invited, hasAccount } = arrival;
  const stranger = { hasAccount, isInvited: invited !== undefined, fixedAddress: fixedAddress(arrival) };
  const offer = offerTo(upstream, stranger, services);
  return { offersSignUp: offer !== 'connect' && offer !== 'closed', lacksProof: offer === 'no proof' };
}

/** The page of a person whom an upstream vouches for, and who is not known here; it creates an account where that is allowed. */
export function joinRoutes(app: FastifyInstance, services: PageServices): void {
  const { site, clock, database } = services;
  const preHandler = loadPendingRequest(services, { optional: true });
  const address = '/login/with/:name/new';

  async function found({ browser }: SignInVisit, name: string): Promise<Arrival | undefined> {
    const upstream = await findActive(services, name);
    const vouched = upstream && readVouched(services, browser, upstream);
    if (upstream === undefined || vouched === undefined || vouched.session !== null) return undefined;
    const certain = vouchedAddress(upstream, vouched.person);
    return database.read(function* read(): Work<Arrival> {
      const holder = certain === undefined ? undefined : yield* findByIdentifier(certain);
      const link = browser.invitationSecret;
      const open = link === undefined ? undefined : yield* findOpenInvitation(link, clock());
      const proved = open?.invitation.mailed ? (open.invitation.email ?? undefined) : undefined;
      const invited = open && link !== undefined ? { link, address: proved } : undefined;
      return { upstream, vouched, address: certain, hasAccount: holder?.profile.emailVerified === true, invited };
    });
  }

  function show(
    visit: SignInVisit,
    stranger: Arrival,
    status: number,
    problems: Problems,
    values: Values,
  ): FastifyReply {
    const { upstream, vouched, hasAccount } = stranger;
    const page = noAccountPage(site, {
      ...{ name: upstream.name, displayName: upstream.displayName, label: labelOf(vouched.person) },
      ...{ app: visit.pending, token: visit.browser.formToken(FORM), problems, values },
      ...{ ...offered(services, stranger), connectAs: hasAccount ? stranger.address : undefined },
      fixedEmail: fixedAddress(stranger),
    });
    return sendPage(visit.reply, status, site, page, formTargets(visit));
  }

  app.get<OfUpstream>(address, { preHandler }, async (request, reply) => {
    const visit = signInVisit(services, request, reply);
    const { pending } = visit;
    if (pending !== undefined && !needsSignIn(pending)) return advance(services, request, reply, pending);
    const person = await found(visit, request.params.name);
    if (person === undefined) return showUnusable(services, visit, 'expired');
    return show(visit, person, 200, NO_PROBLEMS, proposedBy(person.vouched.person));
  });

  app.post<OfUpstream>(address, { preHandler }, async (request, reply) => {
    const visit = signInVisit(services, request, reply);
    const person = await found(visit, request.params.name);
    if (person === undefined || !offered(services, person).offersSignUp)
      return showUnusable(services, visit, 'expired');
    const form = formOf(request);
    const proposed = proposedBy(person.vouched.person);
    if (!visit.browser.owns(form, FORM)) {
      return show(visit, person, 400, generalProblem(site.messages.account.formExpired), proposed);
    }
    if (offered(services, person).lacksProof) return show(visit, person, 403, NO_PROBLEMS, proposed);
    const fixed = fixedAddress(person);
    const typed = { ...typedIn(form), ...(fixed !== undefined && { email: fixed }) };
    const again = (status: number, problems: Problems) =>
      show(visit, person, status, problems, typedHere(visit, typed, proposed));
    const fields = problemsOf(services, person.upstream, typed);
    if (Object.keys(fields).length > 0) return again(400, { fields, general: [] });
    const wait = await countSignUp(services, originOf(request));
    if (wait > 0) {
      reply.header('retry-after', String(wait));
      return again(429, generalProblem(site.messages.signUp.limited(wait)));
    }
    return services.mail.available && fixed === undefined
      ? joinByMail(services, visit, typed, person, again)
      : joinAtOnce(services, visit, typed, person, again);
  });
}

const typedIn = (form: RepeatableParameters): Values => ({
  displayName: (form.get('displayName') ?? '').trim(),
  // Phones capitalize the first letter; usernames are lower case.
  username: trimTyped(form.get('username')).toLowerCase(),
  email: trimTyped(form.get('email')),
});

const { username, displayName, email } = schemasOf(PROFILE_FIELDS, 'schema');
const SCHEMAS = { displayName, username, email } as const;

function problemsOf({ site, signUp }: PageServices, upstream: Upstream, typed: Values): Record<string, string> {
  const { signUp: text } = site.messages;
  const letters = nonAsciiLocalPart(typed.email);
  const texts = {
    displayName: text.displayNameBad,
    username: text.usernameBad,
    email: letters === '' ? text.emailBad : text.emailBadBeforeAt(letters),
  };
  const problems: Record<string, string> = {};
  for (const name of ['displayName', 'username', 'email'] as const) {
    if (findProblem(SCHEMAS[name], typed[name]) !== undefined) problems[name] = texts[name];
  }
  if (problems['email'] === undefined && !mayJoinWith(upstream, signUp, typed.email)) {
    const domains = upstream.signUp === 'domains' ? signUpOf(upstream).domains : signUp.domains;
    problems['email'] = signUpTexts.domainBad(domains.map(readableDomain));
  }
  return problems;
}

type ShowAgain = (status: number, problems: Problems) => FastifyReply;

/** Sends a code and a link to the address: the account is created when that is proved. */
async function joinByMail(
  services: PageServices,
  { request, reply, pending, browser }: SignInVisit,
  typed: Values,
  { vouched: { upstreamId, generation, person, state, at }, invited }: Arrival,
  again: ShowAgain,
): Promise<FastifyReply> {
  const invitation = invited?.link ?? null;
  const began = { browserHash: browser.hash, handle: pending?.handle ?? null, invitation, origin: originOf(request) };
  if (
    (await beginUpstreamSignUp(services, typed, { upstreamId, generation, person, state, at }, began)) ===
    'username taken'
  ) {
    return again(409, fieldProblem('username', services.site.messages.signUp.usernameTaken));
  }
  return redirect(request, reply, services.site.path(`/signup/verify${requestQuery(pending)}`));
}

/** Creates an account whose address needs no proof, or gets none where no mail can be sent. */
async function joinAtOnce(
  services: PageServices,
  visit: SignInVisit,
  typed: Values,
  { vouched, invited }: Arrival,
  again: ShowAgain,
): Promise<FastifyReply> {
  const { database, clock, ids, site, browsers } = services;
  const text = site.messages.signUp;
  const now = clock();
  const id = await ids.next();
  const browser = signInBrowser(services, visit);
  const account = { id, now, isAddressProved: invited?.address !== undefined, invitation: invited?.link ?? null };
  let joined: SignedIn;
  try {
    joined = await database.commit(() =>
      joinThroughUpstream(...([services, vouched, typed, account, browser] as const)),
    );
  } catch (error) {
    if (error instanceof InvitationRefused) return sendDeadInvitation(visit.request, visit.reply, site);
    if (error instanceof FieldTaken) {
      return again(409, fieldProblem(error.field, error.field === 'email' ? text.emailTaken : text.usernameTaken));
    }
    if (error instanceof NotVouched || error instanceof JoiningRefused) return showUnusable(services, visit, 'expired');
    throw error;
  }
  browsers.setNote(visit.reply, 'upstream', undefined, 0);
  if (invited !== undefined) browsers.setInvitation(visit.reply, undefined);
  return continueSignIn(services, { ...visit, hasAccepted: invited !== undefined }, joined);
}
