import type { FastifyReply } from 'fastify';
import { generalProblem, isolate } from '../../pages/components.ts';
import { type HtmlPart, html } from '../../pages/html.ts';
import { originOf } from '../../platform/validation/origin.ts';
import { isUnknownClient } from '../../upstreams/probe.ts';
import type { UpstreamRefusal, UpstreamRefusalKind } from '../../upstreams/refusal.ts';
import type { Upstream } from '../../upstreams/store.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { type SignInVisit, showSignIn } from '../sign-in/sign-in.ts';
import { upstreamTexts as text } from './messages.ts';

/** What people are told of each kind of refusal, and whether the operator can do something about it. */
const TOLD: Readonly<
  Record<
    UpstreamRefusalKind,
    { readonly status: number; readonly say: (name: HtmlPart) => HtmlPart; readonly isReported: boolean }
  >
> = {
  cancelled: { status: 400, say: text.cancelled, isReported: false },
  denied: { status: 400, say: text.denied, isReported: true },
  unable: { status: 400, say: text.unable, isReported: false },
  metadata: { status: 502, say: text.unreachable, isReported: true },
  keys: { status: 502, say: text.unreachable, isReported: true },
  'token endpoint': { status: 502, say: text.unreachable, isReported: true },
  response: { status: 400, say: text.refused, isReported: true },
  token: { status: 400, say: text.refused, isReported: true },
};

const RULE = 'OpenID Connect Core 1.0 §3.1: this server is the client of the provider.';
const EXPECTED = 'a person whom the provider vouches for';

/** What the operator can do. */
function remedyOf(name: string, { kind, code }: UpstreamRefusal): string {
  const test = `tessera upstream test ${name}`;
  switch (kind) {
    case 'cancelled':
      return 'Nothing is wrong: the person stopped at the provider, and may try again.';
    case 'denied':
      return `Compare the registration at the provider with this one, the redirect URI and the scopes in particular: tessera upstream show ${name}`;
    case 'unable':
      return 'Have the app leave out what the provider cannot do, or let the person sign in another way.';
    case 'metadata':
    case 'keys':
      return `Check that this server reaches the provider, and that its issuer is written as the provider writes it: ${test}`;
    case 'token endpoint':
      return isUnknownClient(code)
        ? `The provider does not accept the client ID or the secret. Make a new secret there, and enter it: tessera upstream update ${name} --client-secret-stdin. Then: ${test}`
        : `Compare the redirect URI at the provider with that of: tessera upstream show ${name}. Then: ${test}`;
    case 'response':
      return 'Try again from the app. If it happens every time, something between browser and server changes the address of the callback.';
    case 'token':
      return `Compare the issuer and the client ID with those of the provider, and the clocks of both servers: ${test}`;
  }
}

/** Tells the operator, with the id of the request, why an upstream signed nobody in. */
export async function reportRefusal(
  { clock, recordThrottled }: PageServices,
  { request, pending }: SignInVisit,
  upstream: Upstream,
  refusal: UpstreamRefusal,
): Promise<void> {
  const { kind, message } = refusal;
  request.refusal = {
    code: TOLD[kind].status === 502 ? 'temporarily_unavailable' : 'access_denied',
    reason: `upstream: ${kind}`,
    description: message,
    detail: { rule: RULE, expected: EXPECTED, received: message, remedy: remedyOf(upstream.name, refusal) },
  };
  await recordThrottled({
    ...{ at: clock(), type: 'upstream.refused', outcome: 'failure', origin: originOf(request) },
    ...(pending !== undefined && { clientId: pending.request.clientId }),
    details: { upstream: upstream.name, upstreamId: upstream.id, reason: message },
  });
}

/** Explains to the person why they are not signed in. */
export function showUpstreamRefusal(
  services: PageServices,
  visit: SignInVisit,
  upstream: Upstream,
  { kind }: UpstreamRefusal,
): Promise<FastifyReply> {
  const { status, say, isReported } = TOLD[kind];
  const told = html`${say(isolate(upstream.displayName))}${isReported && text.reference(visit.request.id)}`;
  return showSignIn(services, visit, status, generalProblem(told), '');
}

/** Where a browser came back with a state that is of no use, or asked for an upstream that is not offered. */
export async function showUnusable(
  services: PageServices,
  visit: SignInVisit,
  why: 'expired' | 'not offered',
): Promise<FastifyReply> {
  const isExpired = why === 'expired';
  visit.request.refusal = {
    code: isExpired ? 'invalid_request' : 'not_found',
    reason: isExpired ? 'upstream: unusable state' : 'upstream: not offered',
    description: isExpired
      ? 'The state is not of this browser, too old or was used before.'
      : 'There is no active upstream of this name.',
  };
  const told = isExpired ? text.expired : text.notOffered;
  return showSignIn(services, visit, isExpired ? 400 : 404, generalProblem(told), '');
}
