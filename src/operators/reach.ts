import type { Work } from '../platform/database/database.ts';
import { type Positioned, positionsOf } from '../platform/database/positions.ts';
import type { Reach, Within } from './rights.ts';

/** No id. */
const NOBODY = '0';

const organizations = positionsOf(25, NOBODY);
const ownPlaces = positionsOf(25, NOBODY, 'own');

/** Some of the organizations that an operator reaches, and the own apps that are reached, as a statement compares them. */
export interface Reached extends Positioned, Positioned<'own'> {
  /** Whose apps are reached in some organizations. */
  readonly developerId: string;
  /** Whose apps are reached in the installation. */
  readonly installationDeveloperId: string;
  /** Whose apps are reached wherever they are. */
  readonly anywhereDeveloperId: string;
}

/** The organizations of {@link Reached}, for a statement with `in (…)`. */
export const reachedOrganizations = organizations.list;

/** The organizations of {@link Reached} in which own apps are reached. */
export const ownOrganizations = ownPlaces.list;

type Order = 'oldest first' | 'newest first';

interface Lists<Page, Row> {
  readonly order: Order;
  readonly all: (page: Page) => Work<readonly Row[]>;
  /** The same of what is reached. It is read for some organizations at a time, since each statement has one length. */
  readonly reached: (page: Page & Reached) => Work<readonly Row[]>;
}

/** A list that ends where the reach of an operator does: a page of everything for undefined. */
export const listWithin = <Page extends { readonly limit: number }, Row extends { readonly id: string }>({
  order,
  all,
  reached,
}: Lists<Page, Row>) =>
  function* list(page: Page, reach: Reach): Work<readonly Row[]> {
    const within = reach();
    if (within === undefined) return yield* all(page);
    // An app of one's own may be in one of these organizations, too.
    const found = new Map<string, Row>();
    for (const chunk of chunksOf(within)) {
      for (const row of yield* reached({ ...page, ...chunk })) found.set(row.id, row);
    }
    const direction = order === 'oldest first' ? 1 : -1;
    return [...found.values()].sort((one, other) => direction * compareIds(one.id, other.id)).slice(0, page.limit);
  };

const NO_ORGANIZATION = { ...organizations.chunks([NOBODY])[0], ...ownPlaces.chunks([NOBODY])[0] };

/** What is reached, for as many statements as it takes. */
function chunksOf({ organizationIds, own }: Within): readonly Reached[] {
  const places = own?.places ?? [];
  const reachedChunks = organizations.chunks(organizationIds);
  const ownChunks = ownPlaces.chunks(places.flatMap((organizationId) => organizationId ?? []));
  const developerId = own?.developerId ?? NOBODY;
  const ids = {
    developerId,
    installationDeveloperId: places.includes(null) ? developerId : NOBODY,
    anywhereDeveloperId: own?.places === undefined ? developerId : NOBODY,
  };
  const length = Math.max(reachedChunks.length, ownChunks.length, 1);
  return Array.from({ length }, (_, index) => ({
    ...{ ...ids, ...NO_ORGANIZATION },
    ...{ ...reachedChunks[index], ...ownChunks[index] },
  }));
}

/** Ids are numbers without leading zeros. */
function compareIds(one: string, other: string): number {
  if (one.length !== other.length) return one.length - other.length;
  return one < other ? -1 : 1;
}
