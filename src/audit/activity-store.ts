import { sql } from 'kysely';
import { constant, negated } from '../platform/database/columns.ts';
import { many } from '../platform/database/statement.ts';
import { type ActivityType, activityTypes } from './audit.ts';

/** An event of an account, as its owner sees it. */
export interface Activity {
  readonly id: string;
  readonly at: number;
  readonly type: ActivityType;
  /** Who acted, such as `user` or `admin`. */
  readonly actor: string;
  /** The app that it is about; null where there is none, or it was deleted. */
  readonly app: string | null;
  readonly address: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

/** As in the condition of the index `audit_event_of_account`: another condition would go through all events. Never changed. */
const NOT_INDEXED = [
  'authorization.issued',
  'token.issued',
  'token.refreshed',
  'token.repeated',
  'token.refused',
  'token.revoked',
] as const;

/** The `before` of the newest events. */
export const NEWEST_ACTIVITY = '9223372036854775807';

/** Events of an account before one, newest first. */
export const listActivity = many(
  (db, p: { accountId: string; before: string; limit: number }) =>
    db
      .selectFrom('audit_event as e')
      .leftJoin('client as c', 'c.id', 'e.client_id')
      .select(['e.id', 'e.at', 'e.type', 'e.actor_type', 'e.address', 'e.details', 'c.name'])
      .where('e.account_id', '=', p.accountId)
      .where(negated('e.id'), '>', sql<number>`-cast(${p.before} as bigint)`)
      .where('e.type', 'not in', NOT_INDEXED.map(constant))
      .where('e.type', 'in', activityTypes.map(constant))
      .orderBy(negated('e.id'))
      .limit(p.limit),
  (row): Activity => ({
    id: row.id,
    at: row.at,
    type: row.type as ActivityType,
    actor: row.actor_type,
    app: row.name,
    address: row.address,
    details: JSON.parse(row.details) as Activity['details'],
  }),
);
