import type { Insertable, Kysely } from 'kysely';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import {
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
} from '../platform/database/statement.ts';
import type { StepFacts, StepName } from './step.ts';
import type { TraceStepTable } from './tables.ts';

const STEP = {
  id: storedField('id', plain<string>()),
  at: storedField('at', plain<number>()),
  requestId: storedField('request_id', plain<string>()),
  clientId: storedField('client_id', plain<string | null>()),
  accountId: storedField('account_id', plain<string | null>()),
  step: storedField('step', plain<StepName>()),
  outcome: storedField('outcome', plain<'success' | 'failure'>()),
  flow: storedField('flow', plain<string | null>()),
  leadsTo: storedField('leads_to', plain<string | null>()),
  facts: storedField('facts', json<StepFacts>()),
} as const;

/** A recorded step. */
export type StoredStep = Values<typeof STEP>;

const toStep: (row: object) => StoredStep = decoder(STEP);

/** How many rows a search reads for one request or flow. Anyone who holds a code can present it many times. */
const MAX_ROWS = 100;

const select = (db: Kysely<Tables>) =>
  db.selectFrom('trace_step').select(columnsOf(STEP)).orderBy('id', 'desc').limit(MAX_ROWS);

/** The steps of a request, and those before and after something in a flow; the newest first. */
export const stepsOfRequest = many(
  (db, p: { requestId: string }) => select(db).where('request_id', '=', p.requestId),
  toStep,
);
export const stepsAbout = many((db, p: { flow: string }) => select(db).where('flow', '=', p.flow), toStep);
export const stepsLeadingTo = many((db, p: { flow: string }) => select(db).where('leads_to', '=', p.flow), toStep);

const stepsIn = (order: 'asc' | 'desc') => {
  const isAfter = order === 'asc' ? '>' : '<';
  const page = (db: Kysely<Tables>, p: { after: string; limit: number }) =>
    db
      .selectFrom('trace_step')
      .select(columnsOf(STEP))
      .where('id', isAfter, p.after)
      .orderBy('id', order)
      .limit(p.limit);
  return {
    ofAll: many((db, p: { after: string; limit: number }) => page(db, p), toStep),
    ofClient: many(
      (db, p: { after: string; clientId: string; limit: number }) => page(db, p).where('client_id', '=', p.clientId),
      toStep,
    ),
  };
};
const IN_ORDER = { asc: stepsIn('asc'), desc: stepsIn('desc') };

/** Beyond every id, and within the range of a column for one. */
const END = String(2n ** 63n - 1n);

/** Steps of all apps or of one, in the order of their ids or reversed: those after an id, with `0` for the start of either order. */
export const stepsInOrder = ({
  order,
  clientId,
  after,
  limit,
}: {
  readonly after: string;
  readonly clientId: string | null;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}) => {
  const page = { after: order === 'desc' && after === '0' ? END : after, limit };
  return clientId === null ? IN_ORDER[order].ofAll(page) : IN_ORDER[order].ofClient({ ...page, clientId });
};

const { id: _, ...NEW } = STEP;

const insertStep = command((db, p: Insertable<TraceStepTable>) =>
  db.insertInto('trace_step').values(pick(p, [...columnsOf(NEW), 'ring'])),
);

/** Removes what is older than the newest rows of a ring. */
const trimRing = command((db, p: { ring: string; size: number }) =>
  db
    .deleteFrom('trace_step')
    .where('ring', '=', p.ring)
    .where(
      'id',
      '<=',
      db.selectFrom('trace_step').select('id').where('ring', '=', p.ring).orderBy('id', 'desc').limit(1).offset(p.size),
    ),
);

const findClient = one((db, p: { id: string }) => db.selectFrom('client').select('id').where('id', '=', p.id));
const findAccount = one((db, p: { id: string }) => db.selectFrom('account').select('id').where('id', '=', p.id));

/** Which share of its app's steps a step counts against, so that strangers do not displace the app's own. */
export type TraceShare = keyof typeof RING_SIZES;

/** How many rows the ring of each share keeps, the newest ones. A sign-in completes up to six steps. */
export const RING_SIZES = { progress: 2000, first: 200, proved: 500, token: 500, named: 500, elsewhere: 500 } as const;

/** A step that waits to be stored. */
export interface QueuedStep extends Omit<StoredStep, 'id'> {
  readonly share: TraceShare;
}

/**
 * Stores steps, and trims their rings. Clients that do not exist have no ring.
 * @param checkAccounts whether to leave out the steps of accounts that were deleted in the meantime; they violate a constraint
 */
export function* insertSteps(steps: readonly QueuedStep[], checkAccounts: boolean): Work<void> {
  const clients = new Map<string, boolean>();
  const accounts = new Map<string, boolean>();
  const rings = new Map<string, number>();
  for (const { share, ...step } of steps) {
    let { clientId } = step;
    const { accountId } = step;
    if (clientId !== null && !clients.has(clientId)) {
      clients.set(clientId, (yield* findClient({ id: clientId })) !== undefined);
    }
    if (clientId !== null && !clients.get(clientId)) clientId = null;
    if (checkAccounts && accountId !== null && !accounts.has(accountId)) {
      accounts.set(accountId, (yield* findAccount({ id: accountId })) !== undefined);
    }
    if (checkAccounts && accountId !== null && !accounts.get(accountId)) continue;
    const ring = `${clientId ?? '-'} ${share}`;
    rings.set(ring, RING_SIZES[share]);
    yield* insertStep({ ...encode(NEW, { ...step, clientId }), ring });
  }
  for (const [ring, size] of rings) yield* trimRing({ ring, size });
}

const oldestSteps = many((db, p: { limit: number }) =>
  db.selectFrom('trace_step').select(['id', 'at']).orderBy('id').limit(p.limit),
);
const removeThrough = many((db, p: { id: string }) =>
  db.deleteFrom('trace_step').where('id', '<=', p.id).returning('id'),
);

/** Removes the oldest steps, as far as they are from before an instant. @returns how many */
export function* trimSteps({ before, limit }: { readonly before: number; readonly limit: number }): Work<number> {
  const rows = yield* oldestSteps({ limit });
  const kept = rows.findIndex(({ at }) => at > before);
  const last = rows[(kept === -1 ? rows.length : kept) - 1];
  return last === undefined ? 0 : (yield* removeThrough({ id: last.id })).length;
}

/** When the oldest step happened. */
export function* oldestStepAt(): Work<number | undefined> {
  return (yield* oldestSteps({ limit: 1 }))[0]?.at;
}

const ofAccount = (db: Kysely<Tables>, p: { accountId: string }, column: 'flow' | 'leads_to') =>
  db
    .selectFrom('trace_step')
    .select(column)
    .where('account_id', '=', p.accountId)
    .where(column, 'is not', null)
    .$castTo<{ flow: string }>();

const removeFlows = command((db, p: { accountId: string }) =>
  db.deleteFrom('trace_step').where('flow', 'in', ofAccount(db, p, 'flow').union(ofAccount(db, p, 'leads_to'))),
);
const removeOwn = command((db, p: { accountId: string }) =>
  db.deleteFrom('trace_step').where('account_id', '=', p.accountId),
);

/** Removes the steps of an account, those of the same flows in which it was not known yet included. */
export function* eraseTraces(accountId: string): Work<void> {
  yield* removeFlows({ accountId });
  yield* removeOwn({ accountId });
}
