import { changeRows } from './kinds.ts';

/**
 * Families that can be used get the time of review that a new one gets: five minutes after its refresh token expires. The others keep the
 * zero: their time has come.
 */
export const reviewTimes = changeRows({
  table: 'token_family',
  set: 'review_at = leaf_expires_at + 300000',
  where: ({ now }) => `review_at = 0 AND leaf_expires_at > ${now}`,
});
