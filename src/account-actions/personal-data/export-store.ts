import { constant } from '../../platform/database/columns.ts';
import type { Work } from '../../platform/database/database.ts';
import {
  changes,
  columnsOf,
  command,
  decoder,
  many,
  one,
  plain,
  storedField,
  type Values,
} from '../../platform/database/statement.ts';

export type ExportState = 'waiting' | 'ready' | 'failed';

const EXPORT = {
  accountId: storedField('account_id', plain<string>()),
  /** Random; another request has another one. */
  id: storedField('id', plain<string>()),
  /** The account's generation when it was asked for. */
  generation: storedField('generation', plain<string>()),
  state: storedField('state', plain<ExportState>()),
  /** How many pieces are made. */
  pieces: storedField('pieces', plain<number>()),
  /** How many events are in them. */
  events: storedField('events', plain<number>()),
  /** The last event in them; null before the first one, and once there is nothing older. */
  lastEvent: storedField('last_event', plain<string | null>()),
  /** How large the pieces are, before they are encrypted. */
  bytes: storedField('bytes', plain<number>()),
  /** How often the next piece was begun. */
  attempts: storedField('attempts', plain<number>()),
  createdAt: storedField('created_at', plain<number>()),
} as const;

/** What a person asked to take along of their data. */
export type DataExport = Values<typeof EXPORT>;

const COLUMNS = columnsOf(EXPORT);
const toExport: (row: object) => DataExport = decoder(EXPORT);

export const findExport = one(
  (db, p: { accountId: string }) => db.selectFrom('data_export').select(COLUMNS).where('account_id', '=', p.accountId),
  toExport,
);

const removeOf = command((db, p: { accountId: string }) =>
  db.deleteFrom('data_export').where('account_id', '=', p.accountId),
);

const insert = command((db, p: { accountId: string; id: string; generation: string; now: number }) =>
  db.insertInto('data_export').values({
    account_id: p.accountId,
    id: p.id,
    generation: p.generation,
    state: 'waiting',
    pieces: 0,
    events: 0,
    last_event: null,
    bytes: 0,
    attempts: 0,
    due_at: p.now,
    created_at: p.now,
  }),
);

/** Stores a request, inside a unit of work that holds the account's lock. It replaces an earlier one, with what was made for it. */
export function* replaceExport(created: {
  readonly accountId: string;
  readonly id: string;
  readonly generation: string;
  readonly now: number;
}): Work<void> {
  yield* removeOf(created);
  yield* insert(created);
}

/**
 * Claims the export that is due first, for this process alone until the instant `until`. The conditions are repeated outside of the
 * subquery: an update that waited for another node's then finds the row claimed.
 */
export const claimExport = one(
  (db, p: { now: number; until: number }) =>
    db
      .updateTable('data_export')
      .set((eb) => ({ due_at: p.until, attempts: eb('attempts', '+', 1) }))
      .where(
        'account_id',
        'in',
        db
          .selectFrom('data_export')
          .select('account_id')
          // As in the condition of the index `data_export_due`.
          .where('state', '=', constant('waiting'))
          .where('due_at', '<=', p.now)
          .orderBy('due_at')
          .limit(1),
      )
      .where('state', '=', constant('waiting'))
      .where('due_at', '<=', p.now)
      .returning(COLUMNS),
  toExport,
);

export const isExportDue = one((db, p: { now: number }) =>
  db
    .selectFrom('data_export')
    .select('id')
    .where('state', '=', constant('waiting'))
    .where('due_at', '<=', p.now)
    .orderBy('due_at')
    .limit(1),
);

/** Records one more piece, and keeps the claim; false where another process made it, or the export ended. */
export const advanceExport = changes((db, p: Omit<DataExport, 'createdAt' | 'generation'> & { until: number }) =>
  db
    .updateTable('data_export')
    .set((eb) => ({
      state: p.state,
      pieces: eb('pieces', '+', 1),
      events: p.events,
      last_event: p.lastEvent,
      bytes: p.bytes,
      attempts: p.attempts,
      due_at: p.until,
    }))
    .where('account_id', '=', p.accountId)
    .where('id', '=', p.id)
    .where('state', '=', constant('waiting'))
    .where('pieces', '=', p.pieces)
    .returning('id'),
);

export const markExportFailed = command((db, p: { accountId: string; id: string }) =>
  db.updateTable('data_export').set({ state: 'failed' }).where('account_id', '=', p.accountId).where('id', '=', p.id),
);

/** Removes an export with its pieces. */
export const removeExport = command((db, p: { accountId: string; id: string }) =>
  db.deleteFrom('data_export').where('account_id', '=', p.accountId).where('id', '=', p.id),
);

export const insertPiece = command((db, p: { accountId: string; number: number; sealed: string }) =>
  db.insertInto('data_export_piece').values({ account_id: p.accountId, number: p.number, sealed: p.sealed }),
);

/** The pieces from a number on, in order. */
export const listPieces = many(
  (db, p: { accountId: string; from: number; limit: number }) =>
    db
      .selectFrom('data_export_piece')
      .select('sealed')
      .where('account_id', '=', p.accountId)
      .where('number', '>=', p.from)
      .orderBy('number')
      .limit(p.limit),
  (row) => row.sealed,
);

/** Removes what was asked for before an instant. */
export const removeExportsBefore = many((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('data_export')
    .where(
      'account_id',
      'in',
      db.selectFrom('data_export').select('account_id').where('created_at', '<=', p.before).limit(p.limit),
    )
    .returning('id'),
);

/** Removes what ended with the generation of its account. */
export const removeEndedExports = command((db, p: { since: number }) =>
  db
    .deleteFrom('data_export')
    .where(
      'account_id',
      'in',
      db
        .selectFrom('data_export as e')
        .innerJoin('account as a', 'a.id', 'e.account_id')
        .select('e.account_id')
        .where('e.created_at', '>', p.since)
        .whereRef('e.generation', '<>', 'a.generation'),
    ),
);
