import type { Work } from '../../platform/database/database.ts';
import { first, run, statement } from '../../platform/database/statement.ts';

/** A visit as it is stored: what it holds is sealed. */
export interface StoredVisit {
  readonly browserHash: string;
  readonly clientId: string;
  readonly turn: number;
  readonly sealed: string;
  readonly expiresAt: number;
}

const ofBrowser = statement((db, p: { browserHash: string }) =>
  db
    .selectFrom('playground_visit')
    .select(['client_id', 'turn', 'sealed', 'expires_at'])
    .where('browser_hash', '=', p.browserHash),
);
const insert = statement((db, p: StoredVisit) =>
  db.insertInto('playground_visit').values({
    browser_hash: p.browserHash,
    client_id: p.clientId,
    turn: p.turn,
    sealed: p.sealed,
    expires_at: p.expiresAt,
  }),
);
const advance = statement((db, p: { browserHash: string; clientId: string; turn: number }) =>
  db
    .updateTable('playground_visit')
    .set((eb) => ({ turn: eb('turn', '+', 1) }))
    .where('browser_hash', '=', p.browserHash)
    .where('client_id', '=', p.clientId)
    .where('turn', '=', p.turn)
    .returning('turn'),
);
const update = statement((db, p: { browserHash: string; clientId: string; turn: number; sealed: string }) =>
  db
    .updateTable('playground_visit')
    .set({ sealed: p.sealed })
    .where('browser_hash', '=', p.browserHash)
    .where('client_id', '=', p.clientId)
    .where('turn', '=', p.turn),
);

/** The visit of a browser, at whatever age. */
export function* findVisit(browserHash: string): Work<StoredVisit | undefined> {
  const row = yield* first(ofBrowser, { browserHash });
  return (
    row && {
      browserHash,
      clientId: row.client_id,
      turn: row.turn,
      sealed: row.sealed,
      expiresAt: row.expires_at,
    }
  );
}

/**
 * Adds the visit of a browser that has none. Where one was begun in the same moment this fails, and the unit of work runs again:
 * otherwise the app of the other would be left behind.
 */
export function* addVisit(visit: StoredVisit): Work<void> {
  yield* run(insert, visit);
}

/** Takes the next turn of a visit; of several who try from the same turn one gets it. */
export function* takeTurn(visit: Pick<StoredVisit, 'browserHash' | 'clientId' | 'turn'>): Work<boolean> {
  return (yield* first(advance, visit)) !== undefined;
}

/** Keeps what a turn has brought; harmless where the visit has gone on, or is gone. */
export function* keepTurn(visit: Omit<StoredVisit, 'expiresAt'>): Work<void> {
  yield* run(update, visit);
}
