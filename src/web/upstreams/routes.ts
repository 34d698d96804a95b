import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authenticators } from '../../account-actions/authentication/authenticators.ts';
import { upstreamStateName } from '../../account-actions/authentication/upstream.ts';
import { proveByUpstream } from '../../account-actions/sign-in/prove-by-upstream.ts';
import { signIn } from '../../account-actions/sign-in/sign-in.ts';
import { providerClientOf } from '../../account-actions/upstreams/upstreams.ts';
import { SIGN_IN_FROM } from '../../authenticators/rules/sign-in-bucket.ts';
import { giveBackFrom, takeFrom } from '../../limits/limits.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import { formOf } from '../../platform/http/bodies.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { keepOpener, redirect } from '../../platform/http/server.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { findVisitor, SESSION_LIFETIME } from '../../sessions/sessions.ts';
import { findActive } from '../../upstreams/active.ts';
import { findIdentity } from '../../upstreams/identity-store.ts';
import { kinds } from '../../upstreams/kinds/kinds.ts';
import { UpstreamRefusal } from '../../upstreams/refusal.ts';
import type { UpstreamPerson } from '../../upstreams/rules/id-token.ts';
import type { Upstream } from '../../upstreams/store.ts';
import { redirectUriOf } from '../../upstreams/view.ts';
import { advance, loadPendingRequest, readPending } from '../authorize/pending-request.ts';
import { requestQuery } from '../sign-in/pages.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { saveSaid } from '../sign-in/said.ts';
import {
  continueSignIn,
  isProof,
  needsSignIn,
  type SignInVisit,
  showRefusal,
  signInBrowser,
  signInVisit,
} from '../sign-in/sign-in.ts';
import { depart } from './depart.ts';
import { joinRoutes } from './join.ts';
import { type Departure, keepVouched, openForm, openState, sealForm } from './kept.ts';
import { reportRefusal, showUnusable, showUpstreamRefusal } from './problems.ts';

const ADDRESS = '/login/with/:name';

/** Where a person confirms that an identity is connected to their account. */
export const confirmConnectPath = ({ name }: Pick<Upstream, 'name'>): string =>
  `/account/security/connect/${name}/confirm`;

interface OfUpstream {
  Params: { name: string };
}

/** Signing in through another provider: decisions §14. */
export function upstreamSignInRoutes(app: FastifyInstance, services: PageServices): void {
  app.get<OfUpstream>(
    ADDRESS,
    { preHandler: loadPendingRequest(services, { optional: true }) },
    async (request, reply) => {
      const visit = signInVisit(services, request, reply);
      const { pending } = visit;
      if (pending !== undefined && !needsSignIn(pending)) return advance(services, request, reply, pending);
      const upstream = await findActive(services, request.params.name);
      if (upstream === undefined) return showUnusable(services, visit, 'not offered');
      return explained(services, visit, upstream, undefined, () =>
        depart(services, request, reply, upstream, { pending, session: null, proves: null }),
      );
    },
  );

  app.get<OfUpstream>(`${ADDRESS}/callback`, async (request, reply) => {
    const upstream = await findActive(services, request.params.name);
    const callback = responseIn(services, upstream, request);
    const state = callback.get('state') ?? '';
    const departure = openState(services, state, services.browsers.of(request, reply));
    const visit = signInVisit(services, request, reply);
    const isOfThis = departure?.upstreamId === upstream?.id && departure?.generation === upstream?.generation;
    if (departure === undefined || upstream === undefined || !isOfThis) {
      return showUnusable(services, visit, upstream === undefined ? 'not offered' : 'expired');
    }
    const { handle } = departure;
    const returned = { upstream, departure, callback, state };
    if (handle === null) return comeBack(services, visit, returned);
    keepOpener(reply);
    const found = await readPending(services, request, reply, handle);
    if (found?.kind !== 'current' || !needsSignIn(found)) return advance(services, request, reply, found);
    request.subject = { flow: digest(handle), clientId: found.request.clientId };
    return comeBack(services, { ...visit, pending: found }, returned);
  });

  // Browsers send no `SameSite=Lax` cookies with a form of another site. They do with the redirect, where the `state` is compared with
  // them. Here a browser gets no identity, which would replace its own.
  app.post<OfUpstream>(`${ADDRESS}/callback`, async (request, reply) => {
    const { name } = request.params;
    const upstream = await findActive(services, name);
    const takesForms = upstream !== undefined && kinds[upstream.kind].responseMode === 'form_post';
    const query = takesForms ? `?${POSTED}=${sealForm(services, upstream.id, responseOf(formOf(request)))}` : '';
    return redirect(request, reply, services.site.path(`/login/with/${encodeURIComponent(name)}/callback${query}`));
  });

  joinRoutes(app, services);
}

/**
 * Explains what an upstream refuses, or what is refused of it.
 * @param departure where the browser comes back
 */
async function explained(
  services: PageServices,
  visit: SignInVisit,
  upstream: Upstream,
  departure: Departure | undefined,
  act: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof UpstreamRefusal)) throw error;
    await reportRefusal(services, visit, upstream, error);
    if (departure === undefined || departure.session === null) {
      return showUpstreamRefusal(services, visit, upstream, error);
    }
    if (departure.proves !== null) return proofRefused(services, visit, departure.proves);
    saveSaid(services.browsers, visit.reply, 'notConnected');
    return redirect(visit.request, visit.reply, services.site.path('/account'));
  }
}

/** The parameter with which a browser brings a response that came as a form. */
const POSTED = 'posted';

/** All parameters of a response, also those that occur several times: the library refuses these. */
function responseIn(
  { sealer }: PageServices,
  upstream: Upstream | undefined,
  { url }: FastifyRequest,
): URLSearchParams {
  const query = new URL(url, 'http://localhost').searchParams;
  if (upstream === undefined || kinds[upstream.kind].responseMode === 'query') return query;
  return openForm({ sealer }, upstream.id, query.get(POSTED) ?? '') ?? new URLSearchParams();
}

/** The parameters that a response in a form has. The address of the next request has room for so much. */
const OF_FORMS = ['state', 'code', 'iss', 'error', 'error_description', 'user'];
const LONGEST_FORM = 4096;

/** What is read of a response in a form: nothing where a name was sent twice, or it is too long. */
function responseOf(form: RepeatableParameters): URLSearchParams {
  const found = OF_FORMS.map((name) => [name, form.get(name) ?? ''] as const).filter(([, value]) => value !== '');
  const response = new URLSearchParams(found.map(([name, value]) => [name, value]));
  return form.repeated.size > 0 || response.toString().length > LONGEST_FORM ? new URLSearchParams() : response;
}

/** How a browser came back. */
interface Returned {
  readonly upstream: Upstream;
  readonly departure: Departure;
  readonly callback: URLSearchParams;
  readonly state: string;
}

/** A browser that comes back from an upstream. Attempts are counted for its address, until the upstream vouches for somebody. */
async function comeBack(services: PageServices, visit: SignInVisit, returned: Returned): Promise<FastifyReply> {
  const { database, limits, clock, sealer, issuer, upstreams } = services;
  const { request, reply } = visit;
  const { upstream, departure, callback, state } = returned;
  const origin = originOf(request);
  const about = { name: 'signInAddress', origin, accountId: null } as const;
  const seconds = await database.commit(() => takeFrom(SIGN_IN_FROM, limits.signInAddress, clock(), about));
  if (seconds > 0) return showRefusal(services, visit, { kind: 'limited', seconds }, '');
  return explained(services, visit, upstream, departure, async () => {
    const back = { callback, redirectUri: redirectUriOf(issuer, upstream), state };
    const client = providerClientOf(sealer, upstream);
    const person = await kinds[upstream.kind].finish({ ...upstreams, clock }, client, departure, back);
    await database.commit(() => giveBackFrom(SIGN_IN_FROM, limits.signInAddress, origin));
    if (departure.proves !== null) return prove(services, visit, returned, person, departure.proves);
    if (departure.session !== null) {
      keep(services, visit, returned, person);
      return redirect(request, reply, services.site.path(confirmConnectPath(upstream)));
    }
    return signInAs(services, visit, returned, person);
  });
}

/** Lets the browser keep whom the upstream vouches for. */
function keep(
  services: PageServices,
  { reply, browser }: SignInVisit,
  { upstream, departure, state }: Returned,
  person: UpstreamPerson,
): void {
  const { session, handle } = departure;
  const at = services.clock();
  // A cookie has no room for groups. They are written at the sign-ins that follow.
  const { mapped: _, ...said } = person;
  const of = { upstreamId: upstream.id, generation: upstream.generation };
  const kept = { ...of, person: said, state: upstreamStateName(state), session, handle, at };
  keepVouched(services, reply, browser, kept);
}

/** Signs in the person whom an upstream vouches for, or goes to the page that says what to do where it is not known who that is. */
async function signInAs(
  services: PageServices,
  visit: SignInVisit,
  returned: Returned,
  person: UpstreamPerson,
): Promise<FastifyReply> {
  const { database, clock, site } = services;
  const { request, reply, pending } = visit;
  const { upstream, state } = returned;
  const key = { upstreamId: upstream.id, issuer: person.issuer, subject: person.subject };
  const identity = await database.read(() => findIdentity(key));
  if (identity === undefined) {
    keep(services, visit, returned, person);
    return redirect(request, reply, site.path(`/login/with/${upstream.name}/new${requestQuery(pending)}`));
  }
  const browser = signInBrowser(services, visit);
  const attempt = { upstream, person, state: upstreamStateName(state), origin: browser.origin };
  const checked = await authenticators.upstream(services, attempt, clock());
  const result = await signIn(services, checked, browser);
  if (!isProof(result)) return showRefusal(services, visit, result, '');
  // Whom another provider vouched for before is of no use any more.
  services.browsers.setNote(reply, 'upstream', undefined, 0);
  return continueSignIn(services, visit, result);
}

/** Back to the page that asks for a fresh proof: it leads on to the change where the proof was given. */
const toProof = ({ site }: PageServices, { request, reply }: SignInVisit, proves: string): FastifyReply =>
  redirect(request, reply, site.path(`/account/confirm?next=${encodeURIComponent(proves)}`));

function proofRefused(services: PageServices, visit: SignInVisit, proves: string): FastifyReply {
  saveSaid(services.browsers, visit.reply, 'notProved');
  return toProof(services, visit, proves);
}

/** Raises the session in which a person left for a fresh proof, where they signed in at the upstream as the person of that account. */
async function prove(
  services: PageServices,
  visit: SignInVisit,
  { upstream, departure, state }: Returned,
  person: UpstreamPerson,
  proves: string,
): Promise<FastifyReply> {
  const { database, clock, browsers } = services;
  const visitor = await findVisitor(services, visit.browser.sessionSecret);
  if (visitor.kind !== 'signed in' || visitor.session.sid !== departure.session) {
    return proofRefused(services, visit, proves);
  }
  const key = { upstreamId: upstream.id, issuer: person.issuer, subject: person.subject };
  const identity = await database.read(() => findIdentity(key));
  if (identity?.accountId !== visitor.account.id) return proofRefused(services, visit, proves);
  const browser = signInBrowser(services, visit);
  const attempt = { upstream, person, state: upstreamStateName(state), origin: browser.origin };
  const checked = await authenticators.upstream(services, attempt, clock());
  const result = await proveByUpstream(services, visitor.session, checked, browser);
  if (result.kind !== 'signed in') return proofRefused(services, visit, proves);
  browsers.setSession(visit.reply, result.created, SESSION_LIFETIME);
  return toProof(services, visit, proves);
}
