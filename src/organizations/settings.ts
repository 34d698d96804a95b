import type { SettingTable } from '../platform/settings.ts';

/** What an organization requires of its members, which can be changed. */
export interface OrganizationSettings {
  readonly requireSecondFactor: boolean;
  /** The provider through which alone they use its apps; null for none. */
  readonly onlyUpstreamId: string | null;
}

/** What a change of each of them is. */
export const ORGANIZATION_SETTINGS = {
  requireSecondFactor: 'kept',
  onlyUpstreamId: 'kept',
} as const satisfies SettingTable<OrganizationSettings>;
