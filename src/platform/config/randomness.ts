/** Words that are used as placeholders in configurations, and rows of a keyboard. */
const PLACEHOLDERS = (
  'change replace please example sample placeholder default insecure dummy todo secret password passwd passphrase admin token ' +
  'test demo local develop production your this that with here value string random character tessera server before must long ' +
  'least enough very super strong guess nobody never hello world foobar letmein welcome qwertyuiop asdfghjkl zxcvbnm deadbeef cafebabe'
).split(' ');

/** A character counts as a repetition if it followed the same so many characters before. */
const CONTEXT = 3;
/** Only the beginning of a value is examined: in longer values, repetitions occur by chance. */
const MAX_EXAMINED = 512;
const MIN_DISTINCT = 8;

/** The letters that digits and signs are often written for. */
const LETTERS: Readonly<Record<string, string>> = { 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't', '@': 'a', $: 's' };

/**
 * Whether a value may come from a random generator. It counts the predictable characters: those that repeat earlier ones (with any
 * period, including a doubled half), continue a run or a sequence, or belong to a placeholder. At most three in eight may be
 * predictable.
 *
 * The probability that a random value is rejected is below 10⁻⁹ for 32 bytes in base64 or hexadecimal, and below 10⁻⁶ for 16 bytes
 * in hexadecimal: among two million of each, the most predictable had 17 such characters of 64, and 12 of 32.
 */
export function looksRandom(value: string): boolean {
  const text = value.slice(0, MAX_EXAMINED).toLowerCase();
  const predictable = new Set([...repeated(text), ...sequences(text, 1), ...sequences(text, 2), ...placeholders(text)]);
  return new Set(text).size >= MIN_DISTINCT && predictable.size * 8 <= text.length * 3;
}

/** The characters that followed the same {@link CONTEXT} before. */
function* repeated(text: string): Generator<number> {
  const seen = new Set<string>();
  for (let at = CONTEXT; at < text.length; at++) {
    const piece = text.slice(at - CONTEXT, at + 1);
    if (seen.has(piece)) yield at;
    seen.add(piece);
  }
}

/**
 * The characters that continue a run (`aaaa`), a sequence (`abcd`, `4321`) or both (`aabb`).
 * @param every how far apart its characters stand: `a1b2c3` is two sequences
 */
function* sequences(text: string, every: number): Generator<number> {
  const step = (at: number): number => text.charCodeAt(at) - text.charCodeAt(at - every);
  for (let at = 2 * every; at < text.length; at++) {
    const [last, now] = [step(at - every), step(at)];
    const rises = (last === 0 || last === 1) && (now === 0 || now === 1);
    const falls = (last === 0 || last === -1) && (now === 0 || now === -1);
    if (rises || falls) yield at;
  }
}

function* placeholders(written: string): Generator<number> {
  const text = written.replaceAll(/[013457@$]/g, (sign) => LETTERS[sign] ?? sign);
  for (const word of PLACEHOLDERS) {
    for (let from = text.indexOf(word); from >= 0; from = text.indexOf(word, from + 1)) {
      for (let at = from; at < from + word.length; at++) yield at;
    }
  }
}
