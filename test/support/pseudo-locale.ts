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

/** They stand around the number of a value, while the text around it is accented. */
const [OPEN, CLOSE] = ['\ue000', '\ue001'];

/** Calls a text with marks in place of the texts that it is given, and puts those back into what it says. */
function accentedAround(text: (...given: readonly unknown[]) => unknown, given: readonly unknown[]): unknown {
  const values: string[] = [];
  const changed = (part: unknown, change: (text: string) => string): unknown => {
    if (typeof part === 'string') return change(part);
    if (Array.isArray(part)) return part.map((one) => changed(one, change));
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, changed(one, change)]));
  };
  const marked = (value: string): string => {
    if (!values.includes(value)) values.push(value);
    return `${OPEN}${values.indexOf(value)}${CLOSE}`;
  };
  const said = text(...given.map((value) => changed(value, marked)));
  const MARKS = new RegExp(`${OPEN}(\\d+)${CLOSE}`, 'g');
  return changed(said, (part) => accented(part).replace(MARKS, (_, index) => values[Number(index)] ?? ''));
}

/**
 * {@link accentCatalogue} for the texts of mails, which are given texts as values: these stay as they are.
 * @param reached gets the name of each text when it is read
 * @returns the names of all texts
 */
export function accentMailTexts(catalogue: object, reached: Set<string>, path = ''): readonly string[] {
  return Object.entries(catalogue).flatMap(([key, value]) => {
    const name = `${path}${key}`;
    if (name === 'language') return [];
    if (typeof value === 'object' && value !== null) return accentMailTexts(value, reached, `${name}.`);
    const replaced =
      typeof value === 'function'
        ? (...given: readonly unknown[]) => accentedAround(value as (...of: readonly unknown[]) => unknown, given)
        : accentedPart(value);
    Object.defineProperty(catalogue, key, {
      get: () => {
        reached.add(name);
        return replaced;
      },
    });
    return [name];
  });
}
