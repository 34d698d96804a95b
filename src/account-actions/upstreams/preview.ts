import { decodeJwt } from 'jose';
import { findAccount } from '../../accounts/store.ts';
import type { Group } from '../../groups/store.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { invalid } from '../../platform/failure.ts';
import { findIdentity } from '../../upstreams/identity-store.ts';
import { mapClaims } from '../../upstreams/rules/claims-map.ts';
import { subjectOfClaims } from '../../upstreams/rules/id-token.ts';
import { issuerOf, metadataIssuerOf, subjectClaimOf } from '../../upstreams/rules/issuer.ts';
import { findUpstream } from '../../upstreams/store.ts';
import { profileOfClaims } from '../access/apply-claims.ts';
import { groupChanges, sourceOfUpstream } from '../access/sourced-groups.ts';
import { upstreamNotFound } from './upstreams.ts';

/** What a token would do. */
export interface ClaimsPreview {
  /** The account that it would sign in to; null where the identity is not connected. */
  readonly accountId: string | null;
  readonly displayName: string | null;
  readonly language: string | null;
  readonly joins: readonly string[];
  readonly leaves: readonly string[];
  /** Groups that it names and that this upstream does not maintain here. */
  readonly unknownGroups: readonly string[];
}

/** @throws {Failure} `invalid` */
function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const claims: unknown = token.trim().startsWith('{') ? JSON.parse(token) : decodeJwt(token.trim());
    if (typeof claims === 'object' && claims !== null && !Array.isArray(claims)) return { ...claims };
  } catch {
    // Told below.
  }
  throw invalid('token must be a JWT, or the JSON object of its claims.');
}

/**
 * What a token of an upstream would write into an account at a sign-in, by the map of the upstream. Its signature is not verified, and nothing
 * is written.
 * @throws {Failure} `not found`, `invalid`
 */
export async function previewClaims(database: Database, id: string, token: string): Promise<ClaimsPreview> {
  const claims = claimsOf(token);
  return database.read(function* preview(): Work<ClaimsPreview> {
    const upstream = yield* findUpstream({ id });
    if (upstream === undefined) throw upstreamNotFound(id);
    const said = mapClaims(claims, upstream.claimsMap);
    if ('problem' in said) throw invalid(`The sign-in is refused: ${said.problem}.`);
    const subject = subjectOfClaims(claims, { subjectClaim: subjectClaimOf(upstream.issuer) });
    const issuer = issuerOf(metadataIssuerOf(upstream.issuer), claims) ?? upstream.issuer;
    const identity = subject === undefined ? undefined : yield* findIdentity({ upstreamId: id, issuer, subject });
    const account = identity && (yield* findAccount({ id: identity.accountId }));
    const written =
      account === undefined
        ? { displayName: said.name, language: said.language }
        : profileOfClaims(account.profile, said);
    const source = sourceOfUpstream(id);
    const groups = said.groups && (yield* groupChanges(account?.id ?? null, source, said.groups));
    const names = (changed: readonly Group[] = []) => changed.map(({ name }) => name);
    return {
      accountId: account?.id ?? null,
      displayName: written.displayName ?? null,
      language: written.language ?? null,
      ...{ joins: names(groups?.joins), leaves: names(groups?.leaves), unknownGroups: groups?.unknown ?? [] },
    };
  });
}
