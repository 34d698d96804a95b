import { lockActing } from '../../accounts/store.ts';
import type { DeveloperPolicy } from '../../clients/developer-settings.ts';
import type { OperatorRights } from '../../operators/rights.ts';
import type { Work } from '../../platform/database/database.ts';
import { readVisitor } from '../../sessions/sessions.ts';
import { findSession, lockSession, type Session } from '../../sessions/store.ts';
import { heldBy } from './held.ts';

/** The names of the roles in which somebody acts, for the audit trail: a developer by the policy acts as a developer. */
export const roleNamesOf = ({ grants, developsByPolicy }: OperatorRights): readonly string[] => [
  ...new Set([...grants.map(({ role }) => role), ...(developsByPolicy ? ['developer'] : [])]),
];

interface ActingSession {
  readonly now: number;
  /** Whether the unit of work writes: what ends the session or a role then comes before it or after it. */
  readonly locks: boolean;
  readonly policy: DeveloperPolicy;
  /** The person who is acted on, if there is one. */
  readonly actedOn?: string | undefined;
}

/** What a person holds now, in a unit of work; undefined where the session has ended. */
export function* heldInSession(
  { hash, accountId }: Pick<Session, 'hash' | 'accountId'>,
  { now, locks, policy, actedOn = accountId }: ActingSession,
): Work<OperatorRights | undefined> {
  if (locks) yield* lockActing({ accountId, actedOn });
  const visitor = yield* readVisitor(hash, now, locks ? lockSession : findSession);
  return visitor.kind === 'signed in' ? yield* heldBy(accountId, { policy, now, locks }) : undefined;
}
