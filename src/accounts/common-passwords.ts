import { Failure } from '../platform/failure.ts';

/** The schema of passwords rejects shorter ones. */
const MIN_LENGTH = 8;

let commonPasswords: Promise<ReadonlySet<string>> | undefined;

/** About 50,000 passwords that are common in public leaks, in lower case. Loaded when the first password is set. */
export const loadCommonPasswords = (): Promise<ReadonlySet<string>> =>
  (commonPasswords ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].filter(({ length }) => length >= MIN_LENGTH)),
    () => {
      // The process may be out of file descriptors; the next request tries again.
      commonPasswords = undefined;
      throw new Failure('unavailable', 'The list of common passwords cannot be read now.', { retryAfter: 1 });
    },
  ));
