import type { SettingTable } from '../platform/settings.ts';
import { ordered, restriction } from '../platform/undo.ts';

/** What an organization requires of its members, which can be changed. */
export interface OrganizationSettings {
  readonly requireSecondFactor: boolean;
  /** The provider through which alone they use its apps; null for none. */
  readonly onlyUpstreamId: string | null;
}

/** What a change of each of them is. */
export const ORGANIZATION_SETTINGS = {
  requireSecondFactor: ordered(true, false),
  onlyUpstreamId: restriction,
} as const satisfies SettingTable<OrganizationSettings>;
