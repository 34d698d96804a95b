import { type AliasableExpression, type Kysely, sql } from 'kysely';
import { ACCOUNT_ACTS } from '../../accounts/act-store.ts';
import { CLIENT_ACTS } from '../../clients/act-store.ts';
import { constant } from '../../platform/database/columns.ts';
import type { Tables } from '../../platform/database/schema.ts';
import { many } from '../../platform/database/statement.ts';

/*
 * What an operator made by themselves, for a page: the newest of each part, in one statement. What ends with the operator is found elsewhere
 * (`list-made.ts`): that follows what these made in turn.
 */

interface Columns {
  /** The object that was made or changed; null for a domain. */
  readonly id: string | null;
  readonly name: string | null;
  /** What was done to it, or the role that was given. */
  readonly act: string | null;
  /** The person, group or organization that was let in. */
  readonly holderId: string | null;
  readonly holder: string | null;
  /** When it ended, or will end. */
  readonly endsAt: number | null;
}

export interface MadeRow extends Columns {
  readonly part: MadePart;
}

interface Asked {
  readonly madeBy: string;
  /** How many rows of each part. */
  readonly limit: number;
}

const noId = sql<null>`cast(null as bigint)`;
const noText = sql<null>`cast(null as text)`;
const NO_HOLDER = [noId.as('holderId'), noText.as('holder')] as const;
const NO_END = noId.as('endsAt');
const NO_ACT = noText.as('act');

const keys = (db: Kysely<Tables>, p: Asked) =>
  db
    .selectFrom('admin_key')
    .select(['id', 'name', 'role as act', ...NO_HOLDER])
    .select((eb) => eb.fn.coalesce('revoked_at', 'expires_at').as('endsAt'))
    .where('maker_id', '=', p.madeBy)
    .orderBy('id', 'desc')
    .limit(p.limit);

const roles = (db: Kysely<Tables>, p: Asked) =>
  db
    .selectFrom('operator_grant as g')
    .innerJoin('account as a', 'a.id', 'g.account_id')
    .leftJoin('organization as o', 'o.id', 'g.organization_id')
    .select(['a.id', 'a.username as name', 'g.role as act', 'o.id as holderId', 'o.name as holder'])
    .select('g.expires_at as endsAt')
    .where('g.maker_id', '=', p.madeBy)
    .orderBy('g.id', 'desc')
    .limit(p.limit);

/** Owners and admins of organizations. */
const leads = (db: Kysely<Tables>, p: Asked) =>
  db
    .selectFrom('membership as m')
    .innerJoin('account as a', 'a.id', 'm.account_id')
    .innerJoin('organization as o', 'o.id', 'm.organization_id')
    .select(['a.id', 'a.username as name', 'm.role as act', 'o.id as holderId', 'o.name as holder', NO_END])
    .where('m.role_maker_id', '=', p.madeBy)
    .orderBy('m.id', 'desc')
    .limit(p.limit);

const apps = (db: Kysely<Tables>, p: Asked) =>
  db
    .selectFrom('client_act as act')
    .innerJoin('client as c', 'c.id', 'act.client_id')
    .select(['c.id', 'c.name', 'act.kind as act', ...NO_HOLDER, NO_END])
    .where('act.operator_id', '=', p.madeBy)
    .where('act.kind', 'in', CLIENT_ACTS)
    .orderBy('act.client_id', 'desc')
    .limit(p.limit);

/** Apps that registered themselves with its initial access tokens. */
const registered = (db: Kysely<Tables>, p: Asked) =>
  db
    .selectFrom('initial_access_token as t')
    .innerJoin('client as c', 'c.initial_token_id', 't.id')
    .select(['c.id', 'c.name', constant('registered').as('act'), ...NO_HOLDER, NO_END])
    .where('t.admin_key_id', '=', p.madeBy)
    .orderBy('c.id', 'desc')
    .limit(p.limit);

const upstreams = (db: Kysely<Tables>, p: Asked) =>
  db
    .selectFrom('upstream_act as act')
    .innerJoin('upstream as u', 'u.id', 'act.upstream_id')
    .select(['u.id', 'u.display_name as name', 'act.kind as act', ...NO_HOLDER, NO_END])
    .where('act.operator_id', '=', p.madeBy)
    .where('act.kind', '!=', 'status')
    .orderBy('act.upstream_id', 'desc')
    .limit(p.limit);

/** Domains that were unblocked for apps that register themselves. */
const domains = (db: Kysely<Tables>, p: Asked) =>
  db
    .selectFrom('unblocked_client_domain')
    .select([noId.as('id'), 'domain as name', NO_ACT, ...NO_HOLDER, NO_END])
    .where('operator_id', '=', p.madeBy)
    .limit(p.limit);

/** What was changed of apps, organizations and groups that may let somebody in. */
const settings = (db: Kysely<Tables>, p: Asked) =>
  db.selectFrom('setting_change as s').where('s.operator_id', '=', p.madeBy).orderBy('s.id', 'desc').limit(p.limit);

const appSettings = (db: Kysely<Tables>, p: Asked) =>
  settings(db, p)
    .innerJoin('client as c', 'c.id', 's.client_id')
    .select(['c.id', 'c.name', 's.changes as act', ...NO_HOLDER, NO_END]);

const organizationSettings = (db: Kysely<Tables>, p: Asked) =>
  settings(db, p)
    .innerJoin('organization as o', 'o.id', 's.organization_id')
    .select(['o.id', 'o.name', 's.changes as act', ...NO_HOLDER, NO_END]);

const groupSettings = (db: Kysely<Tables>, p: Asked) =>
  settings(db, p)
    .innerJoin('user_group as g', 'g.id', 's.group_id')
    .select(['g.id', 'g.display_name as name', 's.changes as act', ...NO_HOLDER, NO_END]);

const accounts = (db: Kysely<Tables>, p: Asked) =>
  db
    .selectFrom('account_act as act')
    .innerJoin('account as a', 'a.id', 'act.account_id')
    .select(['a.id', 'a.username as name', 'act.kind as act', ...NO_HOLDER, NO_END])
    .where('act.operator_id', '=', p.madeBy)
    .where('act.kind', 'in', ACCOUNT_ACTS)
    .orderBy('act.id', 'desc')
    .limit(p.limit);

/** What happened to accounts through other providers by what was done to these. */
const effects = (db: Kysely<Tables>, p: Asked) =>
  db
    .selectFrom('upstream_effect as e')
    .innerJoin('account as a', 'a.id', 'e.account_id')
    .select(['a.id', 'a.username as name', 'e.kind as act', ...NO_HOLDER, NO_END])
    .where('e.operator_id', '=', p.madeBy)
    .orderBy('e.id', 'desc')
    .limit(p.limit);

const assignments = (db: Kysely<Tables>, p: Asked) =>
  db
    .selectFrom('app_assignment as s')
    .innerJoin('client as c', 'c.id', 's.client_id')
    .leftJoin('account as a', 'a.id', 's.account_id')
    .leftJoin('user_group as g', 'g.id', 's.group_id')
    .leftJoin('organization as o', 'o.id', 's.organization_id')
    .select((eb) => ['c.id', 'c.name', NO_ACT, eb.fn.coalesce('a.id', 'g.id', 'o.id').as('holderId')])
    .select((eb) => [eb.fn.coalesce('a.username', 'g.name', 'o.name').as('holder'), NO_END])
    .where('s.maker_id', '=', p.madeBy)
    .where('s.ended_at', 'is', null)
    .orderBy('s.id', 'desc')
    .limit(p.limit);

const groupMembers = (db: Kysely<Tables>, p: Asked) =>
  db
    .selectFrom('group_member as m')
    .innerJoin('user_group as g', 'g.id', 'm.group_id')
    .innerJoin('account as a', 'a.id', 'm.account_id')
    .select(['g.id', 'g.display_name as name', NO_ACT, 'a.id as holderId', 'a.username as holder', NO_END])
    .where('m.maker_id', '=', p.madeBy)
    .orderBy('m.id', 'desc')
    .limit(p.limit);

const members = (db: Kysely<Tables>, p: Asked) =>
  db
    .selectFrom('membership as m')
    .innerJoin('organization as o', 'o.id', 'm.organization_id')
    .innerJoin('account as a', 'a.id', 'm.account_id')
    .select(['o.id', 'o.name', NO_ACT, 'a.id as holderId', 'a.username as holder', NO_END])
    .where('m.maker_id', '=', p.madeBy)
    .orderBy('m.id', 'desc')
    .limit(p.limit);

const PARTS = {
  ...{ keys, roles, leads, apps, registered, upstreams, domains },
  ...{ appSettings, organizationSettings, groupSettings },
  ...{ accounts, effects, assignments, groupMembers, members },
} satisfies Readonly<Record<string, (db: Kysely<Tables>, p: Asked) => AliasableExpression<Columns>>>;
export type MadePart = keyof typeof PARTS;

const part = (db: Kysely<Tables>, p: Asked, name: MadePart) => {
  const rows: AliasableExpression<Columns> = PARTS[name](db, p);
  return db
    .selectFrom(rows.as('made'))
    .select([constant(name).as('part'), 'made.id', 'made.name', 'made.act', 'made.holderId', 'made.holder'])
    .select('made.endsAt');
};

/** What an operator made, the newest of each part first. */
export const listMadeRows = many((db, p: Asked) => {
  const [first, ...others] = (Object.keys(PARTS) as MadePart[]).map((name) => part(db, p, name));
  if (first === undefined) throw new Error('nothing can be made');
  return others.reduce((all, next) => all.unionAll(next), first);
});
