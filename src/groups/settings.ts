import type { SettingTable } from '../platform/settings.ts';
import { shown } from '../platform/undo.ts';
import type { UpdateGroupRequest } from './schema.ts';

/** What a change of each field of a group is. */
export const GROUP_SETTINGS = {
  // Apps decide by it what its members may do.
  name: shown,
  displayName: 'free',
  description: 'free',
} as const satisfies SettingTable<UpdateGroupRequest>;
