import type { CountInSpan } from '../../audit/count-store.ts';

/** What the overview counts: each the sum of some types of events, whose rows are found by a filter of the audit trail. */
export const COUNTED = {
  signIns: { types: ['sign_in.succeeded'], filter: { type: 'sign_in.succeeded' } },
  failures: { types: ['sign_in.failed'], filter: { type: 'sign_in.failed' } },
  tokens: { types: ['token.issued', 'token.refreshed', 'token.client_issued'], filter: { type: 'token' } },
  refusals: { types: ['token.refused', 'authorization.refused', 'client.auth_failed'], filter: { outcome: 'failure' } },
  accounts: { types: ['account.created'], filter: { type: 'account.created' } },
} as const;
export type Counted = keyof typeof COUNTED;

export const PERIODS = { day: { spans: 24, width: 1 }, month: { spans: 30, width: 24 } } as const;
export type Period = keyof typeof PERIODS;

export const isPeriod = (text: string): text is Period => Object.hasOwn(PERIODS, text);

/** The first hour of a period that ends with the present hour or day. */
export function firstHour(period: Period, hour: number): number {
  const { spans, width } = PERIODS[period];
  return (Math.floor(hour / width) - spans + 1) * width;
}

/** One number for each span of a period, the earliest first. */
export function seriesOf(
  counts: readonly CountInSpan[],
  counted: Counted,
  period: Period,
  hour: number,
): readonly number[] {
  const { spans, width } = PERIODS[period];
  const first = firstHour(period, hour) / width;
  const types: readonly string[] = COUNTED[counted].types;
  return Array.from({ length: spans }, (_, index) =>
    counts
      .filter(({ span, type }) => span === first + index && types.includes(type))
      .reduce((sum, { count }) => sum + count, 0),
  );
}
