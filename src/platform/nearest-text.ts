/** The known text that is closest to a misspelt one; undefined where none is close. */
export function nearestText(text: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((other) => ({ other, distance: editDistance(text, other) }))
    .sort((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= Math.max(1, Math.floor(best.other.length / 3)) ? best.other : undefined;
}

/** Levenshtein's distance: how many characters must be added, removed or replaced. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (const [i, character] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (character === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
