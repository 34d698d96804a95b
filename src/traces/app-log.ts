import type { Work } from '../platform/database/database.ts';
import { type ListedStep, listSteps, stepsOfFlow } from './read-trace.ts';
import type { StepName } from './step.ts';

/** The steps in which the app, or the developer who looks at its error page, is told something. Of the others, a person is told it. */
const TOLD: ReadonlySet<StepName> = new Set<StepName>([
  ...(['authorize', 'code', 'device', 'token', 'userinfo', 'refresh'] as const),
  ...(['introspection', 'revocation', 'sign-out', 'registration', 'cross-origin'] as const),
]);

/** The steps in which the app is told whose they are. Before them, a person may still have decided against it. */
const NAMING: ReadonlySet<StepName> = new Set<StepName>(['code', 'token', 'userinfo', 'refresh']);

/**
 * A step as the developer of the app reads it: what the app itself sent and was told. The cause and the remedy may be for operators alone,
 * and what a page said to a person is theirs. A person has an ID alone, and that only from the consent on.
 */
function forDeveloper(step: ListedStep): ListedStep {
  const { id, at, requestId, clientId, step: name, outcome, method, path, status, error } = step;
  const userId = NAMING.has(name) ? step.userId : null;
  const known = { id, at, requestId, clientId, userId, step: name, outcome, method, path, status, error };
  const { description, rule, sent, ignored } = step;
  return TOLD.has(name) ? { ...known, description, rule, sent, ignored } : known;
}

interface LogPage {
  readonly clientId: string;
  /** Only the flow of this request, oldest first. */
  readonly requestId?: string | undefined;
  readonly after: string;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

/** The steps of one app, for its developer. */
export function* appLog({ requestId, ...page }: LogPage): Work<readonly ListedStep[]> {
  const { clientId, after, limit } = page;
  if (requestId === undefined) return (yield* listSteps(page)).map(forDeveloper);
  const flow = yield* stepsOfFlow({ requestId, clientId });
  const rest = flow.filter(({ id }) => BigInt(id) > BigInt(after));
  return rest.slice(0, limit).map(forDeveloper);
}
