import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { EMPTY_WORDS } from '../../token/rules/presented-form.ts';

/** What our tokens of other kinds have as `typ`. */
const OTHER_KINDS: Readonly<Record<string, string>> = { 'at+jwt': 'an access token', 'rt+jwt': 'a refresh token' };

/** What is wrong with a text that was sent as an ID token, by its form; undefined for what only its signature tells. */
export function describeHint(text: string): string | undefined {
  const send = 'Send the id_token of a token response.';
  if (EMPTY_WORDS.has(text.toLowerCase())) return `is the word ${text.toLowerCase()}. ${send}`;
  try {
    const kind = OTHER_KINDS[String(decodeProtectedHeader(text).typ)];
    return kind && `is ${kind}. ${send}`;
  } catch {
    return `is not a JWT. ${send}`;
  }
}
