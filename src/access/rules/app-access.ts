import type { AccountStatus } from '../../verdict/rules.ts';
import type { AccessPath } from '../store.ts';

/** Why a person may not use an app, in the order in which they are shown. */
export const OBSTACLES = [
  'client_disabled',
  'client_without_sign_in',
  'account_banned',
  'account_suspended',
  'not_assigned',
] as const;
export type Obstacle = (typeof OBSTACLES)[number];

/** What decides whether a person may use an app, read at one moment. */
export interface AccessFacts {
  readonly client: {
    readonly status: 'active' | 'disabled';
    readonly access: 'everyone' | 'assigned';
    readonly grantTypes: readonly string[];
  };
  readonly accountStatus: AccountStatus;
  /** Every assignment that reaches the person. */
  readonly paths: readonly AccessPath[];
}

/** Everything that keeps a person from using an app; empty where the person may use it. */
export function obstaclesOf({ client, accountStatus, paths }: AccessFacts): readonly Obstacle[] {
  const found: Readonly<Record<Obstacle, boolean>> = {
    client_disabled: client.status !== 'active',
    client_without_sign_in: !client.grantTypes.includes('authorization_code'),
    account_banned: accountStatus === 'banned',
    account_suspended: accountStatus === 'suspended',
    not_assigned: client.access === 'assigned' && paths.length === 0,
  };
  return OBSTACLES.filter((obstacle) => found[obstacle]);
}

/** An assignment that reaches a person, with the name of what is assigned; null for the person. */
export interface NamedPath extends AccessPath {
  readonly name: string | null;
}

/** Whether a person may use an app, in which roles, and why. */
export interface AppAccess {
  readonly clientId: string;
  readonly accountId: string;
  readonly access: 'everyone' | 'assigned';
  readonly roles: readonly string[];
  /** Every assignment that reaches the person. */
  readonly paths: readonly NamedPath[];
  /** Everything that keeps the person from using the app; empty where the person may use it. */
  readonly obstacles: readonly Obstacle[];
}
