import { createHash } from 'node:crypto';
import { SECOND } from '../platform/clock.ts';
import type { Meter } from '../platform/http/meter.ts';
import { type Outgoing, OutgoingFailed } from '../platform/http/outgoing.ts';

/** How long a person waits for the service at most. */
const TIMEOUT = SECOND;
/** An answer has about 2,000 lines of some 40 bytes, padding included. */
const LONGEST_ANSWER = 256 * 1024;
/** Requests that may wait for the service at the same time, so that forms cannot make the node hold any number of them. */
const MAX_WAITING = 32;

/** Knows which passwords were published in a breach. */
export interface BreachedPasswords {
  /** Whether a password is known from a breach; false where that cannot be found out now. */
  includes(password: string): Promise<boolean>;
}

/** Where the configuration asks for no check. */
const noBreaches: BreachedPasswords = { includes: async () => false };

/**
 * Asks a service with the range API of Have I Been Pwned. It learns the first five hexadecimal digits of the SHA-1 hash, which some
 * thousand leaked passwords share, and padding hides how many of them there are. A failed request accepts the password.
 * @param url the address to which the five digits are appended; null checks nothing
 * @see https://haveibeenpwned.com/API/v3#PwnedPasswords
 */
export function breachedPasswords(
  url: string | null,
  send: Outgoing,
  meter: Pick<Meter, 'checkedBreaches'>,
): BreachedPasswords {
  if (url === null) return noBreaches;
  let waiting = 0;

  async function findOut(password: string): Promise<boolean> {
    const hash = createHash('sha1').update(password).digest('hex').toUpperCase();
    const answer = await send({
      method: 'GET',
      url: `${url}${hash.slice(0, 5)}`,
      headers: { 'add-padding': 'true' },
      longestBody: LONGEST_ANSWER,
      timeoutMs: TIMEOUT,
    });
    if (answer.status !== 200) throw new OutgoingFailed(`the answer had the status ${answer.status}`);
    // Each line is <the other 35 digits>:<count>; padding has the count 0.
    const rest = hash.slice(5);
    return answer.body
      .toString('latin1')
      .split('\n')
      .some((line) => line.startsWith(`${rest}:`) && Number(line.slice(rest.length + 1)) > 0);
  }

  return {
    async includes(password) {
      if (waiting >= MAX_WAITING) {
        meter.checkedBreaches('skipped');
        return false;
      }
      waiting++;
      try {
        const found = await findOut(password);
        meter.checkedBreaches(found ? 'breached' : 'clear');
        return found;
      } catch (error) {
        if (!(error instanceof OutgoingFailed)) throw error;
        meter.checkedBreaches('failed');
        return false;
      } finally {
        waiting--;
      }
    },
  };
}
