import { splitEmail } from './profile.ts';

/** Why a password would be guessed first. */
export type WeakPassword = 'common' | 'simple' | 'name';

/** What an attacker knows of a person. A field that is absent was not given. */
export interface KnownNames {
  readonly username?: string | undefined;
  readonly displayName?: string | undefined;
  readonly email?: string | undefined;
}

const SERVICE_NAME = 'tessera';

/** The schema of passwords rejects shorter ones; what remains of a password without its names must be as long. */
export const MIN_LENGTH = 8;

/** A shorter name occurs in too many words. */
const MIN_NAME = 3;

/** A password of fewer unrelated characters is a repetition or follows a sequence. */
const MIN_UNRELATED = 5;

/** The alphabet, the digits, and the rows of the common keyboards, in both directions. */
const SEQUENCES = [
  ...['abcdefghijklmnopqrstuvwxyz', '01234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'],
  ...['qwertzuiop', 'yxcvbnm', 'azertyuiop', 'qsdfghjklm', 'wxcvbn'],
].flatMap((row) => [row, [...row].reverse().join('')]);

/** Digits and symbols that stand for letters; letters that they resemble are treated as the same. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  ...{ '0': 'o', '1': 'i', l: 'i', '!': 'i', '|': 'i', '3': 'e', '4': 'a', '@': 'a' },
  ...{ '5': 's', $: 's', '7': 't', '8': 'b' },
};

/**
 * Whether a password would be guessed first (NIST SP 800-63B-4 §3.1.1.2): a common one, a repetition or sequence, or made of
 * the names of the person or the service, also reversed, repeated, or with look-alike digits. A password may contain a name
 * where the rest would be accepted without it.
 * @param isCommon whether a password, in lower case, is on a list of common ones
 */
export function weakPassword(
  password: string,
  names: KnownNames,
  isCommon: (password: string) => boolean,
): WeakPassword | undefined {
  const lower = password.toLowerCase();
  if (isCommon(lower) || lettersOf(lower) === 'password') return 'common';
  const rest = withoutNames(password, namesOf(names));
  if (rest !== undefined) {
    const strong = [...rest].length >= MIN_LENGTH && lettersOf(rest) !== '' && !isSimple(rest) && !isCommon(rest);
    if (!strong) return 'name';
  }
  return isSimple(lower) ? 'simple' : undefined;
}

const lettersOf = (text: string): string => text.replaceAll(/[^\p{L}]/gu, '');

/** Letters without case and marks, so that Zoë is found in `zoe`. */
const plain = (text: string): string => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();

/** The names and each word of them, as {@link skeleton} writes them. */
function namesOf({ username = '', displayName = '', email = '' }: KnownNames): readonly string[] {
  const address = splitEmail(email);
  // The last label of a domain, such as com, is no name.
  const domain = address.domain.split('.').slice(0, -1);
  const whole = [username, displayName, address.username, ...domain, SERVICE_NAME];
  const words = whole.flatMap((name) => plain(name).match(/\p{L}+/gu) ?? []);
  return [...whole, ...words].map((name) => skeleton(plain(name)).letters).filter(({ length }) => length >= MIN_NAME);
}

/** The letters, digits and look-alikes of a text, and the position of each in it. */
function skeleton(text: string): { readonly letters: string; readonly positions: readonly number[] } {
  const positions: number[] = [];
  let letters = '';
  for (let position = 0; position < text.length; position++) {
    const unit = text[position] ?? '';
    const letter = LOOKALIKES[unit] ?? (/[\p{L}\p{N}]/u.test(unit) ? unit : undefined);
    if (letter === undefined) continue;
    letters += letter;
    positions.push(position);
  }
  return { letters, positions };
}

/** The password without every name in it, forward or reversed; undefined where it contains none. */
function withoutNames(password: string, names: readonly string[]): string | undefined {
  const text = plain(password);
  const { letters, positions } = skeleton(text);
  const removed = new Set<number>();
  for (const name of names) {
    for (const form of [name, [...name].reverse().join('')]) {
      for (let at = letters.indexOf(form); at >= 0; at = letters.indexOf(form, at + 1)) {
        for (let offset = 0; offset < form.length; offset++) removed.add(positions[at + offset] ?? -1);
      }
    }
  }
  if (removed.size === 0) return undefined;
  return text
    .split('')
    .filter((_unit, position) => !removed.has(position))
    .join('');
}

/** Whether a text is a repetition of a short one, or little but runs of a sequence or of one character. */
function isSimple(text: string): boolean {
  const characters = [...text];
  const period = periodOf(characters);
  if (period < MIN_LENGTH && period * 2 <= characters.length) return true;
  let unrelated = 0;
  for (let at = 0; at < characters.length; ) {
    const run = runLength(characters, at);
    // A run is as hard to guess as its first character and its kind.
    unrelated += run >= 3 ? 2 : 1;
    at += run >= 3 ? run : 1;
  }
  return unrelated < MIN_UNRELATED;
}

/** The length of the shortest part that, repeated, gives the text. */
function periodOf(characters: readonly string[]): number {
  let period = 1;
  while (characters.some((character, at) => at >= period && character !== characters[at - period])) period++;
  return period;
}

/** How many characters from a position on repeat one character, or follow a sequence. */
function runLength(characters: readonly string[], start: number): number {
  let same = 1;
  while (start + same < characters.length && characters[start + same] === characters[start]) same++;
  let longest = same;
  for (const sequence of SEQUENCES) {
    let length = 1;
    while (
      start + length < characters.length &&
      sequence.includes(characters.slice(start, start + length + 1).join(''))
    ) {
      length++;
    }
    longest = Math.max(longest, length);
  }
  return longest;
}
