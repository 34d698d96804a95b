import type { ExpressionBuilder } from 'kysely';
import { madeByHolder } from '../../account-actions/makers/made-row-store.ts';
import { postponeRightReview, RIGHT_REVIEWED_AFTER } from '../../operators/given-right-store.ts';
import type { Tables } from '../../platform/database/schema.ts';
import { changes, many, one } from '../../platform/database/statement.ts';
import { reviewed } from './removal.ts';

type OfRight = ExpressionBuilder<Tables, 'given_right'>;

/** The right itself, where its holder has it. A key that was revoked stays listed, and so does what it rests on. */
const held = (eb: OfRight) => [
  eb.selectFrom('admin_key').select('admin_key.id').whereRef('admin_key.id', '=', 'given_right.holder_id'),
  eb
    .selectFrom('operator_grant')
    .select('operator_grant.id')
    .whereRef('operator_grant.account_id', '=', 'given_right.holder_id')
    .whereRef('operator_grant.maker_id', '=', 'given_right.maker_id'),
  eb
    .selectFrom('membership')
    .select('membership.id')
    .whereRef('membership.account_id', '=', 'given_right.holder_id')
    .whereRef('membership.role_maker_id', '=', 'given_right.maker_id'),
];

/** What its holder made, and what rests on the holder. */
const made = (eb: OfRight) => [
  ...madeByHolder(eb.ref('given_right.holder_id')),
  // Each right comes after what it rests on, so that two who gave each other rights do not keep them for ever.
  eb
    .selectFrom('given_right as later')
    .select('later.id')
    .whereRef('later.maker_id', '=', 'given_right.holder_id')
    .whereRef('later.id', '>', 'given_right.id'),
  eb
    .selectFrom('account_opening')
    .select('account_opening.id')
    .whereRef('account_opening.operator_id', '=', 'given_right.holder_id')
    .whereRef('account_opening.acted_at', '>=', 'given_right.given_at'),
];

const removeIfUnused = changes((db, p: { id: string }) =>
  db
    .deleteFrom('given_right')
    .where('id', '=', p.id)
    .where((eb) => eb.and([...held(eb), ...made(eb)].map((rows) => eb.not(eb.exists(rows)))))
    .returning('id'),
);

const listDue = many(
  (db, p: { before: number; limit: number }) =>
    db
      .selectFrom('given_right')
      .select('id')
      .where('review_at', '<=', p.before)
      .orderBy('review_at')
      .orderBy('id', 'desc')
      .limit(p.limit),
  ({ id }) => id,
);

const oldestReview = one(
  (db, p: { before: number }) =>
    db.selectFrom('given_right').select('review_at').where('review_at', '<=', p.before).orderBy('review_at').limit(1),
  (row) => row.review_at,
);

/** Rights that operators gave, when they have ended and nothing is left that their holders made: what would end with the operator is gone. */
export const unusedRights = reviewed(
  'given_right',
  { listDue, removeIfUnused, postpone: postponeRightReview, again: RIGHT_REVIEWED_AFTER },
  oldestReview,
);
