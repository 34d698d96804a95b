import type { Permission } from '../../../operators/permissions.ts';
import { excessOf, heldByRoles, holds, type OperatorGrant, type Place } from '../../../operators/rights.ts';

/** A role that another operator took away from somebody, or made less, and let go on what was made by it until then. */
export interface LetGo {
  readonly at: number;
  /** What the role was. */
  readonly taken: OperatorGrant;
  /** What the person kept: nobody decided about what this allows. */
  readonly kept: readonly OperatorGrant[];
}

/** Whether a right that was given at an instant was let go on: it was beyond the roles that the person kept. */
export const letsRightGo = (decisions: readonly LetGo[], at: number, grant: OperatorGrant): boolean =>
  decisions.some(
    (one) =>
      at < one.at &&
      excessOf({ grants: [one.taken] }, grant) === undefined &&
      excessOf({ grants: one.kept }, grant) !== undefined,
  );

/** Whether what somebody did at an instant by a permission was let go on. */
export const letsActGo = (
  decisions: readonly LetGo[],
  at: number,
  operatorId: string,
  permission: Permission,
  place: Place,
): boolean => {
  const isHeld = (grants: readonly OperatorGrant[]): boolean =>
    holds({ id: operatorId, ...heldByRoles(grants) }, permission, place);
  return decisions.some(({ at: until, taken, kept }) => at < until && isHeld([taken]) && !isHeld(kept));
};
