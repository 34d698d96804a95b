import { rolesOf } from '../access/rules/paths.ts';
import { listAccessPaths } from '../access/store.ts';
import { listAssignedGroupsOf, listGroupsOf, listGroupsOfApp, type NamedGroup } from '../groups/store.ts';
import type { Work } from '../platform/database/database.ts';
import { groupClaim, type MemberClaims, MOST_GROUPS } from './rules/member-claims.ts';

/** The settings of an app that say what its tokens say. */
export interface MemberClaimSettings {
  readonly id: string;
  /** The organization that the app belongs to; null for the installation. */
  readonly organizationId: string | null;
  /** The groups that are assigned to the app, or all of the person. */
  readonly groupsClaim: 'assigned' | 'all';
}

/** The groups and roles of a person in an app, as they are now, as far as the scopes among `MEMBER_SCOPES` cover them. */
export function* readMemberClaims(
  client: MemberClaimSettings,
  accountId: string,
  scopes: ReadonlySet<string>,
): Work<MemberClaims> {
  const groups = scopes.has('groups') ? yield* readGroups(client, accountId) : undefined;
  return {
    groups: groups?.slice(0, MOST_GROUPS).map(groupClaim).sort(),
    roles: scopes.has('roles') ? yield* readRoles(client, accountId) : undefined,
    hasMoreGroups: groups !== undefined && groups.length > MOST_GROUPS,
  };
}

/**
 * The groups that the claim names, and one more where there are more. The operators of an organization may not read other groups than its
 * own, so its app learns of another only where somebody who may read that assigned it.
 */
function readGroups(
  { id: clientId, organizationId, groupsClaim }: MemberClaimSettings,
  accountId: string,
): Work<readonly NamedGroup[]> {
  const limit = MOST_GROUPS + 1;
  if (groupsClaim === 'assigned') return listAssignedGroupsOf({ accountId, clientId, limit });
  if (organizationId === null) return listGroupsOf({ accountId, limit });
  return listGroupsOfApp({ accountId, clientId, organizationId, limit });
}

function* readRoles({ id: clientId }: MemberClaimSettings, accountId: string): Work<readonly string[]> {
  return rolesOf(yield* listAccessPaths({ accountId, clientId }));
}
