import type { AccountActKind } from '../../accounts/act-store.ts';
import type { OpeningKind } from '../../accounts/opening-store.ts';
import type { Permission } from '../../operators/permissions.ts';
import type { UpstreamEffectKind } from '../../upstreams/effect-store.ts';

/** What a person needs to do this to an account, or to what lets its person in. */
export const ACCOUNT_PERMISSION_OF: Readonly<Record<AccountActKind | OpeningKind | UpstreamEffectKind, Permission>> = {
  created: 'users.create',
  invited: 'invitations.manage',
  address: 'users.update',
  password: 'users.update',
  username: 'users.update',
  'factor removed': 'users.remove_factor',
  recovered: 'users.recovery_link',
  'let in again': 'users.reinstate',
  joined: 'upstreams.manage',
  connected: 'upstreams.manage',
  written: 'upstreams.manage',
};
