import { testUpstream } from '../account-actions/upstreams/test-upstream.ts';
import { openSealer } from '../keys/sealer.ts';
import { readOnly } from '../operations/doctor/fit.ts';
import type { AskedProvider } from '../operations/doctor/rules/upstreams.ts';
import { type Clock, SECOND } from '../platform/clock.ts';
import { isLoopback } from '../platform/config/loopback.ts';
import type { Inspection } from '../platform/database/inspection.ts';
import { type Outgoing, outgoing } from '../platform/http/outgoing.ts';
import type { Config } from '../settings/config.ts';
import type { Upstream } from '../upstreams/store.ts';

/** How long all providers together may take. */
const LONGEST = 10 * SECOND;

/**
 * Asks the providers through which people sign in, all at the same time, as `tessera upstream test` does: one that is slow or hostile keeps
 * nothing waiting beyond a bound.
 * @param secret with which the client secrets are encrypted
 */
export async function askProviders(
  inspection: Inspection,
  upstreams: readonly Upstream[],
  {
    config,
    baseUrl,
    secret,
    clock,
  }: { readonly config: Config; readonly baseUrl: string; readonly secret: Buffer; readonly clock: Clock },
): Promise<readonly AskedProvider[]> {
  const database = readOnly(inspection);
  const sealer = await openSealer(database, { current: secret, previous: undefined }, clock);
  const local = isLoopback(new URL(baseUrl).hostname);
  const ask = outgoing({ local, networks: config.outgoingAllow });
  const signal = AbortSignal.timeout(LONGEST);
  const bounded: Outgoing = (request) => ask({ ...request, signal });
  const services = { database, clock, sealer, outgoing: bounded, issuer: baseUrl };
  return Promise.all(upstreams.map(async ({ id, name }) => ({ name, steps: await testUpstream(services, id) })));
}
