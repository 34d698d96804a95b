import { command, many, one } from '../platform/database/statement.ts';

/** The provider through which alone the members of an organization use its apps: decisions §11. */
export interface OnlyUpstream {
  readonly upstreamId: string;
  /** Null where it is disabled. */
  readonly name: string | null;
}

export const findOnlyUpstream = one(
  (db, p: { organizationId: string }) =>
    db
      .selectFrom('organization_upstream as o')
      .innerJoin('upstream as u', 'u.id', 'o.upstream_id')
      .select(['o.upstream_id', 'u.name', 'u.status'])
      .where('o.organization_id', '=', p.organizationId),
  (row): OnlyUpstream => ({ upstreamId: row.upstream_id, name: row.status === 'active' ? row.name : null }),
);

/** The provider that an organization names; undefined where its members sign in as they like. */
export const findUpstreamOfOrganization = one(
  (db, p: { organizationId: string }) =>
    db.selectFrom('organization_upstream').select('upstream_id').where('organization_id', '=', p.organizationId),
  (row) => row.upstream_id,
);

/** The same with the name of the provider for people. */
export interface NamedOnly {
  readonly upstreamId: string;
  readonly displayName: string;
}

export const findNamedOnly = one(
  (db, p: { organizationId: string }) =>
    db
      .selectFrom('organization_upstream as o')
      .innerJoin('upstream as u', 'u.id', 'o.upstream_id')
      .select(['o.upstream_id', 'u.display_name'])
      .where('o.organization_id', '=', p.organizationId),
  (row): NamedOnly => ({ upstreamId: row.upstream_id, displayName: row.display_name }),
);

export const setUpstreamOfOrganization = command((db, p: { organizationId: string; upstreamId: string }) =>
  db
    .insertInto('organization_upstream')
    .values({ organization_id: p.organizationId, upstream_id: p.upstreamId })
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet({ upstream_id: p.upstreamId })),
);

export const clearUpstreamOfOrganization = command((db, p: { organizationId: string }) =>
  db.deleteFrom('organization_upstream').where('organization_id', '=', p.organizationId),
);

/** The organizations whose members are let in only through an active upstream, each with that. */
export const listActiveOnly = many(
  (db, _p: object) =>
    db
      .selectFrom('organization_upstream as o')
      .innerJoin('upstream as u', 'u.id', 'o.upstream_id')
      .innerJoin('organization as n', 'n.id', 'o.organization_id')
      .select(['n.id', 'n.name as organization', 'u.name', 'u.display_name'])
      .where('u.status', '=', 'active'),
  (row) => ({
    id: row.id,
    organization: row.organization,
    upstream: { name: row.name, displayName: row.display_name },
  }),
);

/** The organizations that name an upstream. */
export const organizationsOfUpstream = many(
  (db, p: { upstreamId: string }) =>
    db.selectFrom('organization_upstream').select('organization_id').where('upstream_id', '=', p.upstreamId),
  (row) => row.organization_id,
);

/** Through which upstream the latest sign-in at one came in a session, of which others may remain; undefined where there was none. */
export const latestUpstreamOfSession = one(
  (db, p: { accountId: string; sid: string }) =>
    db
      .selectFrom('upstream_session')
      .select('upstream_id')
      .where('account_id', '=', p.accountId)
      .where('sid', '=', p.sid)
      // Every sign-in sets it, to the same time ahead.
      .orderBy('expires_at', 'desc')
      .limit(1),
  (row) => row.upstream_id,
);
