import { record } from '../../audit/audit.ts';
import type { Sealer } from '../../keys/sealer.ts';
import type { Clock } from '../../platform/clock.ts';
import { isLoopback } from '../../platform/config/config.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { asciiDomain } from '../../platform/domain-name.ts';
import { conflict, type Failure, invalid, noneWithId } from '../../platform/failure.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import type { ProviderClient } from '../../upstreams/provider.ts';
import { issuerProblem, subjectClaimOf } from '../../upstreams/rules/issuer.ts';
import type { CreateUpstreamRequest, UpdateUpstreamRequest } from '../../upstreams/schema.ts';
import type { Upstream } from '../../upstreams/store.ts';
import * as store from '../../upstreams/store.ts';

interface UpstreamContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
}

export const upstreamNotFound = (id: string): Failure =>
  noneWithId('upstream', id, { command: 'upstream list', path: 'upstreams' });

const contextOf = (id: string): string => `secret at upstream ${id}`;

/** How the provider knows us, with our secret there. */
export const providerClientOf = (sealer: Sealer, upstream: Upstream): ProviderClient => ({
  issuer: upstream.issuer,
  clientId: upstream.clientId,
  clientSecret: upstream.sealedSecret === null ? null : openSecret(sealer, upstream.id, upstream.sealedSecret),
  scopes: upstream.scopes,
  subjectClaim: subjectClaimOf(upstream.issuer),
});

function openSecret(sealer: Sealer, id: string, sealed: string): string {
  const secret = sealer.open(sealed, contextOf(id));
  if (secret === undefined) throw new Error(`the client secret at the upstream ${id} cannot be decrypted`);
  return secret;
}

const sealSecret = (sealer: Sealer, id: string, secret: string | null): string | null =>
  secret === null ? null : sealer.seal(secret, contextOf(id));

/** `openid` comes first, and each scope once. */
const withOpenid = (scopes: readonly string[]): readonly string[] => [...new Set(['openid', ...scopes])];

const DEFAULT_SCOPES = ['openid', 'profile', 'email'];

function checkedDomains(domains: readonly string[]): readonly string[] {
  return domains.map((typed) => {
    const domain = asciiDomain(typed.trim())?.toLowerCase();
    if (domain === undefined) throw invalid('signUpDomains must be domain names such as example.com.');
    return domain;
  });
}

function requireDomains({ signUp, signUpDomains }: Pick<Upstream, 'signUp' | 'signUpDomains'>): void {
  if (signUp === 'domains' && signUpDomains.length === 0) {
    throw invalid('signUpDomains must name a domain, since signUp is domains.');
  }
}

/**
 * Registers another provider through which people sign in. On a developer's machine, where the base URL is a loopback address, it may be
 * reached by `http`.
 * @throws {Failure} `invalid`, or `conflict` where the name is taken
 */
export async function createUpstream(
  { database, clock, sealer, ids, issuer: own }: UpstreamContext & { readonly ids: Ids; readonly issuer: string },
  input: CreateUpstreamRequest,
  origin: Origin,
): Promise<Upstream> {
  const { name, displayName = name, issuer, clientId, clientSecret = null, scopes = DEFAULT_SCOPES } = input;
  const { signUp = 'nobody', signUpDomains = [], position = 0 } = input;
  const problem = issuerProblem(issuer, isLoopback(new URL(own).hostname));
  if (problem !== undefined) throw invalid(`issuer must ${problem}.`);
  const now = clock();
  const id = await ids.next();
  const upstream: Upstream = {
    ...{ id, name, displayName, issuer, clientId, sealedSecret: sealSecret(sealer, id, clientSecret) },
    ...{ scopes: withOpenid(scopes), signUp, signUpDomains: checkedDomains(signUpDomains), position },
    ...{ status: 'active', createdAt: now, updatedAt: now },
  };
  requireDomains(upstream);
  await database.commit(function* create(): Work<void> {
    if (!(yield* store.insertUpstream(upstream))) {
      throw conflict('name is taken: another upstream has it. Choose another name.');
    }
    yield* record({ at: now, type: 'upstream.created', origin, details: { upstreamId: id, name, issuer } });
  });
  return upstream;
}

/** Changes fields of an upstream. @throws {Failure} `invalid`, `not found` */
export function updateUpstream(
  { database, clock, sealer }: UpstreamContext,
  id: string,
  { clientSecret, scopes, signUpDomains, ...input }: UpdateUpstreamRequest,
  origin: Origin,
): Promise<Upstream> {
  const now = clock();
  const given: Partial<Upstream> = {
    ...input,
    ...(scopes !== undefined && { scopes: withOpenid(scopes) }),
    ...(signUpDomains !== undefined && { signUpDomains: checkedDomains(signUpDomains) }),
    ...(clientSecret !== undefined && { sealedSecret: sealSecret(sealer, id, clientSecret) }),
  };
  return database.commit(function* update(): Work<Upstream> {
    const upstream = yield* store.lockUpstream({ id });
    if (upstream === undefined) throw upstreamNotFound(id);
    const changed: Upstream = { ...upstream, ...given, updatedAt: now };
    requireDomains(changed);
    const fields = Object.keys({ ...input, ...(scopes && { scopes }), ...(signUpDomains && { signUpDomains }) });
    if (clientSecret !== undefined) fields.push('clientSecret');
    if (fields.length === 0) return upstream;
    yield* store.saveUpstream(changed);
    const details = { upstreamId: id, name: upstream.name, fields };
    yield* record({ at: now, type: 'upstream.updated', origin, details });
    return changed;
  });
}

/** Lets people sign in through an upstream again. What ended with it stays ended. @throws {Failure} `not found` */
export function enableUpstream(
  { database, clock }: Pick<UpstreamContext, 'database' | 'clock'>,
  id: string,
  origin: Origin,
): Promise<Upstream> {
  const now = clock();
  return database.commit(function* enable(): Work<Upstream> {
    const upstream = yield* store.lockUpstream({ id });
    if (upstream === undefined) throw upstreamNotFound(id);
    if (upstream.status === 'active') return upstream;
    const changed: Upstream = { ...upstream, status: 'active', updatedAt: now };
    yield* store.saveUpstream(changed);
    yield* record({ at: now, type: 'upstream.enabled', origin, details: { upstreamId: id, name: upstream.name } });
    return changed;
  });
}

/**
 * Deletes an upstream that is disabled, with the identities that were connected through it. Sessions go on, unless they were ended
 * when it was disabled.
 * @throws {Failure} `not found`, or `conflict` where it is active
 */
export function deleteUpstream(
  { database, clock }: Pick<UpstreamContext, 'database' | 'clock'>,
  id: string,
  origin: Origin,
): Promise<void> {
  const now = clock();
  return database.commit(function* remove(): Work<void> {
    const upstream = yield* store.lockUpstream({ id });
    if (upstream === undefined) throw upstreamNotFound(id);
    if (upstream.status === 'active') throw conflict('This upstream is active. Disable it first.');
    yield* store.removeUpstream({ id });
    yield* record({ at: now, type: 'upstream.deleted', origin, details: { upstreamId: id, name: upstream.name } });
  });
}
