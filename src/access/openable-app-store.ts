import { sql } from 'kysely';
import { decoder, many, plain, storedField, type Values } from '../platform/database/statement.ts';

const OPENABLE = {
  id: storedField('id', plain<string>()),
  name: storedField('name', plain<string>()),
  picture: storedField('picture', plain<string | null>()),
  homepageUrl: storedField('homepage_url', plain<string>()),
};

/** An app with a home page that a person may open. */
export interface OpenableApp extends Values<typeof OPENABLE> {}

/**
 * The apps with a home page that a person uses or is assigned to, by name. Those that no operator registered or accepted are left out: a
 * stranger chose their address. Among the apps for assigned people, only those that the person may use now.
 */
export const listOpenableApps = many((db, { accountId, limit }: { accountId: string; limit: number }) => {
  const usable = sql<boolean>`(c.status = 'active' and c.id in (
      select g.client_id from consent_grant as g where g.account_id = ${accountId} and g.revoked_at is null
    ) or c.status = 'assigned' and c.id in (
      select s.client_id from app_assignment as s where s.account_id = ${accountId} and s.ended_at is null
      union select s.client_id from group_member as m inner join app_assignment as s on s.group_id = m.group_id
        where m.account_id = ${accountId} and s.ended_at is null
      union select s.client_id from membership as m inner join app_assignment as s on s.organization_id = m.organization_id
        where m.account_id = ${accountId} and s.ended_at is null
    ))`;
  return db
    .selectFrom('client as c')
    .select(['c.id', 'c.name', 'c.picture', 'c.homepage_url'])
    .where('c.homepage_url', 'is not', null)
    .where((eb) => eb.or([eb('c.registered_by', 'is', null), eb('c.accepted_at', 'is not', null)]))
    .where(usable)
    .orderBy('c.name')
    .orderBy('c.id')
    .limit(limit);
}, decoder(OPENABLE));
