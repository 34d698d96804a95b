import type { SettingTable } from '../platform/settings.ts';
import type { UpdateGroupRequest } from './schema.ts';

/** What a change of each field of a group is. */
export const GROUP_SETTINGS = {
  // Apps decide by it what its members may do.
  name: 'kept',
  displayName: 'free',
  description: 'free',
} as const satisfies SettingTable<UpdateGroupRequest>;
