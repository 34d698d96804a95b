import { Failure } from '../platform/failure.ts';
import { PERMISSIONS, type Permission } from './permissions.ts';
import { lackingOf, type Operator, type OperatorGrant } from './rights.ts';

/** An operator lacks a permission: HTTP 403. */
export class InsufficientPermission extends Failure {
  readonly permission: Permission;
  constructor(permission: Permission, why: string) {
    const { roles } = PERMISSIONS[permission];
    const remedy = `Roles with it: ${roles.join(', ')}.`;
    super('insufficient permission', `${why} Missing permission: ${permission}. ${remedy}`, { reason: permission });
    this.permission = permission;
  }
}

export const lacksPermission = (permission: Permission): InsufficientPermission =>
  new InsufficientPermission(permission, 'The role of the caller does not include this.');

export const actsOnStronger = (permission: Permission): InsufficientPermission =>
  new InsufficientPermission(permission, 'Nobody acts on somebody who holds a permission that they lack.');

export const grantsBeyond = (permission: Permission): InsufficientPermission =>
  new InsufficientPermission(permission, 'Nobody gives a role with a permission that they lack.');

/** @throws {InsufficientPermission} where one of these grants includes a permission that the operator lacks */
export function requireNotStronger(operator: Operator, others: readonly OperatorGrant[]): void {
  const lacking = lackingOf(operator, others);
  if (lacking !== undefined) throw actsOnStronger(lacking);
}
