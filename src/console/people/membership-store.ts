import { sql } from 'kysely';
import { groupsOf } from '../../groups/store.ts';
import { type Membership, membershipOf, toMembership } from '../../organizations/store.ts';
import { constant } from '../../platform/database/columns.ts';
import type { Work } from '../../platform/database/database.ts';
import { many } from '../../platform/database/statement.ts';

/** Where a person belongs. */
export interface PersonMemberships {
  readonly groups: readonly { readonly name: string; readonly organization: string | null }[];
  readonly organization: Membership | undefined;
}

/** A group with its organization, or an organization with its domain. */
const listed = many((db, p: { accountId: string; limit: number }) =>
  db
    .selectFrom(groupsOf(db, p).limit(p.limit).as('group'))
    .select([constant<string>('group').as('kind'), 'id', 'name', 'organization as place'])
    .select(sql<string | null>`cast(null as text)`.as('role'))
    .unionAll(
      db
        .selectFrom(membershipOf(db, p).as('member'))
        .select([constant<string>('organization').as('kind'), 'id', 'name'])
        .select((eb) => [eb.ref('domain').$castTo<string | null>().as('place'), 'role']),
    ),
);

/** The groups of a person by name, of which there is a limit, and the organization. */
export function* listMemberships(person: {
  readonly accountId: string;
  readonly limit: number;
}): Work<PersonMemberships> {
  const rows = yield* listed(person);
  const organization = rows.find(({ kind }) => kind === 'organization');
  return {
    groups: rows.filter(({ kind }) => kind === 'group').map(({ name, place }) => ({ name, organization: place })),
    organization: organization && toMembership({ ...organization, domain: organization.place ?? '' }),
  };
}
