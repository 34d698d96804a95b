import type { Work } from '../platform/database/database.ts';
import { first, statement } from '../platform/database/statement.ts';

const insert = statement((db, p: { hash: string; expiresAt: number }) =>
  db
    .insertInto('client_assertion')
    .values({ hash: p.hash, expires_at: p.expiresAt })
    .onConflict((conflict) => conflict.doNothing())
    .returning('hash'),
);

/**
 * Uses up an assertion, for all nodes of a database: one statement that tells whether it was the first use.
 * @param hash of its client and `jti`
 * @param expiresAt until when it must not be used again
 */
export function* spendAssertion(hash: string, expiresAt: number): Work<boolean> {
  return (yield* first(insert, { hash, expiresAt })) !== undefined;
}
