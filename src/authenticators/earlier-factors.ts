import {
  findReplaced,
  forgetReplaced,
  type Replaced,
  rememberReplaced,
  updateReplaced,
} from '../accounts/replaced-store.ts';
import type { Work } from '../platform/database/database.ts';
import { insertRecoveryCode, listUnusedCodes } from './recovery-code-store.ts';
import { findTotpSeed, saveTotpSeed, type TotpSeed } from './totp-store.ts';

/*
 * The authenticator app and the recovery codes that an account had before these were replaced or removed. A thief who replaced them must not
 * keep the owner out; and who reads the mailbox alone must not get rid of a second factor by undoing that its owner renewed it. So the
 * owner who takes the account back has those of before.
 */

type SeedValue = Pick<TotpSeed, 'sealed' | 'lastStep'>;
const seedOf = ({ value }: Replaced) => JSON.parse(value) as SeedValue;
const hashesOf = ({ value }: Replaced) => JSON.parse(value) as readonly string[];

/** Remembers the authenticator app of an account, if it has one, before it is replaced or removed. */
export function* rememberTotp(accountId: string, replacedAt: number): Work<void> {
  const seed = yield* findTotpSeed({ accountId });
  if (seed === undefined) return;
  const { setUpAt, ...value } = seed;
  yield* rememberReplaced({ accountId, kind: 'totp', value: JSON.stringify(value), setUpAt, replacedAt });
}

/** Remembers the recovery codes of an account that can still be used, before they are replaced or removed. */
export function* rememberRecoveryCodes(accountId: string, replacedAt: number): Work<void> {
  const codes = yield* listUnusedCodes({ accountId });
  const [first] = codes;
  if (first === undefined) return;
  const value = JSON.stringify(codes.map(({ hash }) => hash));
  yield* rememberReplaced({ accountId, kind: 'recovery codes', value, setUpAt: first.createdAt, replacedAt });
}

/** The authenticator app that an account had at an instant, before which it was set up. */
export function* findTotpSeedAt(accountId: string, instant: number): Work<TotpSeed | undefined> {
  const present = yield* findTotpSeed({ accountId });
  if (present !== undefined && present.setUpAt < instant) return present;
  const earlier = yield* findReplaced({ accountId, kind: 'totp' }, instant);
  return earlier && { ...seedOf(earlier), setUpAt: earlier.setUpAt };
}

/** Whether an account had recovery codes at an instant, before which they were made, that can still be used. */
export function* hasRecoveryCodesAt(accountId: string, instant: number): Work<boolean> {
  if ((yield* listUnusedCodes({ accountId })).some(({ createdAt }) => createdAt < instant)) return true;
  const earlier = yield* findReplaced({ accountId, kind: 'recovery codes' }, instant);
  return earlier !== undefined && hashesOf(earlier).length > 0;
}

/** Uses up a code of the app that an account had at an instant, inside a unit of work that holds its lock. @returns when the app was set up */
export function* spendEarlierTotpStep(
  { accountId, sealed, step }: { readonly accountId: string; readonly sealed: string; readonly step: number },
  instant: number,
): Work<number | undefined> {
  const earlier = yield* findReplaced({ accountId, kind: 'totp' }, instant);
  if (earlier === undefined || seedOf(earlier).sealed !== sealed || seedOf(earlier).lastStep >= step) return undefined;
  yield* updateReplaced({ hash: earlier.hash, value: JSON.stringify({ sealed, lastStep: step } satisfies SeedValue) });
  return earlier.setUpAt;
}

/** Uses up a recovery code that an account had at an instant, inside a unit of work that holds its lock. @returns when it was made */
export function* spendEarlierRecoveryCode(
  { accountId, hash }: { readonly accountId: string; readonly hash: string },
  instant: number,
): Work<number | undefined> {
  const earlier = yield* findReplaced({ accountId, kind: 'recovery codes' }, instant);
  if (earlier === undefined || !hashesOf(earlier).includes(hash)) return undefined;
  const left = hashesOf(earlier).filter((other) => other !== hash);
  yield* updateReplaced({ hash: earlier.hash, value: JSON.stringify(left) });
  return earlier.setUpAt;
}

/** What an account has again. */
export interface RestoredFactors {
  readonly app: boolean;
  readonly codes: boolean;
}

/** Gives an account the app and the recovery codes again that it had at an instant, after those that were set up since are removed. */
export function* restoreFactors(accountId: string, since: number): Work<RestoredFactors> {
  const app = yield* findReplaced({ accountId, kind: 'totp' }, since);
  const lacksApp = (yield* findTotpSeed({ accountId })) === undefined;
  if (app !== undefined && lacksApp) {
    yield* saveTotpSeed({ accountId, ...seedOf(app), generation: '', now: app.setUpAt });
  }
  const found = yield* findReplaced({ accountId, kind: 'recovery codes' }, since);
  const lacksCodes = (yield* listUnusedCodes({ accountId })).length === 0;
  const hashes = found !== undefined && lacksCodes ? hashesOf(found) : [];
  for (const hash of hashes) yield* insertRecoveryCode({ accountId, hash, now: found?.setUpAt ?? 0 });
  yield* forgetEarlierFactors(accountId, since);
  return { app: app !== undefined && lacksApp, codes: hashes.length > 0 };
}

/** Forgets the earlier apps and recovery codes of an account: it has them again, or an operator reset its second factor. */
export function* forgetEarlierFactors(accountId: string, since = 0): Work<void> {
  yield* forgetReplaced({ accountId, kind: 'totp', since });
  yield* forgetReplaced({ accountId, kind: 'recovery codes', since });
}
