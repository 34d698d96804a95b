import { iso } from '../platform/clock.ts';
import type { Assignment } from './store.ts';

/** An assignment in the admin API. */
export const assignmentView = ({ id, clientId, to, role, createdAt }: Assignment) => ({
  id,
  clientId,
  userId: to.kind === 'person' ? to.accountId : null,
  groupId: to.kind === 'group' ? to.groupId : null,
  organizationId: to.kind === 'organization' ? to.organizationId : null,
  role,
  createdAt: iso(createdAt),
});
