import { removeRequests } from '../account-actions/recovery/request-store.ts';
import { endOfBatch, renewGenerations } from '../accounts/store.ts';
import { markAllAdminKeysRevoked, waitForAllAdminKeyLocks } from '../admin-keys/store.ts';
import { record, recordAs } from '../audit/audit.ts';
import { revokeAllInitialTokens } from '../clients/initial-access-token-store.ts';
import { removeRegistrationTokens } from '../clients/self-registration-store.ts';
import { renewClientGenerations, renewClients } from '../clients/store.ts';
import { enqueueAccountRangeNotices } from '../credentials/logout-notices.ts';
import { dropAllCodes } from '../credentials/revocation-store.ts';
import { removeOpenInvitations } from '../invitations/store.ts';
import { replaceAllKeys } from '../keys/keys.ts';
import { removeChallengesWithoutAccount } from '../mail/challenge-store.ts';
import { expireMailOfKind } from '../mail/store.ts';
import type { Clock } from '../platform/clock.ts';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import type { DataLoss } from '../platform/database/loss.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { removeInteractions } from '../sessions/interaction-store.ts';

/** Accounts per unit of work: a database server cancels statements that take seconds. */
const BATCH = 500;

/** The admin keys that {@link revokeEverythingIssued} revoked, and the new signing key. */
export interface RecoverySummary {
  readonly adminKeys: number;
  readonly kid: string;
}

/**
 * Invalidates everything issued so far: sessions, codes, pending requests, tokens, open invitations, admin keys, remembered consents
 * and signing keys. It is meant for a database that may lack revocations. Nodes may run meanwhile: once this has
 * returned, none of them does anything for what was issued before.
 *
 * The last unit of work records the recovery. If the process ends before it, the command has to be run again: until then a
 * known loss still prevents the start, and sessions of the remaining accounts are still valid.
 * @param loss the changes that the database is known to lack
 */
export async function revokeEverythingIssued(
  { database, clock, secret }: { readonly database: Database; readonly clock: Clock; readonly secret: Buffer },
  loss: DataLoss | undefined,
  origin: Origin,
): Promise<RecoverySummary> {
  const at = clock();
  const generation = randomIdentifier();
  const epoch = randomIdentifier();
  // The clients come first: from this commit on, no earlier token and no admin key is accepted.
  const { adminKeys, kid } = await database.commit(function* revokeOfClients(): Work<RecoverySummary> {
    yield* renewClients({ generation, epoch });
    yield* dropAllCodes();
    yield* removeInteractions();
    yield* removeOpenOffers(at);
    const revoked = yield* markAllAdminKeysRevoked({ now: at });
    return { adminKeys: revoked.length, kid: yield* replaceAllKeys(secret, at) };
  });
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const from: string = after;
    after = await database.commit(function* revokeOfAccounts(): Work<string | undefined> {
      const through = yield* endOfBatch(from, BATCH);
      if (through === undefined) return undefined;
      // Before the generation changes, because it identifies the sessions to notify apps of.
      yield* enqueueAccountRangeNotices(from, through, at);
      yield* renewGenerations({ after: from, through, generation });
      return through;
    });
  }
  await database.commit(function* finish(): Work<void> {
    // Those of sessions that were still valid after the first commit.
    yield* dropAllCodes();
    yield* removeInteractions();
    // Requests with admin keys that were under way then.
    yield* waitForAllAdminKeyLocks({});
    const missing = loss === undefined ? null : loss.expected - loss.found;
    const event = { at, type: 'data.recovered', origin, details: { missing, adminKeys, kid } } as const;
    // With the number after the last known one: numbers of lost events are not reused, and the database is complete from here on.
    if (loss === undefined) yield* record(event);
    else yield* recordAs(String(loss.expected + 1), event);
    yield* database.recordServer();
  });
  return { adminKeys, kid };
}

/** Why a new epoch begins. */
export interface Restored {
  /** When the backup was made; null if that is not known. */
  readonly backupAt: string | null;
  /** How many events are known to be lost; null if that is not known. */
  readonly missing: number | null;
  /** The number after which the ids of events continue, if it is higher than that of the last event. */
  readonly continueAfter: number | undefined;
  readonly origin: Origin;
}

/**
 * Invalidates everything issued so far, as {@link revokeEverythingIssued} does, in one unit of work, and records that a backup was
 * restored. Consents remain: people who gave them before the backup are not asked again. It takes long with many accounts, so it is
 * meant for a database that no server uses yet.
 */
export function* beginEpoch(
  { secret, at }: { readonly secret: Buffer; readonly at: number },
  restored: Restored,
): Work<RecoverySummary> {
  const generation = randomIdentifier();
  yield* renewClientGenerations({ generation });
  yield* dropAllCodes();
  yield* removeInteractions();
  yield* removeOpenOffers(at);
  const adminKeys = (yield* markAllAdminKeysRevoked({ now: at })).length;
  const kid = yield* replaceAllKeys(secret, at);
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const through: string | undefined = yield* endOfBatch(after, BATCH);
    if (through !== undefined) {
      yield* enqueueAccountRangeNotices(after, through, at);
      yield* renewGenerations({ after, through, generation });
    }
    after = through;
  }
  yield* recordRestore({ adminKeys, kid }, at, restored);
  return { adminKeys, kid };
}

/**
 * Invitations, tokens of registration, unfinished sign-ups, and messages that were asked for: those that were used, revoked or sent since would be open again, and no
 * generation ends them.
 */
function* removeOpenOffers(now: number): Work<void> {
  yield* removeOpenInvitations({});
  yield* revokeAllInitialTokens({ now });
  yield* removeRegistrationTokens({});
  yield* expireMailOfKind({ kind: 'invitation', now, problem: 'its invitation was removed' });
  yield* removeChallengesWithoutAccount({});
  yield* removeRequests({});
}

/** Records that a backup was restored; `summary` is null if what was issued before remains valid. */
export function* recordRestore(
  summary: RecoverySummary | null,
  at: number,
  { backupAt, missing, continueAfter, origin }: Restored,
): Work<void> {
  const details = { backupAt, missing, ended: summary !== null, ...summary };
  const event = { at, type: 'data.restored', origin, details } as const;
  // Numbers of lost events are not reused.
  if (continueAfter === undefined) yield* record(event);
  else yield* recordAs(String(continueAfter + 1), event);
}
