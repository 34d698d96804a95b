import { Html } from '../../src/pages/html.ts';

const PLAIN = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const ACCENTED = [...'áƀçđéƒğħíĵķļɱñóþɋřšťúṽŵẋýžÁƁÇĐÉƑĞĦÍĴĶĻṀÑÓƤɊŘŠŤÚṼŴẊÝŽ'];

/** A text in a language that nobody speaks: every letter accented, and a third longer, as German is. */
export const accented = (text: string): string =>
  text.replaceAll(/[A-Za-z]/g, (letter) => {
    const other = ACCENTED[PLAIN.indexOf(letter)] ?? letter;
    return /[aeo]/.test(letter) ? other + other : other;
  });

/** What a text function gives: the values that the page passed in are markup, and stay. */
function accentedPart(part: unknown): unknown {
  if (typeof part === 'string') return accented(part);
  if (part instanceof Html) return part;
  return Array.isArray(part) ? part.map(accentedPart) : part;
}

/** Replaces every text of a catalogue in place, but those at its top that are no texts. The process then has it in no other language. */
export function accentCatalogue(catalogue: object, kept: readonly string[] = []): void {
  for (const [key, value] of Object.entries(catalogue)) {
    if (kept.includes(key)) continue;
    if (typeof value === 'object' && value !== null && !(value instanceof Html)) {
      accentCatalogue(value);
      continue;
    }
    const replaced =
      typeof value === 'function'
        ? (...given: readonly unknown[]) => accentedPart((value as (...of: readonly unknown[]) => unknown)(...given))
        : accentedPart(value);
    Object.assign(catalogue, { [key]: replaced });
  }
}
