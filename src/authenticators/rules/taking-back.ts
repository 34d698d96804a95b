import type { Method } from './authentication-context.ts';
import type { FactorUse } from './factors.ts';

/*
 * Which second factors take an account back, and which it has then. Nobody can tell whether an app or codes were renewed by the owner, who
 * may not have those of before any more, or by a thief, who keeps the owner out with the new ones. So both are accepted, an older one beats
 * a younger one, and mail alone is not enough. A factor that was removed is not asked for again: that took a proof as strong as itself.
 *
 * What an owner has ended is neither accepted nor given back: what a recovery ended, and a passkey that was removed by another factor from
 * before, or in place of which the owner has shown another one since.
 */

/** A second factor that an account has or had, by the time of the account. */
export interface Held {
  readonly setUpAt: number;
  /** When it was replaced, removed or set aside; infinite while the account has it. */
  readonly replacedAt: number;
  /** When a recovery ended it for good. */
  readonly endedAt?: number | null;
  /** When the second factor was set up that was shown to remove it; {@link BY_OPERATOR} for an operator. */
  readonly removedBy?: number | null;
}

/** When the second factor was set up that a session has shown last; null where that was none. */
export const secondFactorOf = ({
  provedBy,
  provedFactorSince,
}: {
  readonly provedBy: Method;
  readonly provedFactorSince: number | null;
}): number | null =>
  provedBy === 'totp' || provedBy === 'passkey' || provedBy === 'recovery code' ? provedFactorSince : null;

/** An operator who removes a factor is as good as one from before. */
export const BY_OPERATOR = 0;

/** The authenticator apps of an account, or its recovery codes. */
export interface History<T extends Held = Held> {
  readonly present: T | undefined;
  /** What was replaced or removed. */
  readonly earlier: readonly T[];
  /** What was set up while the account may have been in foreign hands. It opens nothing, but a recovery accepts it. */
  readonly aside: readonly T[];
}

/** Since when an account may have been in foreign hands, and until when: the change that is undone, or now. */
export interface Span {
  readonly since: number;
  readonly until: number;
  /** When the second factor was set up that proved the change. */
  readonly provedBy?: number | null;
}

/** From an instant until now. */
export const untilNow = (since: number): Span => ({ since, until: Number.POSITIVE_INFINITY });

/**
 * What an account had at the end of a span, and what that replaced, back to what the account had at its beginning: the latest first. Where
 * something was removed, nothing from before that is among them. One passkey replaces another that was removed after it was set up.
 */
export function lineOf<T extends Held>(held: readonly T[], { since, until }: Span): readonly T[] {
  const found: T[] = [];
  let next = held.filter(({ setUpAt, replacedAt }) => setUpAt < until && replacedAt >= until);
  while (next.length > 0) {
    found.push(...next);
    const from = Math.min(...found.map(({ setUpAt }) => setUpAt));
    next = from < since ? [] : held.filter(({ setUpAt, replacedAt }) => setUpAt < from && replacedAt >= from);
  }
  return found;
}

/** Whether a recovery before the end of a span ended a factor for good. One after it may be another person's. */
export const isRecovered = ({ endedAt = null }: Held, { until }: Pick<Span, 'until'>): boolean =>
  endedAt !== null && endedAt < until;

/**
 * Whether the owner of an account has ended a passkey: it was removed by another factor from before a span, or by a younger passkey that
 * stood at its end, or such a passkey proved the change. In a session that another person may have copied, the passkey itself was shown.
 */
function isRemoved({ setUpAt, replacedAt, removedBy = null }: Held, held: readonly Held[], span: Span): boolean {
  if (replacedAt === Number.POSITIVE_INFINITY) return false;
  const isOther = (shown: number | null): shown is number => shown !== null && shown !== setUpAt;
  if (isOther(removedBy) && removedBy < span.since) return true;
  if (replacedAt >= span.until) return false;
  const { provedBy = null } = span;
  return [removedBy, provedBy].filter(isOther).some((shown) => shown < span.since || isStanding(shown, held, span));
}

const isStanding = (shown: number, held: readonly Held[], { until }: Span): boolean =>
  held.some(({ setUpAt, replacedAt }) => setUpAt === shown && setUpAt < until && replacedAt >= until);

/** Of the passkeys that an account has and had, those that take it back. */
export function acceptedOf<T extends Held>(held: readonly T[], span: Span): readonly T[] {
  const line = keptLine(lineOf(held, span), span).filter((one) => !isRecovered(one, span));
  const accepted = line.filter((one) => !isRemoved(one, held, span));
  // Who reads the mail alone undoes nothing.
  return accepted.length > 0 ? accepted : line;
}

/** Of the passkeys that an account had before a span, those that it has again when it is taken back. */
export function restoredOf<T extends Held>(held: readonly T[], { span, shown }: TakingBack): readonly T[] {
  const own = shown?.method === 'passkey' ? shown.factorSince : null;
  const gone = acceptedOf(held, span).filter(
    ({ setUpAt, replacedAt }) => setUpAt < span.since && replacedAt !== Number.POSITIVE_INFINITY,
  );
  // Who shows a younger passkey has replaced those from before.
  if (own !== null && own >= span.since) return [];
  return gone.filter((one) => one.setUpAt === own || !isRemoved(one, held, span));
}

/** Whether a passkey came by the recovery that began a span, which ended those before it. A report takes that recovery back, an undo does not. */
export const isOfRecovery = ({ setUpAt }: Held, held: readonly Held[], { since, until }: Span): boolean =>
  setUpAt === since &&
  setUpAt < until &&
  Number.isFinite(until) &&
  held.some(({ endedAt = null }) => endedAt === setUpAt);

/** All that an account has and had of a kind. */
const heldIn = <T extends Held>({ present, earlier }: History<T>): readonly T[] =>
  present === undefined ? earlier : [present, ...earlier];

/** {@link lineOf} the authenticator apps or the recovery codes of an account. */
export const lineage = <T extends Held>(history: History<T>, span: Span): readonly T[] => lineOf(heldIn(history), span);

/** A line that reaches back to before its span; empty where the account had nothing of the kind then, or has had a gap since. */
export const keptLine = <T extends Held>(line: readonly T[], { since }: Pick<Span, 'since'>): readonly T[] =>
  line.some(({ setUpAt }) => setUpAt < since) ? line : [];

/** Whether a factor that was set up at an instant is one of some. */
export const isAmong = (held: readonly Held[], since: number | null): boolean =>
  held.some(({ setUpAt }) => setUpAt === since);

/** Whether an account had a second factor of a kind without a gap since the beginning of a span. */
export const isKept = (history: History, span: Span): boolean => keptLine(lineage(history, span), span).length > 0;

/** What takes an account back: a code of any of these is accepted. What was set aside is, however long the recovery takes. */
export const acceptedIn = <T extends Held>(history: History<T>, span: Span): readonly T[] => [
  ...lineage(history, span).filter((one) => !isRecovered(one, span)),
  ...history.aside.filter(({ setUpAt }) => setUpAt < span.until),
];

/** The codes that stand beside the link of a message. */
export type CodeKind = 'app' | 'codes';

/** When the app, or the codes, were set up that a person has shown; undefined where they have shown none. */
const shownOf = (kind: CodeKind, shown: FactorUse | undefined): number | undefined =>
  shown?.method === (kind === 'app' ? 'totp' : 'recovery code') ? (shown.factorSince ?? undefined) : undefined;

/** How an account is taken back: by a link, a report, a form or an operator. */
export interface TakingBack {
  readonly span: Span;
  /** The second factor that the person has just shown, if any. */
  readonly shown?: FactorUse | undefined;
  /** When the passkeys were set up with which another person may have acted, however old they are: they go, but for one that was shown. */
  readonly passkeys?: readonly number[];
  /** Whether the password stays: then the last passkey from before that another person removed is there again, although they used it. */
  readonly keepsPassword?: boolean;
}

/** So much is set aside of each kind: what came first. */
const MOST_ASIDE = 8;

/**
 * What an account has after it is taken back: what was shown, or else what it had before. What was renewed in between is set aside for the
 * recovery, if the account had a second factor before.
 * @param isProtected whether it had one
 * @param at the time of the account
 */
export function afterTakingBack<T extends Held>(
  kind: CodeKind,
  history: History<T>,
  { span, shown }: TakingBack,
  isProtected: boolean,
  at: number,
): History<T> {
  const own = shownOf(kind, shown);
  if (own !== undefined) return withShown(history, own);
  const { present, earlier, aside } = history;
  const kept = lineage(history, span).find((one) => one.setUpAt < span.since && !isRecovered(one, span));
  if (present === undefined ? kept === undefined : present.setUpAt < span.since) return history;
  const isAside = ({ setUpAt }: T) => setUpAt >= span.since && setUpAt < span.until;
  const removed = present === undefined ? [] : [{ ...present, replacedAt: at }];
  const renewed = [...removed, ...earlier].filter(isAside);
  return {
    present: again(kept),
    earlier: earlier.filter((one) => one !== kept && one.setUpAt < span.since),
    aside: isProtected ? [...renewed, ...aside].slice(-MOST_ASIDE) : [],
  };
}

/** What an account had, as it has it again. */
const again = <T extends Held>(one: T | undefined): T | undefined =>
  one && { ...one, replacedAt: Number.POSITIVE_INFINITY, endedAt: null };

/** With what was shown, and nothing that is younger. What is older still beats it. */
function withShown<T extends Held>({ present, earlier, aside }: History<T>, shown: number): History<T> {
  if (present?.setUpAt === shown) return { present, earlier, aside: aside.filter(({ setUpAt }) => setUpAt < shown) };
  const isOlder = ({ setUpAt }: T) => setUpAt < shown;
  const replaced = present === undefined ? [] : [{ ...present, replacedAt: shown }];
  return {
    present: again([...earlier, ...aside].find(({ setUpAt }) => setUpAt === shown)),
    earlier: [...replaced, ...earlier].filter(isOlder),
    aside: aside.filter(isOlder),
  };
}

/**
 * What an account has after a recovery: what was shown. An app that was not renewed in the last days stays without being shown; codes do
 * not, since another person may keep them.
 */
export function afterRecovery<T extends Held>(
  kind: CodeKind,
  history: History<T>,
  { span, shown }: TakingBack,
  at: number,
): History<T> {
  const own = shownOf(kind, shown);
  if (own !== undefined) return withShown(history, own);
  if (kind === 'app' && acceptedIn(history, span).length <= 1) return history;
  const { present, earlier } = history;
  const removed = present === undefined ? [] : [{ ...present, replacedAt: at }];
  const ended = [...removed, ...earlier].map((one) => ({ ...one, endedAt: one.endedAt ?? at }));
  return { present: undefined, earlier: ended, aside: [] };
}

/**
 * Since when an account was in foreign hands, as the factor says that was shown: since the first one was renewed that is as old or older.
 * Infinite where it says nothing.
 */
export function foreignSince(accepted: readonly Held[], { factorSince }: FactorUse): number {
  const later = accepted.filter(({ replacedAt }) => factorSince !== null && replacedAt > factorSince);
  return Math.min(Number.POSITIVE_INFINITY, ...later.map(({ replacedAt }) => replacedAt));
}
