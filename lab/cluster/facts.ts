import type { Moment } from './history.ts';

/** Whether something holds at a point in time that is not known exactly. */
export type Maybe = 'no' | 'maybe' | 'yes';

/**
 * Whether one of these events, each of which ends for ever what was there before it, ended what was born in `born` by the
 * time that it was used in `use`. Each happened at some point between its start and its end.
 */
export function ended(events: readonly Moment[], born: Moment, use: Moment): Maybe {
  let found: Maybe = 'no';
  for (const { start, end } of events) {
    if (start >= born.end && end <= use.start) return 'yes';
    if (end > born.start && start < use.end) found = 'maybe';
  }
  return found;
}

/** Whether one of these events happened before `use`, whatever came first otherwise. */
export function happened(events: readonly Moment[], use: Moment): Maybe {
  let found: Maybe = 'no';
  for (const { start, end } of events) {
    if (end <= use.start) return 'yes';
    if (start < use.end) found = 'maybe';
  }
  return found;
}

interface Change extends Moment {
  readonly to: boolean;
}

/** Something that is switched on and off: banned, suspended, disabled, consented to. It is off at first. */
export class Switch {
  readonly #changes: Change[] = [];

  add(change: Change): void {
    this.#changes.push(change);
    this.#changes.sort((one, other) => one.start - other.start);
  }

  /**
   * Whether it was on at some point of `use`, or at all of them.
   * @param except a change that is not counted
   */
  during(use: Moment, except?: Moment): Maybe {
    const changes = this.#changes.filter(({ start }) => start !== except?.start);
    // What could have been the last change before the use, and what happened within it.
    const before = changes.filter(({ end }) => end <= use.start);
    const lastStart = Math.max(Number.NEGATIVE_INFINITY, ...before.map(({ start }) => start));
    const possible = new Set<boolean>();
    for (const change of changes) {
      const within = change.end > use.start && change.start < use.end;
      // Overlapped by the latest one to start, it may have come after it.
      if (within || (change.end <= use.start && change.end > lastStart)) possible.add(change.to);
    }
    if (before.length === 0) possible.add(false);
    if (possible.size === 2) return 'maybe';
    return possible.has(true) ? 'yes' : 'no';
  }
}
