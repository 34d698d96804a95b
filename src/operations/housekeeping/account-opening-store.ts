import type { ExpressionBuilder } from 'kysely';
import { madeByHolder } from '../../account-actions/makers/made-row-store.ts';
import { OPENING_REVIEWED_AFTER, postponeOpeningReview } from '../../accounts/opening-store.ts';
import type { Tables } from '../../platform/database/schema.ts';
import { changes, many, one } from '../../platform/database/statement.ts';
import { reviewed } from './removal.ts';

type OfOpening = ExpressionBuilder<Tables, 'account_opening'>;

/** The account, through which something may still be made. */
const open = (eb: OfOpening) =>
  eb.and([
    eb('account_opening.ended_at', 'is', null),
    eb.exists(eb.selectFrom('account').select('account.id').whereRef('account.id', '=', 'account_opening.account_id')),
  ]);

/** What was made through the account, and what rests on that. */
const made = (eb: OfOpening) => [
  ...madeByHolder(eb.ref('account_opening.account_id')),
  // Only what came later rests on it, so that two do not keep each other for ever.
  eb
    .selectFrom('given_right')
    .select('given_right.id')
    .whereRef('given_right.maker_id', '=', 'account_opening.account_id')
    .whereRef('given_right.given_at', '>', 'account_opening.acted_at'),
  eb
    .selectFrom('account_opening as later')
    .select('later.id')
    .whereRef('later.operator_id', '=', 'account_opening.account_id')
    .whereRef('later.id', '>', 'account_opening.id'),
];

const removeIfUnused = changes((db, p: { id: string }) =>
  db
    .deleteFrom('account_opening')
    .where('id', '=', p.id)
    .where((eb) => eb.and([eb.not(open(eb)), ...made(eb).map((rows) => eb.not(eb.exists(rows)))]))
    .returning('id'),
);

const listDue = many(
  (db, p: { before: number; limit: number }) =>
    db
      .selectFrom('account_opening')
      .select('id')
      .where('review_at', '<=', p.before)
      .orderBy('review_at')
      .orderBy('id', 'desc')
      .limit(p.limit),
  ({ id }) => id,
);

const oldestReview = one(
  (db, p: { before: number }) =>
    db
      .selectFrom('account_opening')
      .select('review_at')
      .where('review_at', '<=', p.before)
      .orderBy('review_at')
      .limit(1),
  (row) => row.review_at,
);

/** Openings of accounts that were taken back or deleted, when nothing is left that was made through them: what would end with the operator is gone. */
export const unusedOpenings = reviewed(
  'account_opening',
  { listDue, removeIfUnused, postpone: postponeOpeningReview, again: OPENING_REVIEWED_AFTER },
  oldestReview,
);
