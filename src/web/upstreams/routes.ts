import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authenticators } from '../../account-actions/authentication/authenticators.ts';
import { signIn } from '../../account-actions/sign-in/sign-in.ts';
import { providerClientOf } from '../../account-actions/upstreams/upstreams.ts';
import { signInBucket } from '../../authenticators/rules/sign-in-bucket.ts';
import { giveBack, take } from '../../limits/limits.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import { queryOf } from '../../platform/http/parameters.ts';
import { keepOpener, redirect } from '../../platform/http/server.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { findActive } from '../../upstreams/active.ts';
import { findIdentity } from '../../upstreams/identity-store.ts';
import { redeemProviderCode } from '../../upstreams/provider.ts';
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
  onSignedIn,
  type SignInVisit,
  showRefusal,
  signInBrowser,
  signInVisit,
} from '../sign-in/sign-in.ts';
import { depart } from './depart.ts';
import { joinRoutes } from './join.ts';
import { type Departure, keepVouched, openState } from './kept.ts';
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
      return explained(services, visit, upstream, null, () =>
        depart(services, request, reply, upstream, { pending, connects: null }),
      );
    },
  );

  app.get<OfUpstream>(`${ADDRESS}/callback`, async (request, reply) => {
    const query = queryOf(request);
    const state = query.get('state') ?? '';
    const departure = openState(services, state, services.browsers.of(request, reply));
    const upstream = await findActive(services, request.params.name);
    const visit = signInVisit(services, request, reply);
    if (departure === undefined || departure.upstreamId !== upstream?.id) {
      return showUnusable(services, visit, upstream === undefined ? 'not offered' : 'expired');
    }
    const { handle } = departure;
    if (handle === null) return comeBack(services, visit, upstream, departure, state);
    keepOpener(reply);
    const found = await readPending(services, request, reply, handle);
    if (found?.kind !== 'current' || !needsSignIn(found)) return advance(services, request, reply, found);
    request.subject = { flow: digest(handle), clientId: found.request.clientId };
    return comeBack(services, { ...visit, pending: found }, upstream, departure, state);
  });

  joinRoutes(app, services);
}

/**
 * Explains what an upstream refuses, or what is refused of it.
 * @param session where an identity was to be connected to the account of that
 */
async function explained(
  services: PageServices,
  visit: SignInVisit,
  upstream: Upstream,
  session: string | null,
  act: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof UpstreamRefusal)) throw error;
    await reportRefusal(services, visit, upstream, error);
    if (session === null) return showUpstreamRefusal(services, visit, upstream, error);
    saveSaid(services.browsers, visit.reply, 'notConnected');
    return redirect(visit.request, visit.reply, services.site.path('/account'));
  }
}

/** All parameters of a query, also those that occur several times: the library refuses these. */
const parametersOf = ({ url }: FastifyRequest): URLSearchParams => new URL(url, 'http://localhost').searchParams;

/** A browser that comes back from an upstream. Attempts are counted for its address, until the upstream vouches for somebody. */
async function comeBack(
  services: PageServices,
  visit: SignInVisit,
  upstream: Upstream,
  departure: Departure,
  state: string,
): Promise<FastifyReply> {
  const { database, limits, clock, sealer, issuer, upstreams } = services;
  const { request, reply } = visit;
  const origin = originOf(request);
  const bucket = signInBucket(origin);
  const about = { name: 'signInAddress', origin, accountId: null } as const;
  const seconds = await database.commit(() => take(bucket, limits.signInAddress, clock(), about));
  if (seconds > 0) return showRefusal(services, visit, { kind: 'limited', seconds }, '');
  return explained(services, visit, upstream, departure.session, async () => {
    const provider = { ...upstreams, clock };
    const back = { callback: parametersOf(request), redirectUri: redirectUriOf(issuer, upstream), state };
    const person = await redeemProviderCode(provider, providerClientOf(sealer, upstream), departure, back);
    await database.commit(() => giveBack(bucket, limits.signInAddress));
    if (departure.session !== null) {
      keep(services, visit, upstream, departure, person, state);
      return redirect(request, reply, services.site.path(confirmConnectPath(upstream)));
    }
    return signInAs(services, visit, upstream, departure, person, state);
  });
}

/** Lets the browser keep whom the upstream vouches for. */
function keep(
  services: PageServices,
  { reply, browser }: SignInVisit,
  { id: upstreamId }: Upstream,
  { session }: Departure,
  person: UpstreamPerson,
  state: string,
): void {
  // The state itself is long, and of no more use.
  keepVouched(services, reply, browser, { upstreamId, person, state: digest(state), session, at: services.clock() });
}

/** Signs in the person whom an upstream vouches for, or goes to the page that says what to do where it is not known who that is. */
async function signInAs(
  services: PageServices,
  visit: SignInVisit,
  upstream: Upstream,
  departure: Departure,
  person: UpstreamPerson,
  state: string,
): Promise<FastifyReply> {
  const { database, clock, site } = services;
  const { request, reply, pending } = visit;
  const key = { upstreamId: upstream.id, issuer: person.issuer, subject: person.subject };
  if ((await database.read(() => findIdentity(key))) === undefined) {
    keep(services, visit, upstream, departure, person, state);
    return redirect(request, reply, site.path(`/login/with/${upstream.name}/new${requestQuery(pending)}`));
  }
  const browser = signInBrowser(services, visit);
  const attempt = { upstream, person, state: digest(state), origin: browser.origin };
  const checked = await authenticators.upstream(services, attempt, clock());
  const result = await signIn(services, checked, browser, onSignedIn(visit));
  return isProof(result) ? continueSignIn(services, visit, result) : showRefusal(services, visit, result, '');
}
