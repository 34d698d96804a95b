/** What programs send in place of a variable that has no value. */
const EMPTY: ReadonlySet<string> = new Set([
  'undefined',
  'null',
  'none',
  'nil',
  'nan',
  'false',
  'true',
  '{}',
  '[object object]',
]);

/** The word that a text is, where it is what programs send in place of a variable that has no value. */
export function emptyWord(text: string): string | undefined {
  const word = text.trim().toLowerCase();
  return EMPTY.has(word) ? word : undefined;
}

const QUOTES = /^(["'`])(.*)\1$/s;

/** A text without the white space and quotes around it; undefined where it has neither. */
export function unwrapped(text: string): { readonly bare: string; readonly by: 'white space' | 'quotes' } | undefined {
  const trimmed = text.trim();
  const [, , inQuotes] = QUOTES.exec(trimmed) ?? [];
  if (inQuotes !== undefined) return { bare: inQuotes.trim(), by: 'quotes' };
  return trimmed === text ? undefined : { bare: trimmed, by: 'white space' };
}
