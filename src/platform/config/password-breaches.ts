import { isLoopback } from './loopback.ts';
import type { Reading } from './variable.ts';

const HAVE_I_BEEN_PWNED = 'https://api.pwnedpasswords.com/range/';

/** The address of a service that knows breached passwords; null asks none. */
export function passwordBreaches(value: string): Reading<string | null> {
  if (value === 'off') return { value: null };
  if (value === 'hibp') return { value: HAVE_I_BEEN_PWNED };
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url !== undefined && safe && !url.search && !url.hash && !url.username && !url.password) {
    return { value: url.href.replace(/\/*$/, '/') };
  }
  return { problem: 'must be off, hibp, or the https URL of a service with the same range API' };
}
