import { forgetBrowsers } from '../../accounts/known-browser-store.ts';
import { listEarlierAddresses, type PreviousAddress } from '../../accounts/previous-address-store.ts';
import { type Account, findAccount, lockAccount, saveAccount } from '../../accounts/store.ts';
import { makingDatabase } from '../../admin-keys/hand-out.ts';
import { record } from '../../audit/audit.ts';
import { type TakingBack, untilNow } from '../../authenticators/rules/taking-back.ts';
import { enqueueAccountNotices } from '../../credentials/logout-notices.ts';
import { type Challenge, endChallenges, findChallenge, prepareChallenge, useChallenge } from '../../mail/challenges.ts';
import type { Operator } from '../../operators/rights.ts';
import type { Clock } from '../../platform/clock.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { removeIdentitiesSince } from '../../upstreams/identity-store.ts';
import { leaveUnconnectedGroups } from '../access/sourced-groups.ts';
import { replaceUsername, usernameAt } from '../accounts/usernames.ts';
import { finishEnding } from '../makers/made.ts';
import { accountTime } from '../notices/account-time.ts';
import type { SecurityNoticeServices } from '../notices/notices.ts';
import { passkeysOf, type SecurityReport } from '../notices/rules/notice-text.ts';
import {
  callOffDeletion,
  keptFromDeletion,
  leftDetails,
  removeAddedSince,
  type Undone,
} from '../recovery/added-since.ts';
import { beginRecovery } from '../recovery/begin.ts';
import { endYoungerRights, olderRight, passkeysOfChanges } from '../recovery/older-right.ts';

export interface AddressServices extends SecurityNoticeServices {
  readonly database: Database;
  readonly clock: Clock;
}

/** What a link "This was not me" is about. */
export interface OpenReport extends TakenBackSince {
  readonly report: SecurityReport;
  readonly account: Account;
}

/** What a report takes back. */
interface TakenBackSince {
  /** Since when what was added is removed. */
  readonly since: number;
  /** The same for what nobody was told of, if it is not as long before that as by default. */
  readonly decidedSince: number | undefined;
}

/** @param right of the account's address, if it had been given up and was set again: what came since has no rights any more */
function takenBackSince({ since, first }: SecurityReport, right: PreviousAddress | undefined): TakenBackSince {
  const from = Math.min(since, right?.factorsSince ?? since);
  return { since: from, decidedSince: first === 'new device' ? from : undefined };
}

/** Reads what a link "This was not me" is about; undefined where the link no longer works. Changes nothing. */
export async function readReport(
  { database, clock, sealer }: AddressServices,
  link: string,
): Promise<OpenReport | undefined> {
  const now = clock();
  return database.read(function* read(): Work<OpenReport | undefined> {
    const challenge = yield* findChallenge(sealer, link, 'secure account', now);
    const account = yield* accountOf(challenge, findAccount);
    if (challenge === undefined || account === undefined) return undefined;
    const report = challenge.data as SecurityReport;
    return { report, account, ...takenBackSince(report, yield* olderRight(account, undefined, now)) };
  });
}

/** The account of a challenge, unless it was secured since. */
export function* accountOf(challenge: Challenge | undefined, read = lockAccount): Work<Account | undefined> {
  if (challenge === undefined || challenge.accountId === null) return undefined;
  const account = yield* read({ id: challenge.accountId });
  return account !== undefined && account.generation === challenge.generation ? account : undefined;
}

/**
 * Ends everything of an account whose owner reports that something was not them, once: sessions, codes, tokens, links, the password,
 * and every factor that was added since. In the same commit the recovery of the account begins.
 * @returns the account; undefined where the link no longer works, and nothing was changed
 */
export async function secureAccount(
  services: AddressServices,
  link: string,
  origin: Origin,
): Promise<Account | undefined> {
  const { database, clock, sealer } = services;
  const now = clock();
  const secured = await makingDatabase(database).commit(function* secure(): Work<Secured | undefined> {
    const account = yield* accountOf(yield* findChallenge(sealer, link, 'secure account', now));
    if (account === undefined) return undefined;
    const challenge = yield* useChallenge(sealer, link, 'secure account', now);
    if (challenge === undefined) return undefined;
    const report = challenge.data as SecurityReport;
    const { notice, facts, events = [], passkeys = [] } = report;
    const changes = yield* listEarlierAddresses({ accountId: account.id, now });
    const right = yield* endYoungerRights(account, undefined, now);
    const { since, decidedSince } = takenBackSince(report, right);
    const back = {
      span: untilNow(since),
      decidedSince,
      passkeys: [
        ...passkeys,
        ...[{ facts }, ...events].flatMap(passkeysOf),
        ...(right === undefined ? [] : passkeysOfChanges(changes, right)),
      ],
    };
    const ended = yield* endAndRecover(services, account, account.profile, back, origin, now);
    const details = { report: notice, ...leftDetails(ended.undone) };
    yield* record({ at: now, type: 'account.secured', origin, accountId: account.id, details });
    return ended;
  });
  if (secured !== undefined) await finishEnding(services, secured.undone.makers);
  return secured?.changed;
}

/** An account of which everything has ended, and what was removed. */
interface Secured {
  readonly changed: Account;
  readonly undone: Undone;
}

/** How an owner takes everything back. */
interface TakingAllBack extends TakingBack {
  /** Since when decisions on apps may be another person's, if nobody can have made them untold before the rest. */
  readonly decidedSince?: number | undefined;
  /** The operator who decides so. */
  readonly operator?: Operator | undefined;
}

/**
 * Ends all that an account had in a unit of work that holds its lock: sessions, codes, tokens, links, browsers, the password and identities, what
 * was added since an instant, and its deletion, if one was asked for. It has the username again that it had then.
 * @returns the account as it is then, and what was removed
 */
export function* endEverything(
  services: SecurityNoticeServices,
  account: Account,
  profile: Account['profile'],
  back: TakingAllBack,
  origin: Origin,
  now: number,
): Work<Secured> {
  const { id } = account;
  const username = yield* usernameAt(account, back.span.since, now);
  const at = yield* accountTime(account, now);
  const changed = {
    ...account,
    ...keptFromDeletion(account),
    profile: { ...profile, username },
    passwordHash: null,
    generation: randomIdentifier(),
    updatedAt: at,
  };
  yield* enqueueAccountNotices(id, now);
  yield* saveAccount(changed);
  if (username !== profile.username) yield* replaceUsername(profile.username, username, id, at);
  yield* endChallenges(id);
  const added = yield* removeAddedSince(changed, back, origin, now);
  // Like the password, an identity at another provider may have been the way in, however old it is.
  const older = yield* removeIdentitiesSince({ accountId: id, since: 0 });
  yield* leaveUnconnectedGroups(id, origin, now);
  const undone = { ...added, identities: added.identities + older.length };
  yield* forgetBrowsers({ accountId: id });
  yield* callOffDeletion(services, account, changed.profile, 'secured', origin, now);
  return { changed, undone };
}

/** {@link endEverything}, with the recovery of the account by its address. */
export function* endAndRecover(
  services: SecurityNoticeServices,
  account: Account,
  profile: Account['profile'],
  back: TakingAllBack,
  origin: Origin,
  now: number,
): Work<Secured> {
  const secured = yield* endEverything(services, account, profile, back, origin, now);
  const { changed, undone } = secured;
  const cause = { by: 'securing', undone } as const;
  yield* beginRecovery(services, changed, { sent: prepareChallenge(), browserHash: null, origin, cause }, now);
  return secured;
}
