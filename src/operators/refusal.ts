import { iso } from '../platform/clock.ts';
import { Failure } from '../platform/failure.ts';
import { PERMISSIONS, type Permission } from './permissions.ts';
import { type Excess, lackingOf, type Operator, type OperatorGrant } from './rights.ts';

const rolesFor = (permission: Permission): string =>
  `Use a key or an account with one of the roles that include it: ${PERMISSIONS[permission].roles.join(', ')}.`;

/** An operator lacks a permission: HTTP 403. */
export class InsufficientPermission extends Failure {
  readonly permission: Permission;
  constructor(permission: Permission, why: string, remedy = rolesFor(permission)) {
    super('insufficient permission', `${why} Missing permission: ${permission}. ${remedy}`, { reason: permission });
    this.permission = permission;
  }
}

export const lacksPermission = (permission: Permission): InsufficientPermission =>
  new InsufficientPermission(permission, 'The role of the caller does not include this.');

/** For scopes of an app that wait for an operator. */
export const lacksApproval = (permission: Permission, scopes: readonly string[]): InsufficientPermission =>
  new InsufficientPermission(
    permission,
    `The app of a developer requests ${scopes.join(', ')}; an operator decides on any other scope.`,
  );

/** For something that an operator sees by one role, and may not act on by another. */
export const reachesOwnAlone = (permission: Permission): InsufficientPermission =>
  new InsufficientPermission(permission, 'A role of an organization reaches what is of this organization alone.');

export const actsOnStronger = (permission: Permission): InsufficientPermission =>
  new InsufficientPermission(permission, 'Nobody acts on somebody who holds a permission that they lack.');

/** An operator may do this, but not to this person: change how they sign in, or delete their account. */
export class CannotOpen extends InsufficientPermission {
  readonly because: 'held for longer' | 'own account' | 'given by them' | 'set by them';
  constructor(permission: Permission, because: CannotOpen['because'], why: string, remedy: string) {
    super(permission, why, remedy);
    this.because = because;
  }
}

const heldForLonger = (permission: Permission, heldUntil: number): CannotOpen =>
  new CannotOpen(
    permission,
    'held for longer',
    `This person holds a role that lasts longer than yours, which ends at ${iso(heldUntil)}, so you cannot change how they sign in.`,
    'Use a key or an account whose role ends no earlier than theirs.',
  );

/** A thief of an operator's session or token would have the account for good: its own pages ask for more, and their changes can be undone. */
export const opensOwnAccount = (permission: Permission): CannotOpen =>
  new CannotOpen(
    permission,
    'own account',
    permission === 'users.delete'
      ? 'This is your own account, and an operator does not delete it as one.'
      : 'This is your own account, and an operator does not change how they sign in themselves.',
    permission === 'users.delete'
      ? 'Delete it on the pages of your account, or ask another operator.'
      : 'Change it on the pages of your account, or ask another operator.',
  );

const taking = (permission: Permission): string =>
  permission === 'users.delete' ? 'delete their account' : 'change how they sign in';

/** The report of what was given would end with what is done here. */
export const opensGiver = (permission: Permission): CannotOpen =>
  new CannotOpen(
    permission,
    'given by them',
    `What you act with was given by this person in the last seven days, so you cannot ${taking(permission)}.`,
    'Use a key or an account that somebody else gave its role, or try again seven days after it was given.',
  );

/** Who acts may be the person who set how the account signs in, and the report of that would end with what is done here. */
export const opensOpener = (permission: Permission): CannotOpen =>
  new CannotOpen(
    permission,
    'set by them',
    `This person set in the last two weeks how the account signs in that you act with, so you cannot ${taking(permission)}.`,
    'Use a key or an account of which they set nothing, recover yours by mail, or try again two weeks after it was set.',
  );

/** @param permission of the act */
export const takesOverBeyond = (permission: Permission, excess: Excess): InsufficientPermission =>
  'permission' in excess ? actsOnStronger(excess.permission) : heldForLonger(permission, excess.heldUntil);

export const beyondForKey = (permission: Permission): InsufficientPermission =>
  new InsufficientPermission(
    permission,
    'An admin key that this person made works only while they may act, and has a permission that the caller lacks.',
  );

export const grantsBeyond = (permission: Permission): InsufficientPermission =>
  new InsufficientPermission(permission, 'Nobody gives a role with a permission that they lack.');

/** @throws {InsufficientPermission} where one of these grants includes a permission that the operator lacks */
export function requireNotStronger(operator: Operator, others: readonly OperatorGrant[]): void {
  const lacking = lackingOf(operator, others);
  if (lacking !== undefined) throw actsOnStronger(lacking);
}
