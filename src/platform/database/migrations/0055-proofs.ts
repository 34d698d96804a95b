import type { Statements } from './kinds.ts';

/**
 * With what a session was proved last: when that factor was set up, and the account's last change by then. Null in a session that an
 * earlier version made: such a proof is never taken for one by an older factor.
 */
export const proofs: Statements = ({ int }) => [
  `ALTER TABLE browser_session ADD COLUMN proved_factor_since ${int}`,
  `ALTER TABLE browser_session ADD COLUMN proved_after ${int}`,
];
