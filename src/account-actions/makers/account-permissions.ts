import type { AccountActKind } from '../../accounts/act-store.ts';
import type { Permission } from '../../operators/permissions.ts';

/** What a person needs to do this to an account. */
export const ACCOUNT_PERMISSION_OF: Readonly<Record<AccountActKind, Permission>> = {
  created: 'users.create',
  invited: 'invitations.manage',
  address: 'users.update',
  password: 'users.update',
  username: 'users.update',
  'factor removed': 'users.remove_factor',
  recovered: 'users.recovery_link',
  'let in again': 'users.reinstate',
};
