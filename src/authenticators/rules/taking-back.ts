import type { FactorUse } from './factors.ts';

/*
 * Which second factors take an account back, and which it has then. Nobody can tell whether an app or codes were renewed by the owner, who
 * may not have those of before any more, or by a thief, who keeps the owner out with the new ones. So both are accepted, an older one beats
 * a younger one, and mail alone is not enough. A factor that was removed is not asked for again: that took a proof as strong as itself.
 */

/** A second factor that an account has or had, by the time of the account. */
export interface Held {
  readonly setUpAt: number;
  /** Infinite while the account has it. */
  readonly replacedAt: number;
}

/** Since when an account may have been in foreign hands, and until when: the change that is undone, or now. */
export interface Span {
  readonly since: number;
  readonly until: number;
}

/** From an instant until now. */
export const untilNow = (since: number): Span => ({ since, until: Number.POSITIVE_INFINITY });

/**
 * What an account had at the end of a span, and what that replaced, back to what the account had at its beginning: the latest first. Where
 * something was removed, nothing from before that is among them.
 */
export function lineage<T extends Held>(held: readonly T[], { since, until }: Span): readonly T[] {
  const found: T[] = [];
  let next = held.find(({ setUpAt, replacedAt }) => setUpAt < until && replacedAt >= until);
  while (next !== undefined) {
    found.push(next);
    const { setUpAt } = next;
    next = setUpAt < since ? undefined : held.find(({ replacedAt }) => replacedAt === setUpAt);
  }
  return found;
}

/** Whether an account had a second factor of a kind without a gap since an instant. */
export const isKeptSince = (line: readonly Held[], since: number): boolean =>
  line.some(({ setUpAt }) => setUpAt < since);

/** Whether a factor was renewed in a span, so that either may be the owner's. */
export const isContested = (line: readonly Held[], since: number): boolean =>
  line.length > 1 && isKeptSince(line, since);

/** The codes that stand beside the link of a message. */
export type CodeKind = 'app' | 'codes';

/** When the app, or the codes, were set up that a person has shown; undefined where they have shown none. */
const shownOf = (kind: CodeKind, shown: FactorUse | undefined): number | undefined =>
  shown?.method === (kind === 'app' ? 'totp' : 'recovery code') ? (shown.factorSince ?? undefined) : undefined;

/** How an account is taken back. */
export interface TakingBack {
  readonly span: Span;
  /** The second factor that the person has just shown, if any. */
  readonly shown?: FactorUse | undefined;
  /** Whether a recovery follows, which asks for a factor again, and accepts the earlier ones. */
  readonly isRecovered: boolean;
}

/**
 * The app, or the codes, that an account has after it is taken back by a link, a report, a form or an operator.
 * @param line those of the span
 * @param isAsked whether a recovery asks for such a code
 */
export function keptOf<T extends Held>(
  kind: CodeKind,
  {
    present,
    line,
    isAsked,
  }: { readonly present: T | undefined; readonly line: readonly T[]; readonly isAsked: boolean },
  { span: { since }, shown, isRecovered }: TakingBack,
): T | undefined {
  const own = shownOf(kind, shown);
  if (own !== undefined) return present?.setUpAt === own ? present : line.find(({ setUpAt }) => setUpAt === own);
  if (present === undefined || present.setUpAt < since) return present;
  // What was renewed in the span stays open until the recovery. Without one, neither of them stays.
  const isOpen = isRecovered && isAsked;
  return isOpen || (isKeptSince(line, since) && line.length === 1) ? line[0] : undefined;
}

/**
 * The app, or the codes, that an account has after a recovery: what was shown. An app that was not replaced in the last days stays without
 * being shown; codes do not, since another person may keep them.
 * @param line from what the account has back to what it had days ago
 */
export function keptInRecovery<T extends Held>(
  kind: CodeKind,
  line: readonly T[],
  shown: FactorUse | undefined,
): T | undefined {
  const own = shownOf(kind, shown);
  if (own !== undefined) return line.find(({ setUpAt }) => setUpAt === own);
  return kind === 'app' && line.length === 1 ? line[0] : undefined;
}

/**
 * Since when an account was in foreign hands, as the factor says that was shown: since the first one was renewed that is as old or older.
 * Infinite where it says nothing.
 */
export function foreignSince(lines: readonly (readonly Held[])[], { factorSince }: FactorUse): number {
  if (factorSince === null) return Number.POSITIVE_INFINITY;
  const renewals = lines.flat().map(({ replacedAt }) => replacedAt);
  return Math.min(Number.POSITIVE_INFINITY, ...renewals.filter((replacedAt) => replacedAt > factorSince));
}
