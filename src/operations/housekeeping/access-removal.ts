import { listEndedAssignments } from '../../access/store.ts';
import { endSomeUnder } from '../../account-actions/access/paths.ts';
import { listDeletedGroups, removeGroup, removeSomeMembers } from '../../groups/store.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Batch, Ended, Removal } from './removal.ts';

// What an act that took access away from many people left over, because it was interrupted. It was dead already.

const NONE: Batch = { handled: 0, removed: 0 };

/** Ends the sign-ins under an assignment that has ended, and then removes it. */
export const endedAssignments: Removal = {
  table: 'app_assignment',
  kept: 0,
  *batch({ now, limit }: Ended): Work<Batch> {
    const [assignment] = yield* listEndedAssignments({ limit: 1 });
    if (assignment === undefined) return NONE;
    const ended = yield* endSomeUnder(assignment.id, limit, now);
    return { handled: limit, removed: ended < limit ? 1 : 0 };
  },
  *oldest({ before }): Work<number | undefined> {
    const [assignment] = yield* listEndedAssignments({ limit: 1 });
    return assignment === undefined || assignment.endedAt > before ? undefined : assignment.endedAt;
  },
};

/** Removes the members of a deleted group, and then the group. */
export const deletedGroups: Removal = {
  table: 'user_group',
  kept: 0,
  *batch({ limit }: Ended): Work<Batch> {
    const [group] = yield* listDeletedGroups({ limit: 1 });
    if (group === undefined) return NONE;
    if (yield* removeSomeMembers({ groupId: group.id, limit })) return { handled: limit, removed: 0 };
    // One whose assignments are still being ended has its turn when that is done.
    return (yield* removeGroup({ id: group.id })) ? { handled: limit, removed: 1 } : NONE;
  },
  *oldest({ before }): Work<number | undefined> {
    const [group] = yield* listDeletedGroups({ limit: 1 });
    return group === undefined || group.deletedAt > before ? undefined : group.deletedAt;
  },
};
