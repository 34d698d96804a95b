import { looksRandom } from './randomness.ts';
import type { Reading } from './variable.ts';

const PREDICTABLE =
  'must be random, and this one is predictable: it repeats itself, follows a sequence or consists of common words';
const MAKE_SECRET = 'openssl rand -base64 32 | tr -d "="';

/** The root secret. */
export function parseSecret(value: string): Reading<string> {
  if (value.length < 43) {
    return { problem: `must be at least 43 random characters (32 bytes); make one with: ${MAKE_SECRET}` };
  }
  if (looksRandom(value)) return { value };
  return {
    problem:
      `${PREDICTABLE}. Make another with: ${MAKE_SECRET}. If the database was made with this one, ` +
      'set TESSERA_SECRET_PREVIOUS to it for one start, as docs/how-to/rotate-secrets-and-keys.md shows',
  };
}

/** Accepts predictable secrets, too: a secret that was accepted once must be given in order to be replaced. */
export function parsePreviousSecret(value: string): Reading<string> {
  return value.length >= 43 ? { value } : { problem: 'must be the previous secret, of at least 43 characters' };
}

/** `TESSERA_ADMIN_KEY`. */
export function adminKey(value: string): Reading<string> {
  // It is sent in a header, which cannot contain other characters.
  if (!/^[\x21-\x7e]{32,512}$/.test(value)) {
    return {
      problem: 'must be 32 to 512 characters of ASCII without spaces; make one with: openssl rand -base64 32',
    };
  }
  return looksRandom(value) ? { value } : { problem: `${PREDICTABLE}. Make another with: openssl rand -base64 32` };
}
