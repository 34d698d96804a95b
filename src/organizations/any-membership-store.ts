import type { Kysely } from 'kysely';
import { forKeyShare } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import { one } from '../platform/database/statement.ts';

const anyMembership = (db: Kysely<Tables>, p: { accountId: string }) =>
  db.selectFrom('membership').select('id').where('account_id', '=', p.accountId).orderBy('id').limit(1);

/** The id of a membership of a person; undefined where they are a member of no organization. */
export const findAnyMembership = one(anyMembership, ({ id }) => id);

/** {@link findAnyMembership}, of one that does not end before the unit of work does. */
export const holdAnyMembership = one(
  (db, p: { accountId: string }) => anyMembership(db, p).$call(forKeyShare),
  ({ id }) => id,
);
