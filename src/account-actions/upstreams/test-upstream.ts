import type { Sealer } from '../../keys/sealer.ts';
import type { Clock } from '../../platform/clock.ts';
import { isLoopback } from '../../platform/config/loopback.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Outgoing } from '../../platform/http/outgoing.ts';
import { kinds } from '../../upstreams/kinds/kinds.ts';
import { createProviderDocuments } from '../../upstreams/provider-documents.ts';
import type { ProbeStep } from '../../upstreams/rules/probe-step.ts';
import { findUpstream } from '../../upstreams/store.ts';
import { redirectUriOf } from '../../upstreams/view.ts';
import { providerClientOf, upstreamNotFound } from './upstreams.ts';

interface TestServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly outgoing: Outgoing;
  readonly issuer: string;
}

/**
 * Walks the way of a sign-in at an upstream as far as it goes without a person, with nothing that was kept of it.
 * @throws {Failure} `not found`
 */
export async function testUpstream(
  { database, clock, sealer, outgoing, issuer }: TestServices,
  id: string,
): Promise<readonly ProbeStep[]> {
  const upstream = await database.read(() => findUpstream({ id }));
  if (upstream === undefined) throw upstreamNotFound(id);
  const local = isLoopback(new URL(issuer).hostname);
  const documents = createProviderDocuments(outgoing, clock, local);
  const services = { documents, outgoing, clock, local };
  const client = providerClientOf(sealer, upstream);
  return kinds[upstream.kind].probe(services, client, redirectUriOf(issuer, upstream));
}
