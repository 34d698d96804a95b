import { record } from '../../audit/audit.ts';
import {
  addGroupMember,
  findGroupMember,
  holdGroup,
  listGroupsOfSource,
  lockGroupMember,
  removeGroupMember,
  upstreamSourcesOf,
} from '../../groups/store.ts';
import { holdMember } from '../../organizations/store.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { listIdentities } from '../../upstreams/identity-store.ts';
import { leavePaths } from './paths.ts';

/** The source of groups that an upstream maintains. */
export const sourceOfUpstream = (upstreamId: string): string => `upstream:${upstreamId}`;

/**
 * Lets a person be in exactly those groups of a source that it names, inside a unit of work that holds the account's lock. Leaving one is a
 * revocation (decisions §12), as where an operator removes them. Groups of other sources are not touched, and none is created.
 */
export function* syncGroups(
  accountId: string,
  source: string,
  names: readonly string[],
  origin: Origin,
  now: number,
): Work<void> {
  for (const { id: groupId, name, organizationId } of yield* listGroupsOfSource({ source })) {
    const isIn = (yield* findGroupMember({ groupId, accountId })) !== undefined;
    const details = { groupId, group: name };
    if (names.includes(name) === isIn || (yield* holdGroup({ id: groupId })) === undefined) continue;
    if (isIn) {
      const id = yield* lockGroupMember({ groupId, accountId });
      if (id === undefined) continue;
      const change = yield* leavePaths(accountId, { kind: 'group', groupId }, now);
      yield* removeGroupMember({ id });
      yield* record({ at: now, type: 'group.member_removed', origin, accountId, details: { ...details, ...change } });
      continue;
    }
    // Only members of an organization are in its groups.
    if (organizationId !== null && (yield* holdMember({ organizationId, accountId })) === undefined) continue;
    if (!(yield* addGroupMember({ groupId, accountId, organizationId, now }))) continue;
    yield* record({ at: now, type: 'group.member_added', origin, accountId, details });
  }
}

/**
 * Lets a person leave the groups of every upstream at which they have no identity any more, inside the unit of work that removed identities
 * and holds the account's lock: nobody else maintains these memberships.
 */
export function* leaveUnconnectedGroups(accountId: string, origin: Origin, now: number): Work<void> {
  const sources = yield* upstreamSourcesOf({ accountId });
  if (sources.length === 0) return;
  const connected = (yield* listIdentities({ accountId })).map(({ upstreamId }) => sourceOfUpstream(upstreamId));
  for (const source of sources) {
    if (!connected.includes(source)) yield* syncGroups(accountId, source, [], origin, now);
  }
}
