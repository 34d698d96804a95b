import { userNotFound } from '../accounts/accounts.ts';
import { findAccount } from '../accounts/store.ts';
import { record } from '../audit/audit.ts';
import { type Clock, iso } from '../platform/clock.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { Id, Instant } from '../platform/http/operation.ts';
import type { Ids } from '../platform/ids/ids.ts';
import { conflict, notFound } from '../platform/oauth-error.ts';
import { requestBody } from '../platform/validation/fields.ts';
import type { Origin } from '../platform/validation/origin.ts';
import * as Type from '../platform/validation/type.ts';
import type { Organization } from './store.ts';
import * as store from './store.ts';

export const CreateOrganizationRequest = requestBody('CreateOrganizationRequest', {
  name: Type.String({
    pattern: '^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])$',
    about: 'Unique.',
    description: 'a slug of 2 to 48 of the characters a-z, 0-9 and "-", not starting or ending with "-"',
  }),
  domain: Type.String({ format: 'domain', description: 'a domain name such as example.com' }),
});
export type CreateOrganizationRequest = Type.Static<typeof CreateOrganizationRequest>;

const ROLES = ['OWNER', 'ADMIN', 'MEMBER'] as const;
export const SetMembershipRequest = requestBody('SetMembershipRequest', {
  role: Type.Optional(
    Type.Union([Type.Unsafe<store.Role>({ enum: ROLES }), Type.Null()], {
      description: `one of ${ROLES.join(', ')}, or null`,
    }),
  ),
});
export type SetMembershipRequest = Type.Static<typeof SetMembershipRequest>;

const role = Type.Unsafe<store.Role | null>({ enum: [...ROLES, null] });
const organizationFields = { id: Id, name: Type.String(), domain: Type.String(), createdAt: Instant };

/** An organization in the admin API, as made by `organizationView`. */
export const OrganizationRecord = Type.Object(organizationFields, { title: 'Organization' });

/** An organization with its members. */
export const OrganizationWithMembers = Type.Object(
  {
    ...organizationFields,
    members: Type.Array(Type.Object({ userId: Id, username: Type.String(), role }, { title: 'Member' })),
  },
  { title: 'OrganizationWithMembers' },
);

export const MembershipRecord = Type.Object({ organizationId: Id, userId: Id, role }, { title: 'Membership' });

interface OrganizationsContext {
  readonly database: Database;
  readonly clock: Clock;
}

const organizationNotFound = (id: string) => notFound(`There is no organization with the id ${id}.`);

/** Creates an organization. @throws {OAuthError} `conflict` where the name is taken */
export async function createOrganization(
  { database, clock, ids }: OrganizationsContext & { readonly ids: Ids },
  input: CreateOrganizationRequest,
  origin: Origin,
): Promise<Organization> {
  const now = clock();
  const organization: Organization = {
    id: await ids.next(),
    ...input,
    domain: input.domain.toLowerCase(),
    createdAt: now,
  };
  await database.commit(function* create() {
    if (!(yield* store.insertOrganization(organization))) {
      throw conflict('name is taken: another organization has it. Choose another name.');
    }
    yield* record({ at: now, type: 'organization.created', origin, details: { organizationId: organization.id } });
  });
  return organization;
}

/**
 * Adds a user to an organization, or changes a member's role. A user belongs to at most one organization.
 * @throws {OAuthError} `not_found`, or `conflict` where the user belongs to another organization
 */
export async function setMember(
  { database, clock }: OrganizationsContext,
  member: { readonly organizationId: string; readonly accountId: string; readonly role: store.Role | null },
  origin: Origin,
): Promise<void> {
  const { organizationId, accountId, role } = member;
  await database.commit(function* set(): Work<void> {
    if ((yield* store.findOrganization({ id: organizationId })) === undefined)
      throw organizationNotFound(organizationId);
    if ((yield* findAccount({ id: accountId })) === undefined) throw userNotFound(accountId);
    if (!(yield* store.upsertMember(member))) {
      throw conflict('The user is in another organization. Remove the user from it first.');
    }
    const details = { organizationId, role };
    yield* record({ at: clock(), type: 'organization.member_set', origin, accountId, details });
  });
}

/** @throws {OAuthError} `not_found` where the user is not a member */
export async function removeMember(
  { database, clock }: OrganizationsContext,
  organizationId: string,
  accountId: string,
  origin: Origin,
): Promise<void> {
  await database.commit(function* remove(): Work<void> {
    if (!(yield* store.deleteMember({ organizationId, accountId }))) {
      throw notFound(`The user ${accountId} is not a member of the organization ${organizationId}.`);
    }
    const details = { organizationId };
    yield* record({ at: clock(), type: 'organization.member_removed', origin, accountId, details });
  });
}

/** @throws {OAuthError} `not_found` */
export async function getOrganization({ database }: Pick<OrganizationsContext, 'database'>, id: string) {
  return database.read(function* get() {
    const organization = yield* store.findOrganization({ id });
    if (organization === undefined) throw organizationNotFound(id);
    return { organization, members: yield* store.listMembers({ organizationId: id }) };
  });
}

export function organizationView(organization: Organization) {
  return {
    id: organization.id,
    name: organization.name,
    domain: organization.domain,
    createdAt: iso(organization.createdAt),
  };
}
