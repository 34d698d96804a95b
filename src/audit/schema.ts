import { Id, Instant, nullableField } from '../platform/http/operation.ts';
import * as Type from '../platform/validation/type.ts';
import { type ActorType, actorTypes, type EventType, eventTypes } from './audit.ts';

/** An event, as operators see it. */
export const EventRecord = Type.Object(
  {
    id: Id,
    at: Instant,
    type: Type.Unsafe<EventType>({ enum: Object.keys(eventTypes) }),
    outcome: Type.Unsafe<string>({ enum: ['success', 'failure'] }),
    actor: Type.Object({ type: Type.Unsafe<string>({ enum: actorTypes }), id: nullableField(Id) }),
    userId: nullableField(Id),
    clientId: nullableField(Id),
    address: nullableField(Type.String(), 'The IP address that the request came from.'),
    requestId: nullableField(Type.String(), 'The correlation id of the request, or of one run of the command line.'),
    details: Type.Object({}, { additionalProperties: true }),
  },
  { title: 'AuditEvent' },
);

/** The families of types: `sign_in` for `sign_in.failed`. */
const families = [...new Set(Object.keys(eventTypes).map((type) => type.split('.')[0] ?? ''))];
const types = [...new Set([...Object.keys(eventTypes), ...families])];

const oneOf = <T extends string>(names: readonly T[], about: string) =>
  Type.Optional(Type.Unsafe<T>({ enum: names, about, description: `one of ${names.join(', ')}` }));
const id = (about: string) => Type.Optional(Type.String({ format: 'id', about, description: 'an id' }));
const instant = (about: string) =>
  Type.Optional(
    Type.String({
      format: 'instant',
      about,
      description: 'an ISO 8601 time with its offset, such as 2030-01-31T12:00:00Z',
    }),
  );

/** The filters of a list of events. */
export const eventFilters = {
  type: oneOf(types, 'Only events of this type, or of this family of types: the part before the dot.'),
  actor: oneOf<ActorType>(actorTypes, 'Only events caused by this kind of actor.'),
  actorId: id('Only events caused by this user, client or admin key.'),
  userId: id('Only events about this user.'),
  clientId: id('Only events about this client.'),
  upstreamId: id('Only events about this provider through which people sign in.'),
  address: Type.Optional(
    Type.String({
      format: 'ip-address',
      about: 'Only events of requests from this address.',
      description: 'an address such as 192.0.2.1',
    }),
  ),
  requestId: Type.Optional(
    Type.String({
      format: 'uuid',
      about:
        'Only events of the request with this correlation ID, as shown in `x-request-id`, on an error page or in the log.',
      description: 'a correlation ID such as 6f0b6e0e-5a0c-4a39-9f4f-7f1f5c2f8f11',
    }),
  ),
  outcome: oneOf(['success', 'failure'], 'Only events with this outcome.'),
  since: instant('Only events from this instant on.'),
  until: instant('Only events before this instant.'),
};
const EventFilters = Type.Object(eventFilters, { additionalProperties: false });
/** Which events to list; a filter that is left out matches all. */
export type EventFilter = Type.Static<typeof EventFilters>;
