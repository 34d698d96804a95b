/** Prepared requests, stored outside the heap so that they do not slow down the load generator. */
export interface Requests {
  readonly length: number;
  at(index: number): Uint8Array;
}

export function pack(texts: Iterable<string>): Requests {
  const pieces: Buffer[] = [];
  const ends: number[] = [];
  let length = 0;
  for (const text of texts) {
    const piece = Buffer.from(text, 'latin1');
    pieces.push(piece);
    length += piece.length;
    ends.push(length);
  }
  const all = Buffer.concat(pieces, length);
  return { length: ends.length, at: (index) => all.subarray(ends[index - 1] ?? 0, ends[index]) };
}
