import { iso } from '../platform/clock.ts';
import type { AppAccess } from './rules/app-access.ts';
import type { AssignedTo, Assignment } from './store.ts';

const assignedIds = (to: AssignedTo) => ({
  userId: to.kind === 'person' ? to.accountId : null,
  groupId: to.kind === 'group' ? to.groupId : null,
  organizationId: to.kind === 'organization' ? to.organizationId : null,
});

/** An assignment in the admin API. */
export const assignmentView = ({ id, clientId, to, role, createdAt }: Assignment) => ({
  id,
  clientId,
  ...assignedIds(to),
  role,
  createdAt: iso(createdAt),
});

/** Whether a person may use an app, in the admin API. */
export const appAccessView = ({ clientId, accountId, access, roles, paths, obstacles }: AppAccess) => ({
  clientId,
  userId: accountId,
  allowed: obstacles.length === 0,
  access,
  roles,
  assignments: paths.map(({ assignmentId, to, name, role }) => ({ id: assignmentId, ...assignedIds(to), name, role })),
  obstacles,
});
