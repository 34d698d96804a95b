import { DAY } from '../clock.ts';
import type { Reading } from './variable.ts';

/** A number of days in milliseconds; null for `off`. */
export function days(value: string): Reading<number | null> {
  if (value === 'off') return { value: null };
  const count = Number(/^([1-9]\d{0,3})d$/.exec(value)?.[1] ?? Number.NaN);
  return count > 0 ? { value: count * DAY } : { problem: 'must be a number of days such as 90d, or off' };
}

/** `1` or `true`, `0` or `false`. */
export function flag(value: string): Reading<boolean> {
  if (value === '1' || value === 'true') return { value: true };
  if (value === '0' || value === 'false') return { value: false };
  return { problem: 'must be 1 or 0' };
}

/** `on` or `off`. */
export function onOff(value: string): Reading<boolean> {
  return value === 'on' || value === 'off' ? { value: value === 'on' } : { problem: 'must be on or off' };
}
