import { changes, many, one } from '../platform/database/statement.ts';

/** A domain whose metadata documents are refused. */
export interface BlockedDomain {
  readonly domain: string;
  readonly createdAt: number;
}

const toBlocked = (row: { domain: string; created_at: number }): BlockedDomain => ({
  domain: row.domain,
  createdAt: row.created_at,
});

export const insertDomain = one(
  (db, p: { domain: string; now: number }) =>
    db
      .insertInto('blocked_client_domain')
      .values({ domain: p.domain, created_at: p.now })
      .onConflict((conflict) => conflict.doNothing())
      .returning(['domain', 'created_at']),
  toBlocked,
);
export const findDomain = one(
  (db, p: { domain: string }) =>
    db.selectFrom('blocked_client_domain').select(['domain', 'created_at']).where('domain', '=', p.domain),
  toBlocked,
);
export const removeDomain = changes((db, p: { domain: string }) =>
  db.deleteFrom('blocked_client_domain').where('domain', '=', p.domain).returning('domain'),
);
export const listDomains = many(
  (db, p: { after: string; limit: number }) =>
    db
      .selectFrom('blocked_client_domain')
      .select(['domain', 'created_at'])
      .where('domain', '>', p.after)
      .orderBy('domain')
      .limit(p.limit),
  toBlocked,
);
