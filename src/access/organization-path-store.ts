import { many } from '../platform/database/statement.ts';

/** The assignments of an app to an organization, or to one of its groups. */
export const assignmentsOfOrganizationAmong = many(
  (db, p: { clientId: string; organizationId: string }) =>
    db
      .selectFrom('app_assignment as s')
      .leftJoin('user_group as g', 'g.id', 's.group_id')
      .select('s.id')
      .where('s.client_id', '=', p.clientId)
      .where('s.ended_at', 'is', null)
      .where((eb) =>
        eb.or([eb('s.organization_id', '=', p.organizationId), eb('g.organization_id', '=', p.organizationId)]),
      ),
  (row) => row.id,
);
