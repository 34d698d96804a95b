import { HOUR } from '../../platform/clock.ts';

/** The types of events that are counted by the hour. */
const COUNTED_TYPES = [
  'sign_in.succeeded',
  'sign_in.failed',
  'token.issued',
  'token.refreshed',
  'token.client_issued',
  'token.refused',
  'authorization.refused',
  'client.auth_failed',
  'limit.exceeded',
  'account.created',
] as const;
type CountedType = (typeof COUNTED_TYPES)[number];

/** As much of an event as is counted. */
export interface CountableEvent {
  readonly id: string;
  readonly at: number;
  readonly type: string;
  readonly outcome: string;
  readonly clientId: string | null;
  /** A JSON object. */
  readonly details: string;
}

/** How many events there were in an hour, counted from the Unix epoch. */
export interface EventCount {
  readonly hour: number;
  readonly type: CountedType;
  /** Why something was refused; empty for what was not. */
  readonly reason: string;
  /** The app that was refused something; `0` for none, and for what was not refused. */
  readonly clientId: string;
  readonly count: number;
}

/** Reasons come from a closed set; one that is longer was made up. */
const LONGEST_REASON = 100;

function reasonOf({ details }: CountableEvent): string {
  const { reason } = JSON.parse(details) as { readonly reason?: unknown };
  return typeof reason === 'string' ? reason.slice(0, LONGEST_REASON) : '';
}

/** Those of what was refused. */
export const REFUSAL_TYPES: readonly CountedType[] = COUNTED_TYPES.filter((type) =>
  /\.(failed|refused|auth_failed|exceeded)$/.test(type),
);

/** Adds events up by hour, type, reason and app. */
export function countsOf(events: readonly CountableEvent[]): readonly EventCount[] {
  const counts = new Map<string, EventCount>();
  for (const event of events) {
    const type = COUNTED_TYPES.find((name) => name === event.type);
    if (type === undefined) continue;
    const refused = REFUSAL_TYPES.includes(type);
    const hour = Math.floor(event.at / HOUR);
    const reason = refused ? reasonOf(event) : '';
    const clientId = refused ? (event.clientId ?? '0') : '0';
    const key = JSON.stringify([hour, type, reason, clientId]);
    const before = counts.get(key)?.count ?? 0;
    counts.set(key, { hour, type, reason, clientId, count: before + 1 });
  }
  return [...counts.values()];
}
