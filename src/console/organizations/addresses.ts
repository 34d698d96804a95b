import type { Permission } from '../../operators/permissions.ts';
import type { Place } from '../../operators/rights.ts';

export const ORGANIZATIONS = '/console/organizations';

/** The pages about an organization, each with the permission without which it is not shown. */
export const ORGANIZATION_TABS = {
  members: { path: '', permission: 'organizations.read' },
  groups: { path: '/groups', permission: 'groups.read' },
  apps: { path: '/apps', permission: 'apps.read' },
  roles: { path: '/roles', permission: 'operators.read' },
  invitations: { path: '/invitations', permission: 'invitations.read' },
} as const satisfies Readonly<Record<string, { readonly path: string; readonly permission: Permission }>>;
export type OrganizationTab = keyof typeof ORGANIZATION_TABS;

export const organizationAddress = (id: string, tab: OrganizationTab = 'members'): string =>
  `${ORGANIZATIONS}/${id}${ORGANIZATION_TABS[tab].path}`;

/** Where an act on an organization is confirmed. */
export function organizationActAddress(
  act: 'create' | 'member' | 'remove-member' | 'requirement' | 'delete',
  about: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams(about).toString();
  return `${ORGANIZATIONS}/${act}${query === '' ? '' : `?${query}`}`;
}

export const placeIn = (organizationId: string | null): Place => ({ organizationId, developerId: null });
