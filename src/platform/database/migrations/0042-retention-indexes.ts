import { addIndexes } from './kinds.ts';

/** By these, housekeeping finds token families to review, and sessions that were not used for long. */
export const retentionIndexes = addIndexes(
  { name: 'token_family_by_review', table: 'token_family', columns: 'review_at' },
  { name: 'browser_session_by_last_use', table: 'browser_session', columns: 'last_seen_at' },
);
