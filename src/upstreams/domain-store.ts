import type { Work } from '../platform/database/database.ts';
import { changes, command, many } from '../platform/database/statement.ts';
import type { Upstream } from './store.ts';

const removeDomains = command((db, p: { upstreamId: string }) =>
  db.deleteFrom('upstream_domain').where('upstream_id', '=', p.upstreamId),
);

const insertDomain = changes((db, p: { domain: string; upstreamId: string }) =>
  db
    .insertInto('upstream_domain')
    .values({ domain: p.domain, upstream_id: p.upstreamId })
    .onConflict((conflict) => conflict.doNothing())
    .returning('domain'),
);

/**
 * Gives an upstream the domains that it names, and no others, in a unit of work that has locked all upstreams before (`lockUpstreams`). New
 * upstreams are not among these: they take domains in one order.
 * @returns one that another upstream has, if there is one
 */
export function* claimDomains({ id, domains }: Pick<Upstream, 'id' | 'domains'>): Work<string | undefined> {
  yield* removeDomains({ upstreamId: id });
  for (const domain of [...domains].sort()) {
    if (!(yield* insertDomain({ domain, upstreamId: id }))) return domain;
  }
  return undefined;
}

/** The domains for which active upstreams are authoritative. */
export const listActiveDomains = many(
  (db, _p: object) =>
    db
      .selectFrom('upstream_domain as d')
      .innerJoin('upstream as u', 'u.id', 'd.upstream_id')
      .select(['d.domain', 'u.name', 'u.display_name'])
      .where('u.status', '=', 'active'),
  (row) => ({ domain: row.domain, upstream: { name: row.name, displayName: row.display_name } }),
);
