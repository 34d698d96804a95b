import { type AccountActor, recordAccountAct } from '../../accounts/act-store.ts';
import { isOffboarded } from '../../accounts/rules/may-act.ts';
import { SuspensionRequest } from '../../accounts/schema.ts';
import { type Account, listDueDeletions } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { findMembership } from '../../organizations/store.ts';
import { type Clock, DAY, iso } from '../../platform/clock.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { conflict } from '../../platform/failure.ts';
import { requestBody } from '../../platform/validation/fields.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import * as Type from '../../platform/validation/type.ts';
import { accountStatus } from '../../verdict/rules.ts';
import { deleteAccount, lockToChange, saveChange } from '../accounts/accounts.ts';
import { endHandedOutBy } from '../accounts/keys-of-account.ts';
import { keepAnOwner } from '../accounts/last-owner.ts';
import { recordStatusDecision } from '../accounts/status.ts';
import { accountTime } from '../notices/account-time.ts';
import { enqueueSecurityNotice, renewReport, type SecurityNoticeServices } from '../notices/notices.ts';
import type { SecurityFacts } from '../notices/rules/notice-text.ts';
import { isLastOwnerOf } from '../organizations/last-owner.ts';

/** How long a person can come back after asking for the deletion of their account. */
const DELETION_DELAY = 14 * DAY;

interface Context {
  readonly database: Database;
  readonly clock: Clock;
}

/** The person is the only owner of an organization, which would be left without one. */
export class LastOwner extends Error {}

/**
 * Ends everything that was issued to an account, and has it deleted after {@link DELETION_DELAY}: until then the only sign-in is one to
 * come back.
 * @throws {LastOwner}
 * @throws {Failure} `conflict` where the account is banned or suspended, or its deletion was asked for before
 */
export function requestDeletion(
  context: Context & SecurityNoticeServices,
  id: string,
  origin: Origin,
  facts: SecurityFacts,
): Promise<Account> {
  const now = context.clock();
  return context.database.commit(function* request(): Work<Account> {
    const account = yield* lockToChange(id);
    const at = yield* accountTime(account, now);
    if (accountStatus(account, now) !== 'active') throw conflict('A banned or suspended account cannot be deleted.');
    if (account.deletionDueAt !== null) throw conflict('The deletion of this account was asked for before.');
    const dueAt = now + DELETION_DELAY;
    const ended = { deletionRequestedAt: now, deletionDueAt: dueAt, generation: randomIdentifier() };
    const changed = yield* saveChange(account, ended, at, now);
    yield* rejectLastOwner(id, now);
    yield* keepAnOwner(id, now, {});
    const details = yield* endHandedOutBy(id, origin, now);
    // It ends the links of earlier reports, so it brings another one.
    yield* enqueueSecurityNotice(context, changed, 'deletion requested', { ...facts, dueAt }, now, changed.updatedAt);
    yield* record({ at: now, type: 'account.deletion_requested', origin, accountId: id, details });
    return changed;
  });
}

/** How long after an operator has asked for it an account is deleted, unless the request says. */
const OFFBOARDING_DAYS = 30;

export const ScheduleDeletionRequest = requestBody('ScheduleDeletionRequest', {
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 365,
      about: `After how many days the account is deleted. Default ${OFFBOARDING_DAYS}.`,
      description: 'a whole number from 1 to 365',
    }),
  ),
  reason: SuspensionRequest.properties.reason,
});
export type ScheduleDeletionRequest = Type.Static<typeof ScheduleDeletionRequest>;

/**
 * Offboards a person, as an operator: suspends the account, which ends everything that is signed in, and has it deleted later. Asked for
 * again, it only changes the day.
 * @throws {Failure} `not found`, or `conflict` for the last owner
 */
export function scheduleDeletion(
  context: Context & SecurityNoticeServices & AccountActor,
  id: string,
  { days = OFFBOARDING_DAYS, reason }: ScheduleDeletionRequest,
  origin: Origin,
): Promise<Account> {
  const now = context.clock();
  return context.database.commit(function* schedule(): Work<Account> {
    const account = yield* lockToChange(id);
    const at = yield* accountTime(account, now);
    const dueAt = now + days * DAY;
    const barred = { suspendedAt: account.suspendedAt ?? now, suspensionReason: reason ?? account.suspensionReason };
    const requestedAt = isOffboarded(account) ? account.deletionRequestedAt : now;
    const due = { deletionRequestedAt: requestedAt, deletionDueAt: dueAt };
    const changed = yield* saveChange(account, { ...barred, ...due, generation: randomIdentifier() }, at, now);
    yield* recordStatusDecision(context, account, changed, now);
    yield* keepAnOwner(id, now, {});
    const handedOut = yield* endHandedOutBy(id, origin, now);
    yield* renewReport(context, changed, 'suspended', now, changed.updatedAt);
    if (account.suspendedAt === null) {
      const details = { reason: barred.suspensionReason };
      yield* record({ at: now, type: 'account.suspended', origin, accountId: id, details });
    }
    yield* record({
      at: now,
      type: 'account.deletion_requested',
      origin,
      accountId: id,
      details: { dueAt: iso(dueAt), ...handedOut },
    });
    return changed;
  });
}

/**
 * Cancels the deletion of an account, as an operator; does nothing where none was asked for. Nothing that the request for it ended is
 * valid again: the person, who is told by mail, signs in.
 * @throws {Failure} `not found`
 */
export function cancelDeletion(
  context: Context & SecurityNoticeServices & AccountActor,
  id: string,
  origin: Origin,
): Promise<Account> {
  const now = context.clock();
  return context.database.commit(function* cancel(): Work<Account> {
    const account = yield* lockToChange(id);
    if (account.deletionDueAt === null) return account;
    const at = yield* accountTime(account, now);
    const revived = { deletionRequestedAt: null, deletionDueAt: null, generation: randomIdentifier() };
    const changed = yield* saveChange(account, revived, at, now);
    // It ends the links of earlier reports, so it brings another one.
    yield* enqueueSecurityNotice(context, changed, 'deletion cancelled', { byOperator: true }, now, changed.updatedAt);
    yield* recordAccountAct(context, id, 'let in again', now);
    yield* record({ at: now, type: 'account.deletion_cancelled', origin, accountId: id });
    return changed;
  });
}

function* rejectLastOwner(id: string, now: number): Work<void> {
  const membership = yield* findMembership({ accountId: id });
  if (membership?.role === 'OWNER' && (yield* isLastOwnerOf(membership.id, id, now)))
    throw new LastOwner(membership.name);
}

/** How many accounts a sweep deletes in a row. */
const BATCH = 100;

/**
 * Deletes the accounts whose time has come.
 * @param now by the clock that all nodes share
 */
export async function deleteDueAccounts({ database, clock }: Context, now: number): Promise<void> {
  const origin: Origin = { actor: { type: 'system', id: null }, address: null, requestId: null };
  for (const { id } of await database.read(() => listDueDeletions({ now, limit: BATCH }))) {
    await deleteAccount(
      // It was asked for while there was another owner.
      { database, clock, lastOwner: true },
      id,
      origin,
      ({ deletionDueAt }) => deletionDueAt !== null && deletionDueAt <= now,
    );
  }
}
