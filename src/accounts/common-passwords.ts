import { OAuthError } from '../platform/oauth-error.ts';

/** Words that every attacker of this service tries. */
const SERVICE_WORDS: readonly string[] = ['tessera', 'password'];

/** The schema of passwords rejects shorter ones. */
const MIN_LENGTH = 8;

let commonPasswords: Promise<ReadonlySet<string>> | undefined;

/** About 50,000 passwords that are common in public leaks. Loaded when the first password is set. */
const loadCommonPasswords = (): Promise<ReadonlySet<string>> =>
  (commonPasswords ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].filter(({ length }) => length >= MIN_LENGTH)),
    () => {
      // The process may be out of file descriptors; the next request tries again.
      commonPasswords = undefined;
      throw new OAuthError(503, 'temporarily_unavailable', 'The list of common passwords cannot be read now.', {
        'retry-after': '1',
      });
    },
  ));

/**
 * Whether a password is common or expected (NIST SP 800-63B-4 §3.1.1.2): on the list of common passwords, or the name of the
 * person or service, alone or with digits and symbols. The check is local.
 * @param names the person's username and email address
 */
export async function isCommonPassword(password: string, names: readonly (string | undefined)[]): Promise<boolean> {
  const lower = password.toLowerCase();
  if ((await loadCommonPasswords()).has(lower)) return true;
  const words = [
    ...SERVICE_WORDS,
    ...names.flatMap((name) => (name === undefined ? [] : [name, name.split('@')[0] ?? ''])),
  ];
  const letters = lettersOf(lower);
  return words.some((word) => lower === word.toLowerCase() || (word.length > 2 && letters === lettersOf(word)));
}

/** The letters of a text in lower case, or the whole text where it has none. */
const lettersOf = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}]/gu, '') || text.toLowerCase();
