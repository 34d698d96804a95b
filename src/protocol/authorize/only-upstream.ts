import { assignmentsOfOrganizationAmong } from '../../access/organization-path-store.ts';
import type { AccessPath } from '../../access/store.ts';
import type { Client } from '../../clients/store.ts';
import { findMembership } from '../../organizations/store.ts';
import type { Work } from '../../platform/database/database.ts';
import type { SignedInVisitor } from '../../sessions/sessions.ts';
import { findOnlyUpstream, latestUpstreamOfSession } from '../../upstreams/only-store.ts';

/** By which path a person uses an app, and which provider they must come through for that. */
export interface PathOfVisitor {
  readonly path: AccessPath | undefined;
  /** Null where nothing is missing. */
  readonly missing: { readonly upstream: string | null } | null;
}

export const NOTHING_MISSING: PathOfVisitor = { path: undefined, missing: null };

/**
 * Whether a person must come through the provider of their organization (decisions §11): where they use one of its apps, or have access by
 * an assignment of it alone. The session must have begun there: a later sign-in with a password or through another provider does not count.
 * @param paths by which the person may use the app; empty where it is open to everyone
 */
export function* findMissingUpstream(
  { id, organizationId, access }: Pick<Client, 'id' | 'organizationId' | 'access'>,
  { account, session }: SignedInVisitor,
  paths: readonly AccessPath[],
): Work<PathOfVisitor> {
  const met: PathOfVisitor = { path: paths[0], missing: null };
  const membership = yield* findMembership({ accountId: account.id });
  // Owners keep a local way in.
  if (membership === undefined || membership.role === 'OWNER') return met;
  const only = yield* findOnlyUpstream({ organizationId: membership.id });
  if (only === undefined) return met;
  const latest = yield* latestUpstreamOfSession({ accountId: account.id, sid: session.sid });
  if (latest === only.upstreamId && session.amr.includes('upstream')) return met;
  const missing = { upstream: only.name };
  if (organizationId === membership.id) return { path: paths[0], missing };
  if (access === 'everyone' || paths.length === 0) return met;
  const theirs = yield* assignmentsOfOrganizationAmong({ clientId: id, organizationId: membership.id });
  const other = paths.find(({ assignmentId }) => !theirs.includes(assignmentId));
  return other === undefined ? { path: paths[0], missing } : { path: other, missing: null };
}
