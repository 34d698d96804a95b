import { type Kysely, sql } from 'kysely';
import { listWithin, type Reached } from '../operators/reach.ts';
import type { Reach } from '../operators/rights.ts';
import type { Database } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import { columnsOf, decoder, many, one, plain, storedField, type Values } from '../platform/database/statement.ts';
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
import { CLIENT_FIELDS } from './fields.ts';
import { isReached } from './store.ts';

/** What a list of apps shows of each. */
const LISTED = {
  id: storedField('id', plain<string>()),
  name: CLIENT_FIELDS.name,
  type: CLIENT_FIELDS.type,
  redirectUris: CLIENT_FIELDS.redirectUris,
  status: storedField('status', plain<string>()),
  createdAt: storedField('created_at', plain<number>()),
} as const;

/** An app in a list. */
export type ListedApp = Values<typeof LISTED>;

const COLUMNS = columnsOf(LISTED);
const toListed: (row: object) => ListedApp = decoder(LISTED);

interface NewestPage {
  readonly before: string;
  readonly limit: number;
}

const newest = (db: Kysely<Tables>, p: NewestPage) =>
  db.selectFrom('client').select(COLUMNS).where('id', '<', p.before).orderBy('id', 'desc').limit(p.limit);

const newestOfAll = many((db, p: NewestPage) => newest(db, p), toListed);
const newestReached = many((db, p: NewestPage & Reached) => newest(db, p).where((eb) => isReached(eb, p)), toListed);

/** The apps that an operator reaches, before an id, the newest first. */
export const listNewestApps = listWithin({ order: 'newest first', all: newestOfAll, reached: newestReached });

const lastOfStep = one((db, p: { after: string; size: number }) =>
  db
    .selectFrom(db.selectFrom('client').select('id').where('id', '>', p.after).orderBy('id').limit(p.size).as('step'))
    .select((eb) => eb.fn.max('step.id').as('id')),
);

interface Sought extends SearchRange {
  readonly pattern: string;
  readonly asTyped: string;
}

const searched = (db: Kysely<Tables>, p: Sought) =>
  db
    .selectFrom('client')
    .select(COLUMNS)
    .where('id', '>', p.after)
    .where('id', '<=', p.through)
    .where((eb) => eb.or([matches(eb.fn('lower', ['name']), p.pattern), matches(eb.ref('name'), p.asTyped)]))
    .orderBy('id')
    .limit(p.limit);

const searchAll = many((db, p: Sought) => searched(db, p), toListed);
const searchReached = many((db, p: Sought & Reached) => searched(db, p).where((eb) => isReached(eb, p)), toListed);

const search = listWithin({ order: 'oldest first', all: searchAll, reached: searchReached });

/** Apps for a search of everything. */
export const namedApps = (db: Kysely<Tables>, p: NamedSearch) =>
  db
    .selectFrom(soughtIds(db, 'client', p))
    .innerJoin('client', 'client.id', 'sought.id')
    .select(['client.id', 'client.name', sql<null>`cast(null as text)`.as('note')])
    .where((eb) =>
      eb.or([
        eb('client.id', '=', p.id),
        matches(eb.fn('lower', ['client.name']), p.pattern),
        matches(eb.ref('client.name'), p.asTyped),
      ]),
    )
    .orderBy('client.id')
    .limit(p.limit);

/** The apps that an operator reaches whose name contains a text: see {@link searchInSteps}. */
export const findAppsContaining = (
  database: Pick<Database, 'read'>,
  { text, reach, ...steps }: Search & { readonly text: string; readonly reach: Reach },
): Promise<Found<ListedApp>> => {
  const patterns = { pattern: containing(text.toLowerCase()), asTyped: containing(text) };
  return searchInSteps(database, steps, lastOfStep, (range) => search({ ...patterns, ...range }, reach));
};
