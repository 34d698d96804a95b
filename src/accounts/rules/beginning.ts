/** Texts from one, up to another one that is not in it. */
export interface TextRange {
  readonly from: string;
  readonly to: string;
}

/** After every name: names are shorter, and begin with no more of them. */
const AFTER_ALL = 'z'.repeat(255);

const LAST_PLAIN = /^(.*[0-9a-z])[^0-9a-z]*$/s;

/**
 * A range with all texts in lower case that begin with one. It is right whether a database compares bytes or as a language does, where signs
 * count less than letters: it ends at a letter or digit, so more may be in it.
 * @returns undefined where the text has no letter and no digit
 */
export function rangeOfBeginning(text: string): TextRange | undefined {
  const from = LAST_PLAIN.exec(text)?.[1];
  if (from === undefined) return undefined;
  // Digits are before letters in every order.
  for (let end = from.length; end > 0; end--) {
    const last = from[end - 1] ?? '';
    if (!/[0-9a-z]/.test(last)) break;
    if (last === 'z') continue;
    const next = last === '9' ? 'a' : String.fromCharCode(last.charCodeAt(0) + 1);
    return { from, to: from.slice(0, end - 1) + next };
  }
  return { from, to: AFTER_ALL };
}
