import { record } from '../../audit/audit.ts';
import type { Sealer } from '../../keys/sealer.ts';
import type { Clock } from '../../platform/clock.ts';
import { isLoopback } from '../../platform/config/loopback.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { canonicalDomain } from '../../platform/domain-name.ts';
import { conflict, type Failure, invalid, noneWithId } from '../../platform/failure.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import {
  recordUpstreamAct,
  recordUpstreamChange,
  recordUpstreamStatus,
  type UpstreamActor,
} from '../../upstreams/act-store.ts';
import { claimDomains } from '../../upstreams/domain-store.ts';
import type { ProviderClient } from '../../upstreams/kind.ts';
import { authorityProblem } from '../../upstreams/rules/domains.ts';
import { isOfAnyTenant, issuerProblem, subjectClaimOf } from '../../upstreams/rules/issuer.ts';
import { defaultScopesOf, PRESETS, type UpstreamKindName } from '../../upstreams/rules/presets.ts';
import { privateKeyProblem } from '../../upstreams/rules/private-key.ts';
import type { CreateUpstreamRequest, UpdateUpstreamRequest } from '../../upstreams/schema.ts';
import type { Upstream } from '../../upstreams/store.ts';
import * as store from '../../upstreams/store.ts';

interface UpstreamContext extends UpstreamActor {
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
  claimsMap: upstream.claimsMap,
  signer:
    upstream.teamId === null || upstream.keyId === null ? null : { teamId: upstream.teamId, keyId: upstream.keyId },
});

function openSecret(sealer: Sealer, id: string, sealed: string): string {
  const secret = sealer.open(sealed, contextOf(id));
  if (secret === undefined) throw new Error(`the client secret at the upstream ${id} cannot be decrypted`);
  return secret;
}

const sealSecret = (sealer: Sealer, id: string, secret: string | null): string | null =>
  secret === null ? null : sealer.seal(secret, contextOf(id));

/** Each scope once; with an ID token `openid` comes first. */
const scopesOf = (kind: UpstreamKindName, scopes: readonly string[]): readonly string[] => [
  ...new Set(kind === 'github' ? scopes : ['openid', ...scopes]),
];

/** Where the provider is, as the operator or a preset says it. @throws {Failure} `invalid` */
function placeOf({ preset, at, kind, issuer }: CreateUpstreamRequest) {
  if (preset === undefined) {
    if (at !== undefined) throw invalid('at belongs to a preset. Give the issuer instead.');
    const known = kind === 'github' || kind === 'apple' ? PRESETS[kind] : undefined;
    const found = issuer ?? known?.issuerAt(undefined);
    if (found === undefined) throw invalid('issuer is missing. Give it, or a preset.');
    return { kind: kind ?? 'oidc', issuer: found, displayName: known?.displayName };
  }
  const known = PRESETS[preset];
  if (kind !== undefined && kind !== known.kind) throw invalid(`kind must be ${known.kind} with the preset ${preset}.`);
  const found = issuer ?? known.issuerAt(at);
  if (found === undefined) throw invalid(`at must be, with the preset ${preset}, ${known.place}.`);
  return { kind: known.kind, issuer: found, displayName: known.displayName };
}

/** What the kind needs. @throws {Failure} `invalid` */
function requireCredentials({ kind, sealedSecret, teamId, keyId }: Upstream, isKey: boolean): void {
  if (kind === 'apple') {
    if (sealedSecret === null || !isKey || teamId === null || keyId === null) {
      throw invalid('privateKey, teamId and keyId are needed with the kind apple, instead of a client secret.');
    }
    return;
  }
  if (teamId !== null || keyId !== null || isKey) {
    throw invalid('privateKey, teamId and keyId belong to the kind apple.');
  }
  if (kind === 'github' && sealedSecret === null) throw invalid('clientSecret is needed with the kind github.');
}

/**
 * The secret that a request gives: a client secret, or a private key where the kind has that instead. Undefined where it gives none.
 * @throws {Failure} `invalid`
 */
function givenSecret({
  clientSecret,
  privateKey,
}: Pick<CreateUpstreamRequest, 'clientSecret' | 'privateKey'>): string | null | undefined {
  if (privateKey === undefined) return clientSecret;
  if (clientSecret !== undefined) throw invalid('clientSecret and privateKey exclude each other. Give one of them.');
  return checkedKey(privateKey);
}

/** The private key of Apple. @throws {Failure} `invalid` */
function checkedKey(pem: string): string {
  const problem = privateKeyProblem(pem);
  if (problem !== undefined) throw invalid(`privateKey must ${problem}.`);
  return pem.trim();
}

const instantOf = (text: string | null): number | null => (text === null ? null : Date.parse(text));

function checkedDomains(field: 'signUpDomains' | 'domains', domains: readonly string[]): readonly string[] {
  const checked = domains.map((typed) => {
    const domain = canonicalDomain(typed.trim());
    if (domain === undefined) throw invalid(`${field} must be domain names such as example.com.`);
    return domain;
  });
  return [...new Set(checked)];
}

/** Its groups: of many tenants, each would decide which of its people are in them. @throws {Failure} `invalid` */
function requireOneTenant({ issuer, claimsMap }: Upstream): void {
  if (claimsMap.groups === undefined || !isOfAnyTenant(issuer)) return;
  throw invalid(
    'claimsMap must have no groups where people of any tenant sign in: each tenant would decide who is in them. Register an upstream for one tenant instead.',
  );
}

function requireDomains(upstream: Upstream): void {
  const { signUp, signUpDomains, domains } = upstream;
  if (signUp === 'domains' && signUpDomains.length === 0 && domains.length === 0) {
    throw invalid('signUpDomains must name a domain, since signUp is domains.');
  }
  for (const domain of domains) {
    const problem = authorityProblem(upstream, domain);
    if (problem !== undefined) throw invalid(`domains must ${problem}.`);
  }
}

/** @throws {Failure} `conflict` where another upstream has one of the domains */
function* claimOwnDomains(upstream: Upstream): Work<void> {
  const taken = yield* claimDomains(upstream);
  if (taken !== undefined) throw conflict(`${taken} is taken: another upstream is authoritative for it.`);
}

/**
 * Registers another provider through which people sign in. On a developer's machine, where the base URL is a loopback address, it may be
 * reached by `http`.
 * @throws {Failure} `invalid`, or `conflict` where the name is taken
 */
export async function createUpstream(
  {
    database,
    clock,
    sealer,
    ids,
    issuer: own,
    operator,
  }: UpstreamContext & { readonly ids: Ids; readonly issuer: string },
  input: CreateUpstreamRequest,
  origin: Origin,
): Promise<Upstream> {
  const { name, clientId, privateKey, teamId = null, keyId = null } = input;
  const { kind, issuer, displayName } = placeOf(input);
  const { scopes = defaultScopesOf(kind), secretExpiresAt = null } = input;
  const { signUp = 'nobody', signUpDomains = [], domains = [], claimsMap = {}, position = 0 } = input;
  const problem = issuerProblem(issuer, isLoopback(new URL(own).hostname));
  if (problem !== undefined) throw invalid(`issuer must ${problem}.`);
  const now = clock();
  const id = await ids.next();
  const secret = givenSecret(input) ?? null;
  const upstream: Upstream = {
    ...{ id, name, displayName: input.displayName ?? displayName ?? name, kind, issuer, clientId },
    ...{ sealedSecret: sealSecret(sealer, id, secret), secretExpiresAt: instantOf(secretExpiresAt), teamId, keyId },
    ...{ scopes: scopesOf(kind, scopes), signUp, signUpDomains: checkedDomains('signUpDomains', signUpDomains) },
    ...{ domains: checkedDomains('domains', domains), claimsMap, position },
    ...{ status: 'active', generation: '', createdAt: now, updatedAt: now },
  };
  requireCredentials(upstream, privateKey !== undefined);
  requireDomains(upstream);
  requireOneTenant(upstream);
  await database.commit(function* create(): Work<void> {
    if (domains.length > 0) yield* store.lockUpstreams({});
    if (!(yield* store.insertUpstream(upstream))) {
      throw conflict('name is taken: another upstream has it. Choose another name.');
    }
    yield* claimOwnDomains(upstream);
    yield* recordUpstreamAct({ operator }, 'registered', undefined, upstream);
    yield* record({ at: now, type: 'upstream.created', origin, details: { upstreamId: id, name, issuer } });
  });
  return upstream;
}

/** Changes fields of an upstream. @throws {Failure} `invalid`, `not found` */
export function updateUpstream(
  { database, clock, sealer, operator }: UpstreamContext,
  id: string,
  change: UpdateUpstreamRequest,
  origin: Origin,
): Promise<Upstream> {
  const now = clock();
  const { clientSecret, privateKey, secretExpiresAt, scopes, signUpDomains, domains, ...input } = change;
  const secret = givenSecret(change);
  return database.commit(function* update(): Work<Upstream> {
    if (domains !== undefined) yield* store.lockUpstreams({});
    const upstream = yield* store.lockUpstream({ id });
    if (upstream === undefined) throw upstreamNotFound(id);
    const given: Partial<Upstream> = {
      ...input,
      ...(scopes !== undefined && { scopes: scopesOf(upstream.kind, scopes) }),
      ...(signUpDomains !== undefined && { signUpDomains: checkedDomains('signUpDomains', signUpDomains) }),
      ...(domains !== undefined && { domains: checkedDomains('domains', domains) }),
      // The end of the secret before is none of the new one.
      ...(secret !== undefined && { sealedSecret: sealSecret(sealer, id, secret), secretExpiresAt: null }),
      ...(secretExpiresAt !== undefined && { secretExpiresAt: instantOf(secretExpiresAt) }),
    };
    const fields = [...Object.keys(given).filter((field) => field !== 'sealedSecret')];
    if (clientSecret !== undefined) fields.push('clientSecret');
    if (privateKey !== undefined) fields.push('privateKey');
    if (fields.length === 0) return upstream;
    // A version of the record differs by it where nothing else does that is shown, as with another secret.
    const changed: Upstream = { ...upstream, ...given, updatedAt: Math.max(now, upstream.updatedAt + 1) };
    requireDomains(changed);
    requireOneTenant(changed);
    requireCredentials(changed, secret === undefined ? upstream.kind === 'apple' : privateKey !== undefined);
    yield* store.saveUpstream(changed);
    if (domains !== undefined) yield* claimOwnDomains(changed);
    yield* recordUpstreamChange({ operator }, upstream, changed);
    const details = { upstreamId: id, name: upstream.name, fields };
    yield* record({ at: now, type: 'upstream.updated', origin, details });
    return changed;
  });
}

/** Lets people sign in through an upstream again. What ended with it stays ended, and a sign-in that was under way then begins again. @throws {Failure} `not found` */
export function enableUpstream(
  { database, clock, operator }: Pick<UpstreamContext, 'database' | 'clock' | 'operator'>,
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
    yield* recordUpstreamStatus({ operator }, upstream, changed);
    yield* record({ at: now, type: 'upstream.enabled', origin, details: { upstreamId: id, name: upstream.name } });
    return changed;
  });
}
