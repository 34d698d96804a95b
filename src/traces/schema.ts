import { Id, Instant, nullableField } from '../platform/http/operation.ts';
import * as Type from '../platform/validation/type.ts';
import { type StepName, stepNames } from './step.ts';

const text = (about: string) => Type.Optional(Type.String({ about }));

const stepFields = {
  at: Instant,
  requestId: nullableField(Type.String(), 'The correlation id of the request that the step was.'),
  step: Type.Unsafe<StepName>({ enum: stepNames }),
  outcome: Type.Unsafe<string>({ enum: ['success', 'failure'] }),
  clientId: nullableField(Id),
  userId: nullableField(Id),
  method: text('The method of the request.'),
  path: text('The pattern of the route.'),
  status: Type.Optional(Type.Integer({ about: 'The status of the answer.' })),
  error: text('The error code.'),
  description: text('What the caller was told.'),
  reason: text('The cause, where the caller was not told all of it.'),
  rule: text('The clause that asks for it.'),
  expected: text('What should have come.'),
  received: text('What came instead.'),
  remedy: text('What to do.'),
  sent: text('The parameters: confidential ones by name only.'),
  ignored: text('Scopes and parameters that were left out: unknown, without effect, or not registered for the client.'),
};

/** A step, as operators see it. */
const TraceStepRecord = Type.Object(stepFields, { title: 'TraceStep' });

/** A step in a list. */
export const ListedStepRecord = Type.Object({ id: Id, ...stepFields }, { title: 'ListedTraceStep' });

/** A step in the log of a client, as its developer sees it. */
export const ClientStepRecord = Type.Object(
  {
    ...{ id: Id, ...stepFields },
    userName: nullableField(Type.String(), 'The name of the user, while they let the client read it (`profile`).'),
  },
  { title: 'ClientTraceStep' },
);

/** A trace, as operators see it. */
export const TraceRecord = Type.Object(
  {
    requestId: Type.String(),
    clientId: nullableField(Id),
    userId: nullableField(Id),
    steps: Type.Array(TraceStepRecord),
  },
  { title: 'Trace' },
);
