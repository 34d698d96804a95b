/** The initials of a name: the first letters of its first and last word. */
export function initials(displayName: string): string {
  const words = displayName.split(/\s+/).filter((word) => word !== '');
  const first = [...(words[0] ?? '')][0] ?? '?';
  const last = words.length > 1 ? ([...(words.at(-1) ?? '')][0] ?? '') : '';
  return (first + last).toUpperCase();
}
