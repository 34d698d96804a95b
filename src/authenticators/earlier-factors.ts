import {
  forgetReplaced,
  insertReplaced,
  listReplaced,
  type Replaced,
  type ReplacedKind,
  rememberReplaced,
  removeReplaced,
  updateReplaced,
} from '../accounts/replaced-store.ts';
import type { Work } from '../platform/database/database.ts';
import { insertRecoveryCode, listRecoveryCodes, removeRecoveryCodes } from './recovery-code-store.ts';
import {
  acceptedIn,
  afterRecovery,
  afterTakingBack,
  type CodeKind,
  type Held,
  type History,
  isKept,
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
const seedValue = ({ sealed, lastStep }: HeldApp): string => JSON.stringify({ sealed, lastStep } satisfies SeedValue);
const codesOf = ({ value, setUpAt, replacedAt }: Replaced): HeldCodes => ({
  hashes: JSON.parse(value) as readonly string[],
  setUpAt,
  replacedAt,
});
const codesValue = ({ hashes }: HeldCodes): string => JSON.stringify(hashes);

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

/** How each kind is remembered, and what was set aside of it. */
const KINDS = {
  app: { earlier: 'totp', aside: 'totp aside' },
  codes: { earlier: 'recovery codes', aside: 'recovery codes aside' },
} as const satisfies Record<CodeKind, Record<'earlier' | 'aside', ReplacedKind>>;

function* listRemembered(accountId: string, kind: CodeKind): Work<readonly Replaced[]> {
  const { earlier, aside } = KINDS[kind];
  return [...(yield* listReplaced({ accountId, kind: earlier })), ...(yield* listReplaced({ accountId, kind: aside }))];
}

/** The authenticator apps of an account. */
function* readApps(accountId: string): Work<History<HeldApp>> {
  const { earlier, aside } = KINDS.app;
  return {
    present: yield* findApp(accountId),
    earlier: (yield* listReplaced({ accountId, kind: earlier })).map(appOf),
    aside: (yield* listReplaced({ accountId, kind: aside })).map(appOf),
  };
}

/** The recovery codes of an account. */
function* readCodes(accountId: string): Work<History<HeldCodes>> {
  const { earlier, aside } = KINDS.codes;
  return {
    present: yield* findCodes(accountId),
    earlier: (yield* listReplaced({ accountId, kind: earlier })).map(codesOf),
    aside: (yield* listReplaced({ accountId, kind: aside })).map(codesOf),
  };
}

/** Remembers the authenticator app of an account, if it has one, before its person replaces or removes it. What was set aside is answered. */
export function* rememberTotp(accountId: string, replacedAt: number): Work<void> {
  yield* forgetReplaced({ accountId, kind: KINDS.app.aside, since: 0 });
  const app = yield* findApp(accountId);
  if (app === undefined) return;
  yield* rememberReplaced({ accountId, kind: 'totp', value: seedValue(app), setUpAt: app.setUpAt, replacedAt });
}

/** Remembers the recovery codes of an account, if it has any, as {@link rememberTotp} does. */
export function* rememberRecoveryCodes(accountId: string, replacedAt: number): Work<void> {
  yield* forgetReplaced({ accountId, kind: KINDS.codes.aside, since: 0 });
  const codes = yield* findCodes(accountId);
  if (codes === undefined) return;
  const { setUpAt } = codes;
  yield* rememberReplaced({ accountId, kind: 'recovery codes', value: codesValue(codes), setUpAt, replacedAt });
}

/** The apps of which a code is accepted where an account is taken back. */
export function* acceptedApps(accountId: string, span: Span): Work<readonly HeldApp[]> {
  return acceptedIn(yield* readApps(accountId), span);
}

/** The recovery codes that are accepted there, and can still be used. */
export function* acceptedCodes(accountId: string, span: Span): Work<readonly HeldCodes[]> {
  return acceptedIn(yield* readCodes(accountId), span).filter(({ hashes }) => hashes.length > 0);
}

/**
 * Whether an account had a second factor in a span, and before it, of which its owner can show a code: an app, or codes, which stand in for
 * the app.
 */
export function* wasProtected(accountId: string, span: Span): Work<boolean> {
  if (isKept(yield* readApps(accountId), span)) return true;
  const codes = yield* readCodes(accountId);
  return isKept(codes, span) && (yield* acceptedCodes(accountId, span)).length > 0;
}

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
  const used = (yield* listRemembered(accountId, 'app')).find((one) => appOf(one).sealed === sealed);
  if (used === undefined || appOf(used).lastStep >= step) return undefined;
  yield* updateReplaced({ hash: used.hash, value: seedValue({ ...appOf(used), lastStep: step }) });
  return used.setUpAt;
}

/** Uses up an earlier recovery code, inside a unit of work that holds the account's lock. @returns when it was made */
export function* spendEarlierRecoveryCode(accountId: string, hash: string): Work<number | undefined> {
  const used = (yield* listRemembered(accountId, 'codes')).find((one) => codesOf(one).hashes.includes(hash));
  if (used === undefined) return undefined;
  const codes = codesOf(used);
  yield* updateReplaced({
    hash: used.hash,
    value: codesValue({ ...codes, hashes: codes.hashes.filter((other) => other !== hash) }),
  });
  return used.setUpAt;
}

/** What became of the app and the codes of an account that was taken back. */
export interface SettledFactors {
  readonly removed: { readonly [kind in CodeKind]: boolean };
  readonly restored: { readonly [kind in CodeKind]: boolean };
}

/** Leaves an account that is taken back its app and its codes, inside a unit of work that holds its lock. */
export function* settleFactors(accountId: string, back: TakingBack, at: number): Work<SettledFactors> {
  const [apps, codes] = [yield* readApps(accountId), yield* readCodes(accountId)];
  const hadApp = isKept(apps, back.span);
  const isProtected = hadApp || isKept(codes, back.span);
  const settled = {
    apps: afterTakingBack('app', apps, back, hadApp, at),
    codes: afterTakingBack('codes', codes, back, isProtected, at),
  };
  return yield* store(accountId, { apps, codes }, settled);
}

/** Leaves an account its app and its codes after a recovery, in which one may have been shown. */
export function* settleAfterRecovery(accountId: string, back: TakingBack, at: number): Work<SettledFactors> {
  const [apps, codes] = [yield* readApps(accountId), yield* readCodes(accountId)];
  const settled = {
    apps: afterRecovery('app', apps, back, at),
    codes: afterRecovery('codes', codes, back, at),
  };
  return yield* store(accountId, { apps, codes }, settled);
}

interface Histories {
  readonly apps: History<HeldApp>;
  readonly codes: History<HeldCodes>;
}

function* store(accountId: string, before: Histories, { apps, codes }: Histories): Work<SettledFactors> {
  const isAnother = (one: Held | undefined, other: Held | undefined) =>
    one !== undefined && one.setUpAt !== other?.setUpAt;
  const removed = {
    app: isAnother(before.apps.present, apps.present),
    codes: isAnother(before.codes.present, codes.present),
  };
  const restored = {
    app: isAnother(apps.present, before.apps.present),
    codes: isAnother(codes.present, before.codes.present),
  };
  if (removed.app) yield* removeTotpSeed({ accountId });
  if (restored.app && apps.present !== undefined) {
    const { sealed, lastStep, setUpAt } = apps.present;
    yield* saveTotpSeed({ accountId, sealed, lastStep, generation: '', now: setUpAt });
  }
  if (removed.codes) yield* removeRecoveryCodes({ accountId });
  if (restored.codes && codes.present !== undefined) {
    const { hashes, setUpAt } = codes.present;
    for (const hash of hashes) yield* insertRecoveryCode({ accountId, hash, now: setUpAt });
  }
  yield* storeRemembered(accountId, 'app', before.apps, apps, seedValue);
  yield* storeRemembered(accountId, 'codes', before.codes, codes, codesValue);
  return { removed, restored };
}

function* storeRemembered<T extends Held>(
  accountId: string,
  kind: CodeKind,
  before: History<T>,
  after: History<T>,
  textOf: (one: T) => string,
): Work<void> {
  if (after === before) return;
  for (const { hash } of yield* listRemembered(accountId, kind)) yield* removeReplaced({ hash });
  for (const which of ['earlier', 'aside'] as const) {
    for (const one of after[which]) {
      const { setUpAt, replacedAt } = one;
      yield* insertReplaced({ accountId, kind: KINDS[kind][which], value: textOf(one), setUpAt, replacedAt });
    }
  }
}

/** Forgets the earlier apps and recovery codes of an account, whose second factor an operator has reset. */
export function* forgetEarlierFactors(accountId: string): Work<void> {
  for (const kind of ['app', 'codes'] as const) {
    for (const { hash } of yield* listRemembered(accountId, kind)) yield* removeReplaced({ hash });
  }
}
