import type { appAccessView, assignmentView } from '../access/view.ts';
import type { connectionView } from '../account-actions/connections/connections.ts';
import type { invitationView } from '../account-actions/invitations/invitations.ts';
import type { grantView } from '../account-actions/operators/grants.ts';
import type { organizationView } from '../account-actions/organizations/organizations.ts';
import type { scopeRequestView } from '../account-actions/scope-requests/scope-requests.ts';
import type { accountView } from '../accounts/view.ts';
import type { adminKeyView } from '../admin/keys.ts';
import type { clientView } from '../clients/view.ts';
import type { groupView } from '../groups/view.ts';
import type { upstreamView } from '../upstreams/view.ts';

// What the admin API answers with: each is the type of the view that its route answers with.
export type UserView = ReturnType<typeof accountView>;
export type ClientView = ReturnType<typeof clientView>;
export type OrganizationView = ReturnType<typeof organizationView>;
export type GroupView = ReturnType<typeof groupView>;
export type AssignmentView = ReturnType<typeof assignmentView>;
export type AccessView = ReturnType<typeof appAccessView>;
export type InvitationView = ReturnType<typeof invitationView>;
export type AdminKeyView = ReturnType<typeof adminKeyView>;
export type RoleView = ReturnType<typeof grantView>;
export type UpstreamView = ReturnType<typeof upstreamView>;
export type ScopeRequestView = ReturnType<typeof scopeRequestView>;
export type ConnectionView = ReturnType<typeof connectionView>;

/** A record of which only what is printed is of interest. */
export type ListedRow = Readonly<Record<string, unknown>>;
