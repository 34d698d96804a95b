import { record } from '../../audit/audit.ts';
import { findGroup, type Group, lockGroup, saveGroup } from '../../groups/store.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import { fieldsLeft, type KeptChange, putBack } from '../../platform/kept-changes.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { findNamesake } from './groups.ts';

interface RenamedGroup {
  readonly group: Group;
  readonly changes: readonly KeptChange[];
}

/** The name of a group, as its changes have it: it had none before an operator created it. */
interface Named {
  readonly name: string | null;
}

const isCreated = (changes: readonly KeptChange[]): boolean =>
  changes.some(({ fields }) => fields['name']?.before === null);

/** The name that a group had before it was changed; undefined where it has it, or somebody else changed it since. */
function nameBefore({ group, changes }: RenamedGroup): string | undefined {
  // What operators created has no earlier name, and goes on with the one that it has.
  if (isCreated(changes)) return undefined;
  return putBack<Named>({ name: group.name }, changes).name ?? undefined;
}

/** Whether somebody else named a group since. */
const isNamedSince = ({ group, changes }: RenamedGroup): boolean =>
  !isCreated(changes) && fieldsLeft<Named>({ name: group.name }, changes).length > 0;

interface Renaming {
  readonly group: Group;
  readonly to: string;
}

/**
 * Of the groups that get their names back, those whose names are free then. A group that operators created gives the name up that it took;
 * any other group keeps it.
 */
function* possible(renamed: readonly RenamedGroup[]): Work<readonly Renaming[]> {
  const created = new Map(renamed.filter(({ changes }) => isCreated(changes)).map(({ group }) => [group.id, group]));
  let wanted = renamed.flatMap((one): readonly Renaming[] => {
    const to = nameBefore(one);
    return to === undefined ? [] : [{ group: one.group, to }];
  });
  for (;;) {
    const given: Renaming[] = [];
    const fitting: Renaming[] = [];
    for (const one of wanted) {
      const { organizationId } = one.group;
      const isSame = (other: Renaming): boolean => other.to === one.to && other.group.organizationId === organizationId;
      const holder = yield* findNamesake({ name: one.to, organizationId });
      const isFree = holder === undefined || wanted.some(({ group }) => group.id === holder.id);
      const other = holder === undefined ? undefined : created.get(holder.id);
      if (fitting.some(isSame) || (!isFree && other === undefined)) continue;
      fitting.push(one);
      if (!isFree && other !== undefined) given.push({ group: other, to: `group-${other.id}` });
    }
    if (fitting.length === wanted.length) return [...given, ...fitting];
    // Who keeps the name that it has may stand in the way of another.
    wanted = fitting;
  }
}

/** What becomes of the name of a group that operators changed. */
export interface NameBefore {
  readonly group: Group;
  /** Whether it is another one where the changes end, */
  readonly isPutBack: boolean;
  /** or stays, because somebody else named the group since, or another group has the name. */
  readonly isLeft: boolean;
}

/** A group, and how operators changed it. */
export interface ChangedGroup {
  readonly id: string;
  readonly changes: readonly KeptChange[];
}

function told(renamed: readonly RenamedGroup[], renamings: readonly Renaming[]): readonly NameBefore[] {
  const ids = new Set(renamings.map(({ group }) => group.id));
  return renamed.map((one) => {
    const isPutBack = ids.has(one.group.id);
    return { group: one.group, isPutBack, isLeft: !isPutBack && (nameBefore(one) !== undefined || isNamedSince(one)) };
  });
}

/** Which groups would get the names back that they had before operators changed them. */
export function* groupNamesBefore(changed: readonly ChangedGroup[]): Work<readonly NameBefore[]> {
  const renamed: RenamedGroup[] = [];
  for (const { id, changes } of changed) {
    const group = yield* findGroup({ id });
    if (group !== undefined) renamed.push({ group, changes });
  }
  return told(renamed, yield* possible(renamed));
}

/** Gives groups the names back that they had before operators changed them, inside a unit of work. */
export function* putGroupNamesBack(
  changed: readonly ChangedGroup[],
  origin: Origin,
  now: number,
): Work<readonly NameBefore[]> {
  const renamed: RenamedGroup[] = [];
  for (const { id, changes } of changed) {
    const group = yield* lockGroup({ id });
    if (group !== undefined) renamed.push({ group, changes });
  }
  const renamings = yield* possible(renamed);
  // Two may have each other's.
  for (const { group } of renamings) yield* saveGroup({ ...group, name: randomIdentifier() });
  for (const { group, to } of renamings) {
    yield* saveGroup({ ...group, name: to, updatedAt: now });
    const details = { groupId: group.id, fields: ['name'], putBack: true };
    yield* record({ at: now, type: 'group.updated', origin, details });
  }
  return told(renamed, renamings);
}
