import type { Kysely } from 'kysely';
import type { Within } from '../operators/rights.ts';
import type { Database, Work } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import { columnsOf, decoder, many, one, plain, storedField, type Values } from '../platform/database/statement.ts';
import {
  containing,
  type Found,
  matches,
  type Search,
  type SearchRange,
  searchInSteps,
} from '../platform/database/text-search.ts';
import { CLIENT_FIELDS } from './fields.ts';

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

/** No id. */
const NOBODY = '0';

/** What an operator reaches, as a statement compares it. */
interface Reached {
  readonly all: number;
  readonly organizationId: string;
  readonly developerId: string;
}

const reached = (within: Within | undefined): Reached => ({
  all: within === undefined ? 1 : 0,
  organizationId: within?.organizationId ?? NOBODY,
  developerId: within?.developerId ?? NOBODY,
});

const apps = (db: Kysely<Tables>, p: Reached) =>
  db
    .selectFrom('client')
    .select(COLUMNS)
    .where((eb) =>
      eb.or([
        eb(eb.val(p.all), '=', 1),
        eb('organization_id', '=', p.organizationId),
        eb('developer_id', '=', p.developerId),
      ]),
    );

const newest = many(
  (db, p: Reached & { before: string; limit: number }) =>
    apps(db, p).where('id', '<', p.before).orderBy('id', 'desc').limit(p.limit),
  toListed,
);

/** The apps that an operator reaches, before an id, the newest first. */
export const listNewestApps = ({
  within,
  ...page
}: {
  readonly before: string;
  readonly limit: number;
  readonly within: Within | undefined;
}): Work<readonly ListedApp[]> => newest({ ...page, ...reached(within) });

const lastOfStep = one((db, p: { after: string; size: number }) =>
  db
    .selectFrom(db.selectFrom('client').select('id').where('id', '>', p.after).orderBy('id').limit(p.size).as('step'))
    .select((eb) => eb.fn.max('step.id').as('id')),
);

const searchStep = many(
  (db, p: SearchRange & Reached & { pattern: string; asTyped: string }) =>
    apps(db, p)
      .where('id', '>', p.after)
      .where('id', '<=', p.through)
      .where((eb) => eb.or([matches(eb.fn('lower', ['name']), p.pattern), matches(eb.ref('name'), p.asTyped)]))
      .orderBy('id')
      .limit(p.limit),
  toListed,
);

/** The apps that an operator reaches whose name contains a text: see {@link searchInSteps}. */
export const findAppsContaining = (
  database: Pick<Database, 'read'>,
  { text, within, ...search }: Search & { readonly text: string; readonly within: Within | undefined },
): Promise<Found<ListedApp>> => {
  const sought = { pattern: containing(text.toLowerCase()), asTyped: containing(text), ...reached(within) };
  return searchInSteps(database, search, lastOfStep, (range) => searchStep({ ...sought, ...range }));
};
