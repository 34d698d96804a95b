import { liveGrantsOf } from '../../access/operator-grant-store.ts';
import { lockActing } from '../../accounts/store.ts';
import type { OperatorGrant } from '../../operators/rights.ts';
import type { Work } from '../../platform/database/database.ts';
import { readVisitor } from '../../sessions/sessions.ts';
import { findSession, lockSession, type Session } from '../../sessions/store.ts';

/** The names of the roles, for the audit trail. */
export const roleNamesOf = (grants: readonly OperatorGrant[]): string =>
  [...new Set(grants.map(({ role }) => role))].join(', ');

interface ActingSession {
  readonly now: number;
  /** Whether the unit of work writes: what ends the session or a role then comes before it or after it. */
  readonly locks: boolean;
  /** The person who is acted on, if there is one. */
  readonly actedOn?: string | undefined;
}

/** The roles that a person holds now, in a unit of work; undefined where the session has ended. */
export function* rolesInSession(
  { hash, accountId }: Pick<Session, 'hash' | 'accountId'>,
  { now, locks, actedOn = accountId }: ActingSession,
): Work<readonly OperatorGrant[] | undefined> {
  if (locks) yield* lockActing({ accountId, actedOn });
  const visitor = yield* readVisitor(hash, now, locks ? lockSession : findSession);
  return visitor.kind === 'signed in' ? yield* liveGrantsOf(accountId, now) : undefined;
}
