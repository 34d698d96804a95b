/**
 * The known text that is closest to a misspelt one; undefined where none is close.
 * @param most how many characters may differ, in a long text as well
 */
export function nearestText(text: string, known: readonly string[], most = text.length): string | undefined {
  const mostChanges = (other: string) => Math.max(1, Math.min(most, Math.floor(other.length / 3)));
  const [best] = known
    // One of another length is not close, so a long text costs nothing.
    .filter((other) => Math.abs(other.length - text.length) <= mostChanges(other))
    .map((other) => ({ other, distance: editDistance(text, other) }))
    .filter(({ other, distance }) => distance <= mostChanges(other))
    .sort((a, b) => a.distance - b.distance);
  return best?.other;
}

/** The known name that is the same but for its style, such as snake case for camel case, or the one that is closest. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const plain = (text: string) => text.replaceAll(/[_-]/g, '').toLowerCase();
  return known.find((other) => plain(other) === plain(name)) ?? nearestText(name, known);
}

/** How many characters must be added, removed, replaced, or exchanged with their neighbor (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (const [i, character] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (character === b[j] ? 0 : 1);
      const isExchanged = i > 0 && j > 0 && character === b[j - 1] && a[i - 1] === b[j];
      const exchanged = isExchanged ? (before[j - 1] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, exchanged, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}
