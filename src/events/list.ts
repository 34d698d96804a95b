import * as Type from 'typebox/type';
import type { Database, Work } from '../database/database.ts';
import { all, statement } from '../database/statement.ts';
import { Id, Instant, orNull } from '../http/operation.ts';
import { type EventType, eventTypes } from './audit.ts';

/** A recorded event, as operators see it. */
export interface RecordedEvent {
  readonly id: string;
  readonly at: string;
  readonly type: EventType;
  readonly outcome: string;
  readonly actor: { readonly type: string; readonly id: string | null };
  readonly userId: string | null;
  readonly clientId: string | null;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly details: unknown;
}

/** The shape of {@link RecordedEvent}. */
export const EventRecord = Type.Object(
  {
    id: Id,
    at: Instant,
    type: Type.Unsafe<EventType>({ enum: Object.keys(eventTypes) }),
    outcome: Type.Unsafe<string>({ enum: ['success', 'failure'] }),
    actor: Type.Object({
      type: Type.Unsafe<string>({ enum: ['user', 'client', 'admin', 'cli', 'system', 'anonymous'] }),
      id: orNull(Id),
    }),
    userId: orNull(Id),
    clientId: orNull(Id),
    address: orNull(Type.String(), 'Where the request came from.'),
    requestId: orNull(Type.String(), 'The correlation id of the request.'),
    details: Type.Object({}, { additionalProperties: true }),
  },
  { title: 'AuditEvent' },
);

export interface EventQuery {
  /** Events newer than this one; `0` is the start. */
  readonly after: string;
  readonly limit: number;
  readonly type: string;
  readonly userId: string;
  readonly clientId: string;
}

const page = statement((db, p: EventQuery) =>
  db
    .selectFrom('audit_event')
    .selectAll()
    .where('id', '>', p.after)
    // An empty filter lets everything through; ids are never 0.
    .where((eb) => eb.or([eb(eb.val(p.type), '=', ''), eb('type', '=', p.type)]))
    .where((eb) => eb.or([eb(eb.val(p.userId), '=', '0'), eb('account_id', '=', p.userId)]))
    .where((eb) => eb.or([eb(eb.val(p.clientId), '=', '0'), eb('client_id', '=', p.clientId)]))
    .orderBy('id')
    .limit(p.limit),
);

function* listWork(query: EventQuery): Work<RecordedEvent[]> {
  const rows = yield* all(page, query);
  return rows.map((row) => ({
    id: row.id,
    at: new Date(row.at).toISOString(),
    type: row.type as EventType,
    outcome: row.outcome,
    actor: { type: row.actor_type, id: row.actor_id },
    userId: row.account_id,
    clientId: row.client_id,
    address: row.address,
    requestId: row.request_id,
    details: JSON.parse(row.details) as unknown,
  }));
}

/** Events in the order in which they were recorded. */
export const listEvents = (database: Database, query: EventQuery): Promise<RecordedEvent[]> =>
  database.read(() => listWork(query));
