import { command } from '../platform/database/statement.ts';

/** Leaves a token family to a later review. */
export const postponeReview = command((db, p: { familyId: string; until: number }) =>
  db.updateTable('token_family').set({ review_at: p.until }).where('id', '=', p.familyId),
);
