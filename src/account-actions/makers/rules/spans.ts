/** From one instant on, and before another one. */
export interface TimeSpan {
  readonly since: number;
  readonly until: number;
}

/** The end of what has none, as a number that the databases store. */
export const NO_END = Number.MAX_SAFE_INTEGER;

export const isInSpan = ({ since, until }: TimeSpan, at: number): boolean => since <= at && at < until;

/** Spans and another one as spans that do not touch, the earliest first. */
export function withSpan(spans: readonly TimeSpan[], added: TimeSpan): readonly TimeSpan[] {
  if (added.since >= added.until) return spans;
  const isApart = ({ since, until }: TimeSpan): boolean => until < added.since || since > added.until;
  const joined = [added, ...spans.filter((span) => !isApart(span))];
  const whole = {
    since: Math.min(...joined.map(({ since }) => since)),
    until: Math.max(...joined.map(({ until }) => until)),
  };
  return [...spans.filter(isApart), whole].sort((one, other) => one.since - other.since);
}

/** The parts of a span before, between and after some instants, the earliest first. */
export function cutAt({ since, until }: TimeSpan, instants: readonly number[]): readonly TimeSpan[] {
  const inside = [...new Set(instants)].filter((at) => since < at && at < until).sort((one, other) => one - other);
  const ends = [...inside, until];
  return [since, ...inside].map((from, index) => ({ since: from, until: ends[index] ?? until }));
}

/** What is left of a span without some that do not touch, the earliest first. */
export function outsideOf(spans: readonly TimeSpan[], { since, until }: TimeSpan): readonly TimeSpan[] {
  const left: TimeSpan[] = [];
  let from = since;
  for (const span of spans) {
    if (span.since > from) left.push({ since: from, until: Math.min(span.since, until) });
    from = Math.max(from, span.until);
  }
  if (from < until) left.push({ since: from, until });
  return left.filter((span) => span.since < span.until);
}
