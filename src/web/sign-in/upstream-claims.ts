import type { FastifyRequest } from 'fastify';
import { refusedClaims } from '../../account-actions/access/apply-claims.ts';
import type { SaidByUpstream } from '../../account-actions/sign-in/sign-in.ts';
import { takePicture } from '../../account-actions/upstreams/take-picture.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import { originOf } from '../../platform/validation/origin.ts';
import type { PendingRequest } from '../../protocol/authorize/authorization.ts';
import type { PageServices } from './routes.ts';

interface Visit {
  readonly request: FastifyRequest;
  readonly pending: PendingRequest | undefined;
}

/**
 * After a sign-in through another provider: fetches the picture that it names, and tells the operator, in the trace, what of the person is left
 * as it is, because the claims do not say it, or not in a form that is accepted.
 */
export async function finishClaims(
  services: PageServices,
  visit: Visit,
  { upstream, mapped }: SaidByUpstream,
): Promise<void> {
  const { picture } = mapped;
  for (const { field, reason } of refusedClaims(mapped)) {
    const remedy = 'Correct the claim at the provider, or the map: tessera upstream update NAME --map FIELD=CLAIM';
    reportLine(services, visit, { description: `The ${field} of the user is left as it is.`, reason, remedy });
  }
  if (mapped.groupsUnknown !== undefined) {
    reportLine(services, visit, {
      description: 'The groups of the user are left as they are.',
      reason: `The upstream does not say which they are: ${mapped.groupsUnknown}.`,
      remedy: 'Let the provider put all groups into the token, such as only those that are assigned to this app.',
    });
  }
  if (picture === undefined) return;
  const left = await takePicture(services, upstream, picture, originOf(visit.request));
  if (left === undefined) return;
  reportLine(services, visit, {
    description: 'The picture of the user is left as it is.',
    // Its address may name the person, or hold a key.
    reason: `What ${URL.parse(picture)?.origin} has cannot be used: ${left.problem}.`,
    remedy: left.isBusy
      ? 'Nothing else depends on it. It is tried again at the next sign-in.'
      : 'Nothing else depends on it. The same address is tried again after a day: it must lead to a JPEG, PNG or WebP file of at most 1 MiB without a redirect.',
  });
}

function reportLine(
  { clock, traces }: PageServices,
  { request, pending }: Visit,
  facts: { readonly description: string; readonly reason: string; readonly remedy: string },
): void {
  traces.completed.push({
    ...{ at: clock(), requestId: request.id, step: 'sign-in', clientId: pending?.request.clientId },
    flow: pending && digest(pending.handle),
    facts: { method: request.method, path: request.routeOptions.url, ...facts },
  });
}
