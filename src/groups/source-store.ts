import type { Work } from '../platform/database/database.ts';
import { command, many } from '../platform/database/statement.ts';
import { type Group, presentGroups, toGroup } from './store.ts';

// The groups that a source such as an upstream maintains.

/** Gives the groups of a source to the operators. */
export const releaseGroupsOfSource = command((db, p: { source: string }) =>
  db.updateTable('user_group').set({ source: 'local' }).where('source', '=', p.source),
);

const pageOfSource = many(
  (db, p: { source: string; after: string; limit: number }) =>
    presentGroups(db).where('source', '=', p.source).where('id', '>', p.after).orderBy('id').limit(p.limit),
  toGroup,
);

/** How many groups of a source are read at a time. */
const SOURCE_PAGE = 1000;

/** The groups that a source maintains, however many, in the order of their ids. */
export function* listGroupsOfSource({ source }: { readonly source: string }): Work<readonly Group[]> {
  const groups: Group[] = [];
  for (;;) {
    const page = yield* pageOfSource({ source, after: groups.at(-1)?.id ?? '0', limit: SOURCE_PAGE });
    groups.push(...page);
    if (page.length < SOURCE_PAGE) return groups;
  }
}

/** The ids of the groups of a source that a person is in. */
export const groupIdsOfSource = many(
  (db, p: { source: string; accountId: string }) =>
    db
      .selectFrom('group_member as m')
      .innerJoin('user_group as g', 'g.id', 'm.group_id')
      .select('g.id')
      .where('m.account_id', '=', p.accountId)
      .where('g.source', '=', p.source)
      .where('g.deleted_at', 'is', null),
  (row) => row.id,
);

/** The upstreams' sources of the groups that a person is in. */
export const upstreamSourcesOf = many(
  (db, p: { accountId: string }) =>
    db
      .selectFrom('group_member as m')
      .innerJoin('user_group as g', 'g.id', 'm.group_id')
      .select('g.source')
      .distinct()
      .where('m.account_id', '=', p.accountId)
      .where('g.source', 'like', 'upstream:%')
      .orderBy('g.source'),
  ({ source }) => source,
);
