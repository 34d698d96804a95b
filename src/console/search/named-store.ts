import type { AliasableExpression, Kysely } from 'kysely';
import { namedAdminKeys } from '../../admin-keys/store.ts';
import { namedApps } from '../../clients/directory-store.ts';
import { isReached } from '../../clients/store.ts';
import { namedGroups } from '../../groups/directory-store.ts';
import { listWithin, type Reached, reachedOrganizations } from '../../operators/reach.ts';
import type { Reach } from '../../operators/rights.ts';
import { namedOrganizations } from '../../organizations/store.ts';
import { constant } from '../../platform/database/columns.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Tables } from '../../platform/database/schema.ts';
import { many } from '../../platform/database/statement.ts';
import { containing, type NamedRow, type NamedSearch } from '../../platform/database/text-search.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { namedUpstreams } from '../../upstreams/store.ts';

/** Kinds of objects that are found by a part of their name. */
export type NamedKind = 'apps' | 'groups' | 'organizations' | 'keys' | 'upstreams';

interface FoundObject extends NamedRow {
  readonly kind: NamedKind;
}

/** What is sought, and at most how many of each kind: none of those that are not asked for. */
interface Sought extends NamedSearch, Readonly<Record<NamedKind, number>> {}

/** A statement knows its parameters by their names. */
const ofKind = (kind: NamedKind, p: Sought): NamedSearch => ({
  ...{ id: p.id, pattern: p.pattern, asTyped: p.asTyped },
  limit: p[kind],
});

const rowsOf = (db: Kysely<Tables>, kind: NamedKind, rows: AliasableExpression<NamedRow>) =>
  db.selectFrom(rows.as('named')).select([constant(kind).as('kind'), 'named.id', 'named.name', 'named.note']);

const all = many(
  (db, p: Sought) =>
    rowsOf(db, 'groups', namedGroups(db, ofKind('groups', p)))
      .unionAll(rowsOf(db, 'apps', namedApps(db, ofKind('apps', p))))
      .unionAll(rowsOf(db, 'organizations', namedOrganizations(db, ofKind('organizations', p))))
      .unionAll(rowsOf(db, 'keys', namedAdminKeys(db, ofKind('keys', p))))
      .unionAll(rowsOf(db, 'upstreams', namedUpstreams(db, ofKind('upstreams', p)))),
  (row): FoundObject => row,
);

/** A provider is of the installation. */
const reached = many(
  (db, p: Sought & Reached) => {
    const places = reachedOrganizations(p);
    const groups = namedGroups(db, ofKind('groups', p)).where('g.organization_id', 'in', places);
    const apps = namedApps(db, ofKind('apps', p)).where((eb) => isReached(eb, p));
    const organizations = namedOrganizations(db, ofKind('organizations', p)).where('o.id', 'in', places);
    const keys = namedAdminKeys(db, ofKind('keys', p)).where('k.organization_id', 'in', places);
    return rowsOf(db, 'groups', groups)
      .unionAll(rowsOf(db, 'apps', apps))
      .unionAll(rowsOf(db, 'organizations', organizations))
      .unionAll(rowsOf(db, 'keys', keys));
  },
  (row): FoundObject => row,
);

const list = listWithin({ order: 'oldest first', all, reached });

/**
 * Objects that a text names by their id or a part of their name: of each kind the first that an operator reaches, in one statement for those
 * that the operator reaches alike.
 */
export function* findByText(
  text: string,
  limit: number,
  reaches: ReadonlyMap<NamedKind, Reach>,
): Work<readonly FoundObject[]> {
  const sought = {
    ...{ pattern: containing(text.toLowerCase()), asTyped: containing(text), id: isSnowflake(text) ? text : '0' },
    ...{ apps: 0, groups: 0, organizations: 0, keys: 0, upstreams: 0, limit: limit * reaches.size },
  };
  const found: FoundObject[] = [];
  for (const kinds of Map.groupBy(reaches.keys(), (kind) => JSON.stringify(reaches.get(kind)?.() ?? null)).values()) {
    const limits = Object.fromEntries(kinds.map((kind) => [kind, limit]));
    const reach = reaches.get(kinds[0] ?? 'apps');
    if (reach !== undefined) found.push(...(yield* list({ ...sought, ...limits }, reach)));
  }
  return found;
}
