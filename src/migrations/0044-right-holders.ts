import { addIndexes } from '../platform/database/migrations/kinds.ts';

/** Who held a right once is found by themselves, and not only by who gave it. */
export const rightHolders = addIndexes({ name: 'given_right_by_holder', table: 'given_right', columns: 'holder_id' });
