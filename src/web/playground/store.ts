import { changes, command, one } from '../../platform/database/statement.ts';

/** A session as stored: its content is sealed. */
export interface PlaygroundSessionRecord {
  readonly browserHash: string;
  readonly clientId: string;
  /** Incremented by every action. */
  readonly turn: number;
  readonly sealed: string;
  readonly expiresAt: number;
}

/** Finds the session of a browser, expired or not. */
export const findPlaygroundSession = one(
  (db, p: { browserHash: string }) =>
    db
      .selectFrom('playground_visit')
      .select(['browser_hash', 'client_id', 'turn', 'sealed', 'expires_at'])
      .where('browser_hash', '=', p.browserHash),
  (row): PlaygroundSessionRecord => ({
    browserHash: row.browser_hash,
    clientId: row.client_id,
    turn: row.turn,
    sealed: row.sealed,
    expiresAt: row.expires_at,
  }),
);

/**
 * Adds the session of a browser that has none. If another one was started at the same moment, the insert fails and the unit of
 * work runs again, so that it also deletes the other session's app.
 */
export const addPlaygroundSession = command((db, p: PlaygroundSessionRecord) =>
  db.insertInto('playground_visit').values({
    browser_hash: p.browserHash,
    client_id: p.clientId,
    turn: p.turn,
    sealed: p.sealed,
    expires_at: p.expiresAt,
  }),
);

/** Claims the next turn of a session; of several callers at the same turn one succeeds. */
export const claimTurn = changes((db, p: Pick<PlaygroundSessionRecord, 'browserHash' | 'clientId' | 'turn'>) =>
  db
    .updateTable('playground_visit')
    .set((eb) => ({ turn: eb('turn', '+', 1) }))
    .where('browser_hash', '=', p.browserHash)
    .where('client_id', '=', p.clientId)
    .where('turn', '=', p.turn)
    .returning('turn'),
);

/** Saves the result of a turn, unless the session has moved on or was deleted. */
export const saveTurn = command((db, p: Omit<PlaygroundSessionRecord, 'expiresAt'>) =>
  db
    .updateTable('playground_visit')
    .set({ sealed: p.sealed })
    .where('browser_hash', '=', p.browserHash)
    .where('client_id', '=', p.clientId)
    .where('turn', '=', p.turn),
);
