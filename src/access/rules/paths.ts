import type { AccessPath, AssignedTo } from '../store.ts';

/** What a person loses. */
export type LostPaths =
  | { readonly kind: 'assignment'; readonly assignmentIds: ReadonlySet<string> }
  | { readonly kind: 'group'; readonly groupId: string }
  /** The organization with its groups. */
  | { readonly kind: 'organization'; readonly organizationId: string; readonly groupIds: ReadonlySet<string> };

/** Whether the path by an assignment is among what is lost. */
export function isLostPath(path: { readonly assignmentId: string; readonly to: AssignedTo }, lost: LostPaths): boolean {
  const { to } = path;
  switch (lost.kind) {
    case 'assignment':
      return lost.assignmentIds.has(path.assignmentId);
    case 'group':
      return to.kind === 'group' && to.groupId === lost.groupId;
    case 'organization':
      return to.kind === 'organization'
        ? to.organizationId === lost.organizationId
        : to.kind === 'group' && lost.groupIds.has(to.groupId);
  }
}

/** The roles that a person has by these paths, each once. */
export const rolesOf = (paths: readonly Pick<AccessPath, 'role'>[]): readonly string[] =>
  [...new Set(paths.flatMap(({ role }) => role ?? []))].sort();
