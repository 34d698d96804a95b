import { record } from '../../audit/audit.ts';
import { groupIdsOfSource, listGroupsOfSource, upstreamSourcesOf } from '../../groups/source-store.ts';
import { addGroupMember, type Group, holdGroup, lockGroupMember, removeGroupMember } from '../../groups/store.ts';
import { findMembership, holdMember } from '../../organizations/store.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { recordGroupEffect } from '../../upstreams/effect-store.ts';
import { listIdentities } from '../../upstreams/identity-store.ts';
import type { OperatorBehind } from '../../upstreams/operators-behind.ts';
import { leavePaths } from './paths.ts';

/** The source of groups that an upstream maintains. */
export const sourceOfUpstream = (upstreamId: string): string => `upstream:${upstreamId}`;

/** What the groups that a source names change for a person. */
export interface GroupChanges {
  readonly joins: readonly Group[];
  readonly leaves: readonly Group[];
  /** Groups of an organization in which the person is no member, so that they do not join. */
  readonly closed: readonly Group[];
  /** Names of no group that this source maintains. */
  readonly unknown: readonly string[];
}

/**
 * What it changes that a source names these groups.
 * @param accountId null for a person who has no account yet
 */
export function* groupChanges(accountId: string | null, source: string, names: readonly string[]): Work<GroupChanges> {
  const named = new Set(names);
  const groups = yield* listGroupsOfSource({ source });
  const isIn = new Set(accountId === null ? [] : yield* groupIdsOfSource({ source, accountId }));
  const [joins, closed]: [Group[], Group[]] = [[], []];
  for (const group of groups.filter(({ id, name }) => named.has(name) && !isIn.has(id))) {
    (yield* isOpenTo(group, accountId)) ? joins.push(group) : closed.push(group);
  }
  const known = new Set(groups.map(({ name }) => name));
  return {
    ...{ joins, closed, leaves: groups.filter(({ id, name }) => isIn.has(id) && !named.has(name)) },
    unknown: [...named].filter((name) => !known.has(name)),
  };
}

/** Only members of an organization are in its groups. */
function* isOpenTo({ organizationId }: Group, accountId: string | null): Work<boolean> {
  if (organizationId === null) return true;
  return accountId !== null && (yield* findMembership({ accountId }))?.id === organizationId;
}

/**
 * Lets a person be in exactly those groups of a source that it names, inside a unit of work that holds the account's lock. Leaving one is a
 * revocation (decisions §12), as where an operator removes them. Groups of other sources are not touched, and none is created.
 * @param findBehind finds the operators by whom the source names groups, for those that the person joins
 */
export function* syncGroups(
  accountId: string,
  source: string,
  names: readonly string[],
  origin: Origin,
  now: number,
  findBehind?: () => Work<readonly OperatorBehind[]>,
): Work<void> {
  const { joins, leaves } = yield* groupChanges(accountId, source, names);
  const behind = joins.length === 0 || findBehind === undefined ? [] : yield* findBehind();
  // Always in this order, so that no two units of work wait for each other's groups.
  for (const group of [...joins, ...leaves].sort(byId)) {
    const { id: groupId, name, organizationId } = group;
    if ((yield* holdGroup({ id: groupId })) === undefined) continue;
    const details = { groupId, group: name };
    if (leaves.includes(group)) {
      const id = yield* lockGroupMember({ groupId, accountId });
      if (id === undefined) continue;
      const change = yield* leavePaths(accountId, { kind: 'group', groupId }, now);
      yield* removeGroupMember({ id });
      yield* record({ at: now, type: 'group.member_removed', origin, accountId, details: { ...details, ...change } });
      continue;
    }
    // The membership of the organization is held, so that it does not end meanwhile.
    if (organizationId !== null && (yield* holdMember({ organizationId, accountId })) === undefined) continue;
    if (!(yield* addGroupMember({ groupId, accountId, organizationId, madeBy: null, now }))) continue;
    const joined = behind.length === 0 ? undefined : yield* lockGroupMember({ groupId, accountId });
    if (joined !== undefined) yield* recordGroupEffect(behind, accountId, joined);
    yield* record({ at: now, type: 'group.member_added', origin, accountId, details });
  }
}

const byId = (one: Group, other: Group): number => (BigInt(one.id) < BigInt(other.id) ? -1 : 1);

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
