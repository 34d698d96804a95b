import type { Activity } from '../../../audit/activity-store.ts';
import { addressBucket, networkOf } from '../../../platform/validation/origin.ts';

/** One event, or failed sign-ins in a row, which are shown as one. */
export interface ActivityRun {
  /** The latest. */
  readonly event: Activity;
  readonly count: number;
  /** When the first was. */
  readonly since: number;
  /** Of all of them; empty where it is not known or not the same. */
  readonly device: { readonly browser: string | null; readonly system: string | null };
  readonly network: string | null;
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function runOf(event: Activity): ActivityRun {
  const { at, details, address } = event;
  return {
    event,
    count: 1,
    since: at,
    device: { browser: textOf(details['browser']), system: textOf(details['system']) },
    network: address === null ? null : networkOf(addressBucket(address)),
  };
}

/** Groups failed sign-ins in a row, so that somebody who guesses passwords does not hide what else happened. */
export function groupFailures(events: readonly Activity[]): readonly ActivityRun[] {
  const runs: ActivityRun[] = [];
  for (const event of events) {
    const last = runs.at(-1);
    const next = runOf(event);
    if (last === undefined || event.type !== 'sign_in.failed' || last.event.type !== event.type) {
      runs.push(next);
      continue;
    }
    const same = <T>(a: T, b: T): T | null => (a === b ? a : null);
    runs[runs.length - 1] = {
      event: last.event,
      count: last.count + 1,
      since: next.since,
      device: {
        browser: same(last.device.browser, next.device.browser),
        system: same(last.device.system, next.device.system),
      },
      network: same(last.network, next.network),
    };
  }
  return runs;
}
