/**
 * White space, and characters without a glyph that come along when text is copied from a page, a message or a spreadsheet: soft hyphens,
 * zero-width characters, direction marks and the byte order mark.
 */
const UNSEEN = /[\s\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/;
const ALL_UNSEEN = new RegExp(UNSEEN, 'g');

/** A name or an address, as typed or pasted, without what nobody sees around it. */
export function trimTyped(text = ''): string {
  let [start, end] = [0, text.length];
  while (start < end && UNSEEN.test(text.charAt(start))) start++;
  while (end > start && UNSEEN.test(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/** A code, as typed or pasted: without the spaces and dashes between its groups, and with the letters and digits of any keyboard. */
export const compactCode = (typed: string): string =>
  typed
    .normalize('NFKC')
    .replaceAll(ALL_UNSEEN, '')
    .replaceAll(/\p{Pd}/gu, '');
