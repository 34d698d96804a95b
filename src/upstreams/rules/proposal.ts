/** What may be shown in a form: a short text without control characters; undefined for anything else. */
export function proposal(value: unknown, longest: number): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return text === '' || text.length > longest || /\p{Cc}|\p{Cf}/u.test(text) ? undefined : text;
}
