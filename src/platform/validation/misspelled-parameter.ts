import { nearestText } from '../nearest-text.ts';

/** What a copied HTML address has before each name but the first. */
const HTML_ESCAPE = 'amp;';

/**
 * Finds a name that has the same letters, for clients of JSON APIs often write camelCase, that is misspelt, or that an HTML page escaped. A
 * long or odd name is not repeated.
 */
export function findMisspelled(name: string, sent: Iterable<string>): string | undefined {
  const letters = (text: string) => text.replaceAll(/[_-]/g, '').toLowerCase();
  const names: string[] = [];
  for (const other of sent) {
    if (other === HTML_ESCAPE + name) return other;
    if (other === name || !/^[A-Za-z_-]{1,32}$/.test(other)) continue;
    if (letters(other) === letters(name)) return other;
    if (names.length < MOST_COMPARED) names.push(other);
  }
  // Of a short name, a close one is often another name.
  return name.length < SHORTEST_COMPARED
    ? undefined
    : names.find((other) => nearestText(other, [name], MOST_CHANGES) !== undefined);
}

/** How many names are compared letter by letter: a form has room for thousands. */
const MOST_COMPARED = 50;
const SHORTEST_COMPARED = 8;
/** Between two names that both exist, as response_type and response_mode, there are more. */
const MOST_CHANGES = 2;

/** What to do about a parameter that was sent under another name. */
export const renameParameter = (sent: string, name: string): string =>
  sent.startsWith(HTML_ESCAPE)
    ? 'The address has &amp; (HTML) between its parameters: write & alone.'
    : `Rename the parameter ${sent} to ${name}.`;
