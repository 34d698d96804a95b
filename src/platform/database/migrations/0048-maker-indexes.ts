import { addIndexes } from './kinds.ts';

/** By these, the revocation of an admin key finds what the key handed out. */
export const makerIndexes = addIndexes(
  { name: 'challenge_by_admin_key', table: 'challenge', columns: 'admin_key_id' },
  { name: 'invitation_by_admin_key', table: 'invitation', columns: 'admin_key_id' },
);
