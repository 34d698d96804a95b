import { type GroupOfPerson, listGroupsOfPerson } from '../../groups/store.ts';
import { findMembership, findRequiringOrganization, type Membership } from '../../organizations/store.ts';
import type { Database, Work } from '../../platform/database/database.ts';

/** What a person is a member of. */
interface OwnMemberships {
  readonly organization: Membership | undefined;
  /** Whether the organization requires a second factor of its members. */
  readonly isRequiring: boolean;
  readonly groups: readonly GroupOfPerson[];
}

/** Reads what a person is a member of, with at most so many groups. */
export const readOwnMemberships = (
  { database }: { readonly database: Database },
  accountId: string,
  limit: number,
): Promise<OwnMemberships> =>
  database.read(function* read(): Work<OwnMemberships> {
    const organization = yield* findMembership({ accountId });
    const isRequiring = (yield* findRequiringOrganization({ accountId })) !== undefined;
    return { organization, isRequiring, groups: yield* listGroupsOfPerson({ accountId, after: '0', limit }) };
  });
