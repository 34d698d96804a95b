import {
  forgetReplaced,
  listReplaced,
  type Replaced,
  rememberReplaced,
  updateReplaced,
} from '../accounts/replaced-store.ts';
import type { Work } from '../platform/database/database.ts';
import { insertRecoveryCode, listRecoveryCodes, removeRecoveryCodes } from './recovery-code-store.ts';
import type { FactorUse } from './rules/factors.ts';
import {
  type CodeKind,
  type Held,
  isKeptSince,
  keptInRecovery,
  keptOf,
  lineage,
  type Span,
  type TakingBack,
} from './rules/taking-back.ts';
import { findTotpSeed, removeTotpSeed, saveTotpSeed, type TotpSeed } from './totp-store.ts';

/*
 * The authenticator apps and the recovery codes that an account had before these were replaced or removed, for those who take it back:
 * see `rules/taking-back.ts`.
 */

type SeedValue = Pick<TotpSeed, 'sealed' | 'lastStep'>;

/** An authenticator app that an account has or had. */
export interface HeldApp extends Held, SeedValue {}

/** Recovery codes that an account has or had: the hashes of those that can still be used. */
export interface HeldCodes extends Held {
  readonly hashes: readonly string[];
}

const appOf = ({ value, setUpAt, replacedAt }: Replaced): HeldApp => ({
  ...(JSON.parse(value) as SeedValue),
  setUpAt,
  replacedAt,
});
const codesOf = ({ value, setUpAt, replacedAt }: Replaced): HeldCodes => ({
  hashes: JSON.parse(value) as readonly string[],
  setUpAt,
  replacedAt,
});

/** Until when an account has what it has now. */
const NOT_REPLACED = Number.POSITIVE_INFINITY;

function* findApp(accountId: string): Work<HeldApp | undefined> {
  const seed = yield* findTotpSeed({ accountId });
  return seed && { ...seed, replacedAt: NOT_REPLACED };
}

function* findCodes(accountId: string): Work<HeldCodes | undefined> {
  const codes = yield* listRecoveryCodes({ accountId });
  const hashes = codes.filter(({ isUsed }) => !isUsed).map(({ hash }) => hash);
  return codes[0] && { hashes, setUpAt: codes[0].createdAt, replacedAt: NOT_REPLACED };
}

/** Remembers the authenticator app of an account, if it has one, before it is replaced or removed. */
export function* rememberTotp(accountId: string, replacedAt: number): Work<void> {
  const app = yield* findApp(accountId);
  if (app === undefined) return;
  const { setUpAt, sealed, lastStep } = app;
  const value = JSON.stringify({ sealed, lastStep } satisfies SeedValue);
  yield* rememberReplaced({ accountId, kind: 'totp', value, setUpAt, replacedAt });
}

/** Remembers the recovery codes of an account, if it has any, before they are replaced or removed. */
export function* rememberRecoveryCodes(accountId: string, replacedAt: number): Work<void> {
  const codes = yield* findCodes(accountId);
  if (codes === undefined) return;
  const { setUpAt, hashes } = codes;
  yield* rememberReplaced({
    accountId,
    kind: 'recovery codes',
    value: JSON.stringify(hashes),
    setUpAt,
    replacedAt,
  });
}

/** The authenticator apps of a span, the latest first. */
export function* listApps(accountId: string, span: Span): Work<readonly HeldApp[]> {
  const [present, earlier] = [yield* findApp(accountId), yield* listReplaced({ accountId, kind: 'totp' })];
  return lineage([...(present === undefined ? [] : [present]), ...earlier.map(appOf)], span);
}

/** The recovery codes of a span, the latest first. */
export function* listCodes(accountId: string, span: Span): Work<readonly HeldCodes[]> {
  const [present, earlier] = [yield* findCodes(accountId), yield* listReplaced({ accountId, kind: 'recovery codes' })];
  return lineage([...(present === undefined ? [] : [present]), ...earlier.map(codesOf)], span);
}

/** Those of which a code can still be used. */
export const usable = (codes: readonly HeldCodes[]): readonly HeldCodes[] =>
  codes.filter(({ hashes }) => hashes.length > 0);

/** Uses up a code of an earlier app, inside a unit of work that holds the account's lock. @returns when the app was set up */
export function* spendEarlierTotpStep({
  accountId,
  sealed,
  step,
}: {
  readonly accountId: string;
  readonly sealed: string;
  readonly step: number;
}): Work<number | undefined> {
  const earlier = yield* listReplaced({ accountId, kind: 'totp' });
  const used = earlier.find((one) => appOf(one).sealed === sealed && appOf(one).lastStep < step);
  if (used === undefined) return undefined;
  yield* updateReplaced({ hash: used.hash, value: JSON.stringify({ sealed, lastStep: step } satisfies SeedValue) });
  return used.setUpAt;
}

/** Uses up an earlier recovery code, inside a unit of work that holds the account's lock. @returns when it was made */
export function* spendEarlierRecoveryCode(accountId: string, hash: string): Work<number | undefined> {
  const earlier = yield* listReplaced({ accountId, kind: 'recovery codes' });
  const used = earlier.find((one) => codesOf(one).hashes.includes(hash));
  if (used === undefined) return undefined;
  const left = codesOf(used).hashes.filter((other) => other !== hash);
  yield* updateReplaced({ hash: used.hash, value: JSON.stringify(left) });
  return used.setUpAt;
}

/** What became of the app and the codes of an account that was taken back. */
export interface SettledFactors {
  readonly removed: { readonly [kind in CodeKind]: boolean };
  readonly restored: { readonly [kind in CodeKind]: boolean };
}

/** Leaves an account that is taken back its app and its codes, inside a unit of work that holds its lock. */
export function* settleFactors(accountId: string, back: TakingBack): Work<SettledFactors> {
  const { span } = back;
  const [apps, codes] = [yield* listApps(accountId, span), yield* listCodes(accountId, span)];
  const hadApp = isKeptSince(apps, span.since);
  const app = { present: yield* findApp(accountId), line: apps, isAsked: hadApp };
  // Codes stand in for the app.
  const isAsked = hadApp || isKeptSince(usable(codes), span.since);
  const ofCodes = { present: yield* findCodes(accountId), line: codes, isAsked };
  return yield* store(accountId, keptOf('app', app, back), keptOf('codes', ofCodes, back));
}

/** Leaves an account its app and its codes after a recovery, in which one may have been shown. */
export function* settleAfterRecovery(
  accountId: string,
  lines: { readonly apps: readonly HeldApp[]; readonly codes: readonly HeldCodes[] },
  shown: FactorUse | undefined,
): Work<SettledFactors> {
  return yield* store(accountId, keptInRecovery('app', lines.apps, shown), keptInRecovery('codes', lines.codes, shown));
}

function* store(accountId: string, app: HeldApp | undefined, codes: HeldCodes | undefined): Work<SettledFactors> {
  const had = { app: yield* findApp(accountId), codes: yield* findCodes(accountId) };
  if (app === undefined) yield* removeTotpSeed({ accountId });
  else if (app.setUpAt !== had.app?.setUpAt) {
    const { sealed, lastStep, setUpAt, replacedAt } = app;
    yield* saveTotpSeed({ accountId, sealed, lastStep, generation: '', now: setUpAt });
    yield* forgetReplaced({ accountId, kind: 'totp', since: replacedAt });
  }
  if (codes === undefined) yield* removeRecoveryCodes({ accountId });
  else if (codes.setUpAt !== had.codes?.setUpAt) {
    yield* removeRecoveryCodes({ accountId });
    for (const hash of codes.hashes) yield* insertRecoveryCode({ accountId, hash, now: codes.setUpAt });
    yield* forgetReplaced({ accountId, kind: 'recovery codes', since: codes.replacedAt });
  }
  return {
    removed: { app: isAnother(had.app, app), codes: isAnother(had.codes, codes) },
    restored: { app: isAnother(app, had.app), codes: isAnother(codes, had.codes) },
  };
}

const isAnother = (one: Held | undefined, other: Held | undefined): boolean =>
  one !== undefined && one.setUpAt !== other?.setUpAt;

/** Forgets the earlier apps and recovery codes of an account, whose second factor an operator has reset. */
export function* forgetEarlierFactors(accountId: string): Work<void> {
  yield* forgetReplaced({ accountId, kind: 'totp', since: 0 });
  yield* forgetReplaced({ accountId, kind: 'recovery codes', since: 0 });
}
