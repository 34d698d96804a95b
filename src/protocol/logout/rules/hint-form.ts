import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { emptyWord } from '../../../platform/validation/sent-text.ts';

/** What our tokens of other kinds have as `typ`. */
const OTHER_KINDS: Readonly<Record<string, string>> = { 'at+jwt': 'an access token', 'rt+jwt': 'a refresh token' };

/** What is wrong with a text that was sent as an ID token, by its form; undefined for what only its signature tells. */
export function describeHint(text: string): string | undefined {
  const word = emptyWord(text);
  if (word !== undefined) return `is the word ${word}`;
  try {
    const kind = OTHER_KINDS[String(decodeProtectedHeader(text).typ)];
    return kind && `is ${kind}`;
  } catch {
    return 'is not a JWT';
  }
}
