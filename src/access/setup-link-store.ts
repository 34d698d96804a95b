import { changes, command, one } from '../platform/database/statement.ts';

/** There is one link at a time. */
const ONLY = '1';

interface SetupLink {
  /** The secret of the link is stored as a hash. */
  readonly hash: string;
  readonly expiresAt: number;
}

/** Makes this the link that works. */
export const saveSetupLink = command((db, p: SetupLink) =>
  db
    .insertInto('setup_link')
    .values({ id: ONLY, hash: p.hash, expires_at: p.expiresAt })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ hash: p.hash, expires_at: p.expiresAt })),
);

/** Whether a link works. */
export const findSetupLink = one((db, p: { hash: string; now: number }) =>
  db
    .selectFrom('setup_link')
    .select('id')
    .where('id', '=', ONLY)
    .where('hash', '=', p.hash)
    .where('expires_at', '>', p.now),
);

/** Ends the link, if there is one. */
export const endSetupLink = command((db, _p: object) => db.deleteFrom('setup_link').where('id', '=', ONLY));

/** Uses a link up; false where it does not work. */
export const spendSetupLink = changes((db, p: { hash: string; now: number }) =>
  db
    .deleteFrom('setup_link')
    .where('id', '=', ONLY)
    .where('hash', '=', p.hash)
    .where('expires_at', '>', p.now)
    .returning('id'),
);
