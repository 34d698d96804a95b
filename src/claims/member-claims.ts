import { rolesOf } from '../access/rules/paths.ts';
import { listAccessPaths } from '../access/store.ts';
import { listAssignedGroupsOf, listGroupsOf } from '../groups/store.ts';
import type { Work } from '../platform/database/database.ts';
import { groupClaim, type MemberClaims, MOST_GROUPS } from './rules/member-claims.ts';

/** The settings of an app that say what its tokens say. */
export interface MemberClaimSettings {
  readonly id: string;
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

/** The groups that the claim names, and one more where there are more. */
const readGroups = ({ id: clientId, groupsClaim }: MemberClaimSettings, accountId: string) =>
  groupsClaim === 'all'
    ? listGroupsOf({ accountId, limit: MOST_GROUPS + 1 })
    : listAssignedGroupsOf({ accountId, clientId, limit: MOST_GROUPS + 1 });

function* readRoles({ id: clientId }: MemberClaimSettings, accountId: string): Work<readonly string[]> {
  return rolesOf(yield* listAccessPaths({ accountId, clientId }));
}
