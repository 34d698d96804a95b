/** RFC 8628 §6.1: consonants, so that no code is a word. Eight of them are worth 34 bits. */
export const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
export const USER_CODE_LENGTH = 8;

/** A user code as people read it: in two groups. */
export const formatUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/**
 * The user code that a person typed: in any case, with or without separators (RFC 8628 §6.1).
 * @returns undefined where no code is written like that
 */
export function readUserCode(typed: string): string | undefined {
  const letters = typed.toUpperCase().replaceAll(/[\s.\-–—_]/g, '');
  const isCode =
    letters.length === USER_CODE_LENGTH && [...letters].every((letter) => USER_CODE_LETTERS.includes(letter));
  return isCode ? letters : undefined;
}
