/** A set of digests of a fixed size: where there is no room for another one, an older one is forgotten. */
export interface DigestSet {
  /** @param digest a SHA-256 as 32 characters, one for each octet (`latin1`) */
  has(digest: string): boolean;
  add(digest: string): void;
}

/** 128 bits of a digest tell it from others: as many as nobody finds a second text for. */
const WORDS = 4;
/** The places where a digest may stand are one line of the processor's cache: 64 octets. */
const LINE = 4 * WORDS;

/**
 * A set that is one piece of memory, of 16 octets for each digest: texts in a `Set` take six times as much, are gone through by
 * the garbage collector, and lie apart.
 * @param lines how many lines of four digests it has, a power of two; so many digests as lines are nearly all kept
 */
export function digestSet(lines: number): DigestSet {
  const words = new Uint32Array(lines * LINE);
  const lineOf = (digest: string) => (wordOf(digest, 4) & (lines - 1)) * LINE;
  const isAt = (place: number, digest: string) => {
    for (let word = 0; word < WORDS; word++) if (words[place + word] !== wordOf(digest, word)) return false;
    return true;
  };
  return {
    has(digest) {
      const line = lineOf(digest);
      for (let place = line; place < line + LINE; place += WORDS) if (isAt(place, digest)) return true;
      return false;
    },
    add(digest) {
      const line = lineOf(digest);
      // The youngest stands first, and whoever stood last is forgotten.
      words.copyWithin(line + WORDS, line, line + LINE - WORDS);
      for (let word = 0; word < WORDS; word++) words[line + word] = wordOf(digest, word);
    },
  };
}

const wordOf = (digest: string, word: number): number =>
  (digest.charCodeAt(4 * word) |
    (digest.charCodeAt(4 * word + 1) << 8) |
    (digest.charCodeAt(4 * word + 2) << 16) |
    (digest.charCodeAt(4 * word + 3) << 24)) >>>
  0;
