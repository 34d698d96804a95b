/** What a copied HTML address has before each name but the first. */
const HTML_ESCAPE = 'amp;';

/**
 * Finds a name that has the same letters, for clients of JSON APIs often write camelCase, or that an HTML page escaped. A long or odd name
 * is not repeated.
 */
export function findMisspelled(name: string, sent: Iterable<string>): string | undefined {
  const letters = (text: string) => text.replaceAll(/[_-]/g, '').toLowerCase();
  for (const other of sent) {
    if (other === HTML_ESCAPE + name) return other;
    if (other !== name && /^[A-Za-z_-]{1,32}$/.test(other) && letters(other) === letters(name)) return other;
  }
  return undefined;
}

/** What to do about a parameter that was sent under another name. */
export const renameParameter = (sent: string, name: string): string =>
  sent.startsWith(HTML_ESCAPE)
    ? 'The address has &amp; (HTML) between its parameters: write & alone.'
    : `Rename the parameter ${sent} to ${name}.`;
