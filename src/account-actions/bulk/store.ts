import { constant } from '../../platform/database/columns.ts';
import { forNoKeyUpdate, forShare } from '../../platform/database/row-locks.ts';
import {
  changes,
  columnsOf,
  command,
  decoder,
  encode,
  json,
  many,
  one,
  plain,
  storedField,
  type Values,
} from '../../platform/database/statement.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import type { BulkActName, BulkParameters } from './acts.ts';
import type { BulkActTable } from './tables.ts';

/**
 * What state an act is in: its list waits for the operator, it runs, or it has ended, with everybody or before. What ends the role or the
 * session of the operator ends the act.
 */
export type BulkState = 'frozen' | 'running' | 'finished' | 'stopped' | 'role ended' | 'session ended';

/** What became of a person: `nothing` where the act would have changed nothing, `failed` where the server made a mistake. */
export type Outcome = 'waiting' | 'done' | 'nothing' | 'refused' | 'failed';

const BULK_ACT = {
  id: storedField('id', plain<string>()),
  /** The operator. */
  accountId: storedField('account_id', plain<string>()),
  /** The public name of their session: a fresh proof keeps it. */
  sid: storedField('sid', plain<string>()),
  act: storedField('act', plain<BulkActName>()),
  parameters: storedField('parameters', json<BulkParameters>()),
  /** The request that began it, for the events. */
  origin: storedField('origin', json<Origin>()),
  state: storedField('state', plain<BulkState>()),
  /** How many names in the pasted list were nobody's. */
  unknown: storedField('unknown', plain<number>()),
  /** How many people were on the list; 0 while that is made. */
  total: storedField('total', plain<number>()),
  dueAt: storedField('due_at', plain<number>()),
  createdAt: storedField('created_at', plain<number>()),
  endedAt: storedField('ended_at', plain<number | null>()),
} as const;

/** An act of an operator on many people. */
export type BulkAct = Values<typeof BULK_ACT>;

const COLUMNS = columnsOf(BULK_ACT);
const toBulkAct: (row: object) => BulkAct = decoder(BULK_ACT);

const insert = command((db, p: BulkActTable) =>
  db.insertInto('bulk_act').values({
    id: p.id,
    account_id: p.account_id,
    sid: p.sid,
    act: p.act,
    parameters: p.parameters,
    origin: p.origin,
    state: p.state,
    unknown: p.unknown,
    total: p.total,
    due_at: p.due_at,
    created_at: p.created_at,
    ended_at: p.ended_at,
  }),
);
export const insertBulkAct = (act: BulkAct) => insert(encode(BULK_ACT, act));

/** An act of this operator: nobody sees another's list. */
export const findBulkAct = one(
  (db, p: { id: string; accountId: string }) =>
    db.selectFrom('bulk_act').select(COLUMNS).where('id', '=', p.id).where('account_id', '=', p.accountId),
  toBulkAct,
);
/** The same, locked until the unit of work ends. */
export const lockBulkAct = one(
  (db, p: { id: string; accountId: string }) =>
    db
      .selectFrom('bulk_act')
      .select(COLUMNS)
      .where('id', '=', p.id)
      .where('account_id', '=', p.accountId)
      .$call(forNoKeyUpdate),
  toBulkAct,
);

/** The newest acts of an operator. */
export const listBulkActs = many(
  (db, p: { accountId: string; limit: number }) =>
    db
      .selectFrom('bulk_act')
      .select(COLUMNS)
      .where('account_id', '=', p.accountId)
      .orderBy('id', 'desc')
      .limit(p.limit),
  toBulkAct,
);

/** A running act that does not end before the unit of work does. */
export const holdRunning = one((db, p: { id: string }) =>
  db
    .selectFrom('bulk_act')
    .select('id')
    .where('id', '=', p.id)
    .where('state', '=', constant('running'))
    .$call(forShare),
);

/** Says that the list is complete. */
export const completeList = command((db, p: { id: string; total: number }) =>
  db.updateTable('bulk_act').set({ total: p.total }).where('id', '=', p.id),
);

/** Begins an act, which the unit of work has locked. */
export const beginBulkAct = command((db, p: { id: string; sid: string; origin: string; now: number }) =>
  db
    .updateTable('bulk_act')
    .set({ state: 'running', sid: p.sid, origin: p.origin, due_at: p.now })
    .where('id', '=', p.id),
);

/** Ends an act that runs; false where it ended before. */
export const endBulkAct = changes((db, p: { id: string; state: string; now: number }) =>
  db
    .updateTable('bulk_act')
    .set({ state: p.state, ended_at: p.now })
    .where('id', '=', p.id)
    .where('state', '=', constant('running'))
    .returning('id'),
);

export const isBulkActDue = one((db, p: { now: number }) =>
  db
    .selectFrom('bulk_act')
    .select('id')
    .where('state', '=', constant('running'))
    .where('due_at', '<=', p.now)
    .orderBy('due_at')
    .limit(1),
);

/** Claims the act that is due first, for this process alone until the instant `until`. */
export const claimBulkAct = one(
  (db, p: { now: number; until: number }) =>
    db
      .updateTable('bulk_act')
      .set({ due_at: p.until })
      .where(
        'id',
        'in',
        db
          .selectFrom('bulk_act')
          .select('id')
          .where('state', '=', constant('running'))
          .where('due_at', '<=', p.now)
          .orderBy('due_at')
          .limit(1),
      )
      // Repeated: an update that waited for another node's then finds the row claimed.
      .where('state', '=', constant('running'))
      .where('due_at', '<=', p.now)
      .returning(COLUMNS),
  toBulkAct,
);

/** Keeps the claim until an instant, or gives it up; false where the act ended meanwhile. */
export const keepClaim = changes((db, p: { id: string; until: number }) =>
  db
    .updateTable('bulk_act')
    .set({ due_at: p.until })
    .where('id', '=', p.id)
    .where('state', '=', constant('running'))
    .returning('id'),
);

export const insertBulkPerson = command(
  (db, p: { id: string; number: number; accountId: string; outcome: string; reason: string | null }) =>
    db.insertInto('bulk_act_person').values({
      bulk_act_id: p.id,
      number: p.number,
      account_id: p.accountId,
      outcome: p.outcome,
      reason: p.reason,
    }),
);

/** Notes what became of a person who waits; false for one of whom it was noted before. */
export const settlePerson = changes((db, p: { id: string; number: number; outcome: string; reason: string | null }) =>
  db
    .updateTable('bulk_act_person')
    .set({ outcome: p.outcome, reason: p.reason })
    .where('bulk_act_id', '=', p.id)
    .where('number', '=', p.number)
    .where('outcome', '=', constant('waiting'))
    .returning('number'),
);

/** The next people who wait. */
export const listWaiting = many(
  (db, p: { id: string; limit: number }) =>
    db
      .selectFrom('bulk_act_person')
      .select(['number', 'account_id'])
      .where('bulk_act_id', '=', p.id)
      .where('outcome', '=', constant('waiting'))
      .orderBy('number')
      .limit(p.limit),
  ({ number, account_id }) => ({ number, accountId: account_id }),
);

/** A person on a list, as it is shown. */
export interface ListedPerson {
  readonly number: number;
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  readonly outcome: Outcome;
  readonly reason: string | null;
}

interface PeoplePage {
  readonly id: string;
  readonly after: number;
  readonly limit: number;
}

const toListedPerson = (row: Omit<ListedPerson, 'outcome'> & { readonly outcome: string }): ListedPerson => ({
  ...row,
  outcome: row.outcome as Outcome,
});

const SHOWN = [
  ...(['p.number', 'p.account_id as id', 'p.outcome', 'p.reason'] as const),
  ...(['a.username', 'a.display_name as displayName'] as const),
] as const;

const listAll = many(
  (db, p: PeoplePage) =>
    db
      .selectFrom('bulk_act_person as p')
      .innerJoin('account as a', 'a.id', 'p.account_id')
      .select(SHOWN)
      .where('p.bulk_act_id', '=', p.id)
      .where('p.number', '>', p.after)
      .orderBy('p.number')
      .limit(p.limit),
  toListedPerson,
);
const listOfOutcome = many(
  (db, p: PeoplePage & { outcome: string }) =>
    db
      .selectFrom('bulk_act_person as p')
      .innerJoin('account as a', 'a.id', 'p.account_id')
      .select(SHOWN)
      .where('p.bulk_act_id', '=', p.id)
      .where('p.outcome', '=', p.outcome)
      .where('p.number', '>', p.after)
      .orderBy('p.number')
      .limit(p.limit),
  toListedPerson,
);

/** The people on a list after one of them: all, or those with an outcome. */
export const listBulkPeople = ({ outcome, ...page }: PeoplePage & { readonly outcome?: Outcome | undefined }) =>
  outcome === undefined ? listAll(page) : listOfOutcome({ ...page, outcome });

/** How many people have each outcome. */
export const countOutcomes = many((db, p: { id: string }) =>
  db
    .selectFrom('bulk_act_person')
    .select((eb) => ['outcome', eb.fn.countAll<number>().as('count')])
    .where('bulk_act_id', '=', p.id)
    .groupBy('outcome'),
);

/** Removes what was made before an instant. */
export const removeBulkActsBefore = many((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('bulk_act')
    .where(
      'id',
      'in',
      db.selectFrom('bulk_act').select('id').where('created_at', '<=', p.before).orderBy('created_at').limit(p.limit),
    )
    .returning('id'),
);

/** Removes lists that were made before an instant and never used. */
export const removeUnusedBefore = many((db, p: { before: number; limit: number }) =>
  db
    .deleteFrom('bulk_act')
    .where(
      'id',
      'in',
      db
        .selectFrom('bulk_act')
        .select('id')
        .where('created_at', '<=', p.before)
        .where('state', '=', constant('frozen'))
        .orderBy('created_at')
        .limit(p.limit),
    )
    .returning('id'),
);
