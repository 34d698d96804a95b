import { OAuthError } from '../platform/oauth-error.ts';

/** What a password may not be made of, beside what is on the list. */
const OWN_WORDS: readonly string[] = ['tessera', 'password'];

let known: Promise<ReadonlySet<string>> | undefined;

/** The most used passwords of public leaks, about 50,000; read when the first password is chosen. */
const list = (): Promise<ReadonlySet<string>> =>
  (known ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].filter(({ length }) => length >= SHORTEST)),
    () => {
      // A process without a free file descriptor cannot read it now, and the next request tries again.
      known = undefined;
      throw new OAuthError(503, 'temporarily_unavailable', 'The list of common passwords cannot be read now.', {
        'retry-after': '1',
      });
    },
  ));

/** Shorter ones are refused as such. */
const SHORTEST = 8;

/**
 * Whether a password is among the first that anybody would guess (NIST SP 800-63B-4 §3.1.1.2): one of the most used, or a name
 * of the person or of the service with digits and signs around it. Nothing leaves the process to find out.
 * @param names what the person is known by: user name, email address
 */
export async function isCommonPassword(password: string, names: readonly (string | undefined)[]): Promise<boolean> {
  const lower = password.toLowerCase();
  if ((await list()).has(lower)) return true;
  const words = [
    ...OWN_WORDS,
    ...names.flatMap((name) => (name === undefined ? [] : [name, name.split('@')[0] ?? ''])),
  ];
  const letters = lettersOf(lower);
  return words.some((word) => lower === word.toLowerCase() || (word.length > 2 && letters === lettersOf(word)));
}

const lettersOf = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}]/gu, '') || text.toLowerCase();
