import { changes } from '../../platform/database/statement.ts';

/**
 * Marks an assertion as used, for all nodes of a database. False where it was used before.
 * `hash` is that of its client and `jti`; it is kept until `expiresAt`.
 */
export const useAssertion = changes((db, p: { hash: string; expiresAt: number }) =>
  db
    .insertInto('client_assertion')
    .values({ hash: p.hash, expires_at: p.expiresAt })
    .onConflict((conflict) => conflict.doNothing())
    .returning('hash'),
);
