import {
  endReplaced,
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
import { insertPasskey, listPasskeys, type Passkey, removePasskey } from './passkey-store.ts';
import { insertRecoveryCode, listRecoveryCodes, removeRecoveryCodes } from './recovery-code-store.ts';
import {
  acceptedIn,
  acceptedOf,
  afterRecovery,
  afterTakingBack,
  type CodeKind,
  type Held,
  type History,
  isKept,
  isOfRecovery,
  keptLine,
  lineage,
  lineOf,
  restoredOf,
  type Span,
  type TakingBack,
  untilNow,
} from './rules/taking-back.ts';
import { findTotpSeed, removeTotpSeed, saveTotpSeed, type TotpSeed } from './totp-store.ts';

/*
 * The authenticator apps, the recovery codes and the passkeys that an account had before these were replaced or removed, for those who take
 * it back: see `rules/taking-back.ts`.
 */

type SeedValue = Pick<TotpSeed, 'sealed' | 'lastStep'>;

/** An authenticator app that an account has or had. */
export interface HeldApp extends Held, SeedValue {}

/** Recovery codes that an account has or had: the hashes of those that can still be used. */
export interface HeldCodes extends Held {
  readonly hashes: readonly string[];
}

const heldOf = ({ setUpAt, replacedAt, endedAt, removedBy }: Omit<Replaced, 'value'>): Held => ({
  setUpAt,
  replacedAt,
  endedAt,
  removedBy,
});
const appOf = ({ value, ...held }: Replaced): HeldApp => ({ ...(JSON.parse(value) as SeedValue), ...heldOf(held) });
const seedValue = ({ sealed, lastStep }: HeldApp): string => JSON.stringify({ sealed, lastStep } satisfies SeedValue);
const codesOf = ({ value, ...held }: Replaced): HeldCodes => ({
  hashes: JSON.parse(value) as readonly string[],
  ...heldOf(held),
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

/** A passkey that an account has or had. */
export interface HeldPasskey extends Held, Passkey {}

type StoredPasskey = Omit<Passkey, 'publicKey'> & { readonly publicKey: string };

const passkeyValue = ({ publicKey, ...passkey }: Passkey): string =>
  JSON.stringify({ ...passkey, publicKey: Buffer.from(publicKey).toString('base64url') } satisfies StoredPasskey);

function passkeyOf({ value, ...held }: Replaced): HeldPasskey {
  const { publicKey, ...passkey } = JSON.parse(value) as StoredPasskey;
  return { ...passkey, publicKey: Buffer.from(publicKey, 'base64url'), ...heldOf(held) };
}

function* readPasskeys(accountId: string): Work<readonly HeldPasskey[]> {
  const present = (yield* listPasskeys({ accountId })).map((passkey) => ({
    ...passkey,
    setUpAt: passkey.createdAt,
    replacedAt: NOT_REPLACED,
  }));
  return [...present, ...(yield* listReplaced({ accountId, kind: 'passkey' })).map(passkeyOf)];
}

/** So many passkeys are remembered: those that were set up first, which no later ones push out. */
const MOST_PASSKEYS = 20;

/** How passkeys go: see {@link Held}. */
type Removal = Pick<Held, 'removedBy' | 'endedAt'>;

/**
 * Removes passkeys of an account, and remembers them for those who take it back, inside a unit of work that holds its lock.
 * @param isRemoved which of them; all by default
 * @param at the time of the account
 * @returns how many were removed
 */
export function* removePasskeys(
  accountId: string,
  at: number,
  isRemoved: (passkey: Passkey) => boolean = () => true,
  removal: Removal = {},
): Work<number> {
  const removed = (yield* listPasskeys({ accountId })).filter(isRemoved);
  for (const passkey of removed) {
    const { id, createdAt: setUpAt } = passkey;
    yield* removePasskey({ id, accountId });
    const gone = { value: passkeyValue(passkey), setUpAt, replacedAt: at, ...removal };
    yield* insertReplaced({ accountId, kind: 'passkey', ...gone });
  }
  const remembered = yield* listReplaced({ accountId, kind: 'passkey' });
  const younger = remembered.toSorted((one, other) => one.setUpAt - other.setUpAt).slice(MOST_PASSKEYS);
  for (const { hash } of younger) yield* removeReplaced({ hash });
  return removed.length;
}

/** Ends all passkeys of an account for good, those included that went before, in the unit of work of a recovery. */
export function* endPasskeys(accountId: string, at: number): Work<void> {
  yield* removePasskeys(accountId, at, undefined, { endedAt: at });
  yield* endReplaced({ accountId, kind: 'passkey', endedAt: at });
}

/** What became of the passkeys of an account that was taken back. */
export interface SettledPasskeys {
  /** How many were removed that were added since. */
  readonly passkeys: number;
  /** How many are there again. */
  readonly passkeysRestored: number;
  /** How many were removed with which another person may have acted. */
  readonly usedPasskeys: number;
}

/**
 * Leaves an account that is taken back its passkeys, inside a unit of work that holds its lock: those that were added since go, unless a
 * recovery of the owner gave them or one was shown, and those from before come back that another person may have replaced or removed.
 */
export function* settlePasskeys(accountId: string, back: TakingBack, at: number): Work<SettledPasskeys> {
  const { span, shown, passkeys: acted = [], keepsPassword = false } = back;
  const held = yield* readPasskeys(accountId);
  const own = shown?.method === 'passkey' ? shown.factorSince : null;
  const isUsed = ({ setUpAt }: Held) => acted.includes(setUpAt) && setUpAt !== own;
  const used = held.filter((one) => one.replacedAt === NOT_REPLACED && isUsed(one));
  // Nobody shows these again: they are not remembered.
  for (const { id } of used) yield* removePasskey({ id, accountId });
  const passkeys = yield* removePasskeys(accountId, at, (passkey) => {
    const one = { setUpAt: passkey.createdAt, replacedAt: NOT_REPLACED };
    return one.setUpAt >= span.since && one.setUpAt !== own && !isOfRecovery(one, held, span);
  });
  const restored = restoredOf(held, back);
  const unused = restored.filter((one) => !isUsed(one));
  const isLast = unused.length === 0 && keepsPassword && (yield* listPasskeys({ accountId })).length === 0;
  const again = isLast ? restored : unused;
  const ids = again.map(({ id }) => id);
  for (const { setUpAt: _from, replacedAt: _until, endedAt: _end, removedBy: _by, ...passkey } of again) {
    yield* insertPasskey(passkey);
  }
  for (const one of yield* listReplaced({ accountId, kind: 'passkey' })) {
    if (ids.includes(passkeyOf(one).id)) yield* removeReplaced({ hash: one.hash });
  }
  return { passkeys, passkeysRestored: again.length, usedPasskeys: used.length };
}

/** The passkeys of which one is accepted where a change of address is undone. */
export function* acceptedPasskeys(accountId: string, span: Span): Work<readonly HeldPasskey[]> {
  return acceptedOf(yield* readPasskeys(accountId), span);
}

/** The apps of which a code is accepted where an account is taken back. */
export function* acceptedApps(accountId: string, span: Span): Work<readonly HeldApp[]> {
  return acceptedIn(yield* readApps(accountId), span);
}

/** The recovery codes that are accepted there, and can still be used. */
export function* acceptedCodes(accountId: string, span: Span): Work<readonly HeldCodes[]> {
  return acceptedIn(yield* readCodes(accountId), span).filter(({ hashes }) => hashes.length > 0);
}

/** The kinds of second factor that an account had in a span, and before it, of which its owner can show one. */
export function* askedIn(accountId: string, span: Span): Work<readonly ('code' | 'passkey')[]> {
  const codes = yield* readCodes(accountId);
  // Codes stand in for the app.
  const hasCode =
    isKept(yield* readApps(accountId), span) ||
    (isKept(codes, span) && (yield* acceptedCodes(accountId, span)).length > 0);
  const hasPasskey = (yield* acceptedPasskeys(accountId, span)).length > 0;
  return [...(hasCode ? (['code'] as const) : []), ...(hasPasskey ? (['passkey'] as const) : [])];
}

/**
 * The second factors from before a span, and those that replaced them, in it or until now; undefined where the account had none at its end.
 * What was removed is among them, and what was set up after that is not.
 */
export function* factorsOfThen(accountId: string, span: Span): Work<readonly Held[] | undefined> {
  if ((yield* askedIn(accountId, span)).length === 0) return undefined;
  const [apps, codes] = [yield* readApps(accountId), yield* readCodes(accountId)];
  const passkeys = yield* readPasskeys(accountId);
  return [span, untilNow(span.since)].flatMap((one) =>
    [lineage<Held>(apps, one), lineage<Held>(codes, one), lineOf<Held>(passkeys, one)].flatMap((line) =>
      keptLine(line, one),
    ),
  );
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
      const removal = { endedAt: one.endedAt ?? null, removedBy: one.removedBy ?? null };
      yield* insertReplaced({
        accountId,
        kind: KINDS[kind][which],
        value: textOf(one),
        setUpAt,
        replacedAt,
        ...removal,
      });
    }
  }
}

/** Forgets the earlier factors of an account, whose second factor an operator has reset. */
export function* forgetEarlierFactors(accountId: string): Work<void> {
  yield* forgetReplaced({ accountId, kind: 'passkey', since: 0 });
  for (const kind of ['app', 'codes'] as const) {
    for (const { hash } of yield* listRemembered(accountId, kind)) yield* removeReplaced({ hash });
  }
}
