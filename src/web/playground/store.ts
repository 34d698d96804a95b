import { pick } from '../../platform/database/columns.ts';
import type { Work } from '../../platform/database/database.ts';
import {
  changes,
  columnsOf,
  command,
  decoder,
  encode,
  one,
  plain,
  storedField,
  type Values,
} from '../../platform/database/statement.ts';
import type { PlaygroundVisitTable } from './tables.ts';

const SESSION = {
  browserHash: storedField('browser_hash', plain<string>()),
  clientId: storedField('client_id', plain<string>()),
  /** Incremented by every action. */
  turn: storedField('turn', plain<number>()),
  sealed: storedField('sealed', plain<string>()),
  expiresAt: storedField('expires_at', plain<number>()),
} as const;

/** A session as stored: its content is sealed. */
export type PlaygroundSessionRecord = Values<typeof SESSION>;

const COLUMNS = columnsOf(SESSION);

/** Finds the session of a browser, expired or not. */
export const findPlaygroundSession = one(
  (db, p: { browserHash: string }) =>
    db.selectFrom('playground_visit').select(COLUMNS).where('browser_hash', '=', p.browserHash),
  decoder(SESSION),
);

const insert = command((db, p: PlaygroundVisitTable) => db.insertInto('playground_visit').values(pick(p, COLUMNS)));

/**
 * Adds the session of a browser that has none. If another one was started at the same moment, the insert fails and the unit of
 * work runs again, so that it also deletes the other session's app.
 */
export const addPlaygroundSession = (session: PlaygroundSessionRecord): Work<void> => insert(encode(SESSION, session));

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
