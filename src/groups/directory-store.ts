import type { Kysely } from 'kysely';
import { listWithin, type Reached, reachedOrganizations } from '../operators/reach.ts';
import type { Reach } from '../operators/rights.ts';
import type { Database } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import { many, one } from '../platform/database/statement.ts';
import {
  containing,
  type Found,
  matches,
  type NamedSearch,
  type Search,
  type SearchRange,
  searchInSteps,
  soughtIds,
} from '../platform/database/text-search.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { type Group, presentGroups, toGroup } from './store.ts';

interface DirectoryPage {
  readonly after: string;
  readonly limit: number;
}

const page = (db: Kysely<Tables>, p: DirectoryPage) =>
  presentGroups(db).where('id', '>', p.after).orderBy('id').limit(p.limit);

const listAll = many((db, p: DirectoryPage) => page(db, p), toGroup);
const listReached = many(
  (db, p: DirectoryPage & Reached) => page(db, p).where('organization_id', 'in', reachedOrganizations(p)),
  toGroup,
);

/** The groups in the order of their ids: all, or those of some organizations. */
export const listGroups = listWithin({ order: 'oldest first', all: listAll, reached: listReached });

const lastOfStep = one((db, p: { after: string; size: number }) =>
  db
    .selectFrom(
      db.selectFrom('user_group').select('id').where('id', '>', p.after).orderBy('id').limit(p.size).as('step'),
    )
    .select((eb) => eb.fn.max('step.id').as('id')),
);

/** Names are in lower case. SQLite's `lower` converts ASCII letters only, so names for people are also compared as typed. */
const searched = (db: Kysely<Tables>, p: Sought) =>
  presentGroups(db)
    .where('id', '>', p.after)
    .where('id', '<=', p.through)
    .where((eb) =>
      eb.or([
        eb('id', '=', p.id),
        matches(eb.ref('name'), p.pattern),
        matches(eb.fn('lower', ['display_name']), p.pattern),
        matches(eb.ref('display_name'), p.asTyped),
      ]),
    )
    .orderBy('id')
    .limit(p.limit);

interface Sought extends SearchRange {
  readonly pattern: string;
  readonly asTyped: string;
  readonly id: string;
}

const searchAll = many((db, p: Sought) => searched(db, p), toGroup);
const searchReached = many(
  (db, p: Sought & Reached) => searched(db, p).where('organization_id', 'in', reachedOrganizations(p)),
  toGroup,
);

const search = listWithin({ order: 'oldest first', all: searchAll, reached: searchReached });

/** Groups for a search of everything. */
export const namedGroups = (db: Kysely<Tables>, p: NamedSearch) =>
  db
    .selectFrom(soughtIds(db, 'user_group', p))
    .innerJoin('user_group as g', 'g.id', 'sought.id')
    .select(['g.id', 'g.display_name as name', 'g.name as note'])
    .where('g.deleted_at', 'is', null)
    .where((eb) =>
      eb.or([
        eb('g.id', '=', p.id),
        matches(eb.ref('g.name'), p.pattern),
        matches(eb.fn('lower', ['g.display_name']), p.pattern),
        matches(eb.ref('g.display_name'), p.asTyped),
      ]),
    )
    .orderBy('g.id')
    .limit(p.limit);

/** A search for groups by a text: of all, or of some organizations. */
export interface GroupSearch extends Search {
  readonly text: string;
  readonly reach: Reach;
}

/** Groups whose name contains a text, or whose id it is, in the order of their ids: see {@link searchInSteps}. */
export function findGroupsContaining(
  database: Pick<Database, 'read'>,
  { text, reach, ...steps }: GroupSearch,
): Promise<Found<Group>> {
  const wanted = {
    pattern: containing(text.toLowerCase()),
    asTyped: containing(text),
    id: isSnowflake(text) ? text : '0',
  };
  return searchInSteps(database, steps, lastOfStep, (range) => search({ ...wanted, ...range }, reach));
}
