import { expressionBuilder, type Kysely } from 'kysely';
import { listWithin, type Reached } from '../operators/reach.ts';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import {
  columnsOf,
  command,
  decoder,
  encode,
  many,
  one,
  plain,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import { isReached } from './store.ts';

export type ScopeDecision = 'approved' | 'declined';
/** What became of a request: null while it waits for an operator. It has ended with the rights of who asked. */
export type ScopeRequestOutcome = ScopeDecision | 'ended';

const STORED = {
  id: storedField('id', plain<string>()),
  clientId: storedField('client_id', plain<string>()),
  scope: storedField('scope', plain<string>()),
  /** The resource of the API whose scope it is, as it was typed; null for a scope about the person. */
  resource: storedField('resource', plain<string | null>()),
  reason: storedField('reason', plain<string>()),
  /** The operator who asks, an account or an admin key; null for the command line. */
  askedBy: storedField('asker_id', plain<string | null>()),
  askedAt: storedField('asked_at', plain<number>()),
  outcome: storedField('outcome', plain<ScopeRequestOutcome | null>()),
  /** Null for the command line. */
  decidedBy: storedField('decider_id', plain<string | null>()),
  decidedAt: storedField('decided_at', plain<number | null>()),
  /** Why, in the words of the operator. */
  answer: storedField('answer', plain<string | null>()),
} as const;

/** A scope that the developer of an app asks operators for. */
export type ScopeRequest = Values<typeof STORED>;

const COLUMNS = columnsOf(STORED);
const toRequest: (row: object) => ScopeRequest = decoder(STORED);

const insert = command((db, p: Tables['scope_request']) => db.insertInto('scope_request').values(pick(p, COLUMNS)));

/** How many requests of an app are kept: the newest, of which only so many wait that none of these goes. */
const KEPT_REQUESTS = 50;

const trim = command((db, p: { clientId: string; kept: number }) =>
  db
    .deleteFrom('scope_request')
    .where('client_id', '=', p.clientId)
    .where('outcome', 'is not', null)
    .where('id', 'not in', (eb) =>
      eb
        .selectFrom('scope_request as newer')
        .select('newer.id')
        .where('newer.client_id', '=', p.clientId)
        .orderBy('newer.id', 'desc')
        .limit(p.kept),
    ),
);

/** Stores a request, in a unit of work that has locked the app. */
export function* insertScopeRequest(request: ScopeRequest): Work<void> {
  yield* insert(encode(STORED, request));
  yield* trim({ clientId: request.clientId, kept: KEPT_REQUESTS });
}

const ofClient = (db: Kysely<Tables>) => db.selectFrom('scope_request').select(COLUMNS);

/** A request with the name of who asked; null for an admin key, the command line, and an account that is gone. */
export interface NamedRequest extends ScopeRequest {
  readonly askerName: string | null;
}

const named = (db: Kysely<Tables>) =>
  db
    .selectFrom('scope_request as r')
    .leftJoin('account as a', 'a.id', 'r.asker_id')
    .select(COLUMNS.map((column) => `r.${column}` as const))
    .select('a.username as asker');

const toNamed = (row: { readonly asker: string | null }): NamedRequest => ({
  ...toRequest(row),
  askerName: row.asker,
});

/** A request of an app, which its unit of work has locked if it changes the request. */
export const findScopeRequest = one(
  (db, p: { clientId: string; id: string }) => ofClient(db).where('id', '=', p.id).where('client_id', '=', p.clientId),
  toRequest,
);

/** The requests of an app, the newest first. */
export const listScopeRequests = many(
  (db, p: { clientId: string }) => named(db).where('r.client_id', '=', p.clientId).orderBy('r.id', 'desc'),
  toNamed,
);

/** A request that waits, with the app that it is about. */
export interface WaitingRequest extends NamedRequest {
  readonly appName: string;
  readonly organizationId: string | null;
  readonly developerId: string | null;
}

interface WaitingPage {
  readonly after: string;
  readonly limit: number;
}

/** Requests that wait, without what is asked: to be counted. */
export const waitingRequestRows = (db: Kysely<Tables>, p: { limit: number }) =>
  db
    .selectFrom('scope_request as r')
    .innerJoin('client as c', 'c.id', 'r.client_id')
    .select(['r.id', 'c.name', 'r.asked_at as at'])
    .where('r.outcome', 'is', null)
    .where('r.id', '>', '0')
    .orderBy('r.id')
    .limit(p.limit);

const waiting = (db: Kysely<Tables>, p: WaitingPage) =>
  named(db)
    .innerJoin('client as c', 'c.id', 'r.client_id')
    .select(['c.name', 'c.organization_id', 'c.developer_id'])
    .where('r.outcome', 'is', null)
    .where('r.id', '>', p.after)
    .orderBy('r.id')
    .limit(p.limit);

const toWaiting = (row: {
  readonly name: string;
  readonly asker: string | null;
  readonly organization_id: string | null;
  readonly developer_id: string | null;
}): WaitingRequest => ({
  ...toNamed(row),
  appName: row.name,
  organizationId: row.organization_id,
  developerId: row.developer_id,
});

const waitingOfAll = many((db, p: WaitingPage) => waiting(db, p), toWaiting);
const waitingReached = many(
  (db, p: WaitingPage & Reached) =>
    waiting(db, p).where('c.id', 'in', (eb) =>
      eb.selectFrom('client').select('client.id').where(isReached(expressionBuilder<Tables, 'client'>(), p)),
    ),
  toWaiting,
);

/** The requests that wait, of all apps or of those that an operator reaches, the oldest first. */
export const listWaitingRequests = listWithin({
  order: 'oldest first',
  all: waitingOfAll,
  reached: waitingReached,
});

/** Settles a request that waits. */
export const settleScopeRequest = command(
  (
    db,
    p: {
      id: string;
      outcome: ScopeDecision;
      decidedBy: string | null;
      decidedAt: number;
      answer: string | null;
    },
  ) =>
    db
      .updateTable('scope_request')
      .set({ outcome: p.outcome, decider_id: p.decidedBy, decided_at: p.decidedAt, answer: p.answer })
      .where('id', '=', p.id),
);

/** What somebody asked for at an instant or later, and before another one, and waits. */
export const waitingRequestsOf = many(
  (db, p: { askedBy: string; since: number; until: number }) =>
    db
      .selectFrom('scope_request as r')
      .innerJoin('client as c', 'c.id', 'r.client_id')
      .select(['r.id', 'r.client_id as clientId', 'r.scope', 'r.resource'])
      .select(['c.organization_id as organizationId', 'c.developer_id as developerId'])
      .where('r.asker_id', '=', p.askedBy)
      .where('r.asked_at', '>=', p.since)
      .where('r.asked_at', '<', p.until)
      .where('r.outcome', 'is', null),
  (row) => row,
);

/** Ends a request that waits, for good. */
export const endScopeRequest = command((db, p: { id: string; at: number }) =>
  db.updateTable('scope_request').set({ outcome: 'ended', decided_at: p.at }).where('id', '=', p.id),
);

export const removeScopeRequest = command((db, p: { id: string }) =>
  db.deleteFrom('scope_request').where('id', '=', p.id),
);

/** Removes what a person asked for, with the account. */
export const removeScopeRequestsOf = command((db, p: { askedBy: string }) =>
  db.deleteFrom('scope_request').where('asker_id', '=', p.askedBy),
);
