import { findAccount } from '../accounts/store.ts';
import { record } from '../audit/audit.ts';
import { type Clock, iso } from '../platform/clock.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { Id, Instant } from '../platform/http/operation.ts';
import type { Origin } from '../platform/http/origin.ts';
import type { Ids } from '../platform/ids/ids.ts';
import { conflict, notFound } from '../platform/oauth-error.ts';
import { requestBody } from '../platform/validation/fields.ts';
import * as Type from '../platform/validation/type.ts';
import type { Organization } from './store.ts';
import * as store from './store.ts';

export const CreateOrganizationRequest = requestBody('CreateOrganizationRequest', {
  name: Type.String({
    pattern: '^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])$',
    about: 'Unique.',
    description: 'a slug of 2 to 48 of the characters a-z, 0-9 and "-", not beginning or ending with "-"',
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

/** An organization as operators see it: the shape of `organizationView`. */
export const OrganizationRecord = Type.Object(organizationFields, { title: 'Organization' });

/** One with its people. */
export const OrganizationWithMembers = Type.Object(
  {
    ...organizationFields,
    members: Type.Array(Type.Object({ userId: Id, username: Type.String(), role }, { title: 'Member' })),
  },
  { title: 'OrganizationWithMembers' },
);

/** That a person is in an organization. */
export const MembershipRecord = Type.Object({ organizationId: Id, userId: Id, role }, { title: 'Membership' });

type Stored = { readonly database: Database; readonly clock: Clock };

const missing = (id: string) => notFound(`There is no organization with the id ${id}.`);

/** @throws {OAuthError} `conflict` when the name is taken */
export async function createOrganization(
  { database, clock, ids }: Stored & { readonly ids: Ids },
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
 * Makes a person a member, or changes the role. A person is in one organization at most.
 * @throws {OAuthError} `not_found`, or `conflict` when the person is in another organization
 */
export async function setMember(
  { database, clock }: Stored,
  member: { readonly organizationId: string; readonly accountId: string; readonly role: store.Role | null },
  origin: Origin,
): Promise<void> {
  const { organizationId, accountId, role } = member;
  await database.commit(function* set(): Work<void> {
    if ((yield* store.findOrganization({ id: organizationId })) === undefined) throw missing(organizationId);
    if ((yield* findAccount({ id: accountId })) === undefined)
      throw notFound(`There is no user with the id ${accountId}.`);
    if (!(yield* store.upsertMember(member))) {
      throw conflict('The user is in another organization. Remove the user from it first.');
    }
    const details = { organizationId, role };
    yield* record({ at: clock(), type: 'organization.member_set', origin, accountId, details });
  });
}

/** @throws {OAuthError} `not_found` when the person is not a member */
export async function removeMember(
  { database, clock }: Stored,
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
export async function getOrganization({ database }: Pick<Stored, 'database'>, id: string) {
  return database.read(function* get() {
    const organization = yield* store.findOrganization({ id });
    if (organization === undefined) throw missing(id);
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
