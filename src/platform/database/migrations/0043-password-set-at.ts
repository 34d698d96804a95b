import type { Statements } from './kinds.ts';

/** When the password was set; null since the account was created, or for longer than this is recorded. */
export const passwordSetAt: Statements = ({ int }) => [`ALTER TABLE account ADD COLUMN password_set_at ${int}`];
