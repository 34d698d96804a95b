import type { FastifyReply } from 'fastify';
import { generalProblem, isolate } from '../../pages/components.ts';
import { type HtmlPart, html } from '../../pages/html.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import { originOf } from '../../platform/validation/origin.ts';
import type { UpstreamRefusal, UpstreamRefusalKind } from '../../upstreams/refusal.ts';
import type { UpstreamPerson } from '../../upstreams/rules/id-token.ts';
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

/** Tells the operator, with the id of the request, why an upstream signed nobody in. */
export async function reportRefusal(
  { clock, recordThrottled }: PageServices,
  { request, pending }: SignInVisit,
  upstream: Upstream,
  { kind, message }: UpstreamRefusal,
): Promise<void> {
  request.refusal = {
    code: TOLD[kind].status === 502 ? 'temporarily_unavailable' : 'access_denied',
    reason: `upstream: ${kind}`,
    description: message,
    detail: { remedy: 'Correct the registration here or at the provider, and try again.' },
  };
  await recordThrottled({
    ...{ at: clock(), type: 'upstream.refused', outcome: 'failure', origin: originOf(request) },
    ...(pending !== undefined && { clientId: pending.request.clientId }),
    details: { upstream: upstream.name, reason: message },
  });
}

/** Tells the operator, in the trace, that the groups of a person are left as they are, because the upstream does not say which they are. */
export function reportUnknownGroups(
  { clock, traces }: PageServices,
  { request, pending }: SignInVisit,
  { mapped }: UpstreamPerson,
): void {
  if (mapped?.groupsUnknown === undefined) return;
  traces.completed.push({
    ...{ at: clock(), requestId: request.id, step: 'sign-in', clientId: pending?.request.clientId },
    flow: pending && digest(pending.handle),
    facts: {
      ...{ method: request.method, path: request.routeOptions.url },
      description: 'The groups of the user are left as they are.',
      reason: `The upstream does not say which they are: ${mapped.groupsUnknown}.`,
      remedy: 'Let the provider put all groups into the token, such as only those that are assigned to this app.',
    },
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
