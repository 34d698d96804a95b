/** Longer than a tag with language, script, region and a variant. */
const LONGEST = 35;

/**
 * A language tag (BCP 47) as it is written: `pt-BR` for `PT-br`. Its language must have the two letters of ISO 639-1, which apps are told as
 * `language`; undefined for any other text.
 */
export function languageTag(text: string): string | undefined {
  if (text.length > LONGEST || !/^[a-z0-9]+(-[a-z0-9]+)*$/i.test(text)) return undefined;
  try {
    const [tag = ''] = Intl.getCanonicalLocales(text);
    return /^[a-z]{2}(-|$)/.test(tag) ? tag : undefined;
  } catch {
    return undefined;
  }
}

/** The direction in which a language is written. */
export type TextDirection = 'ltr' | 'rtl';

/** The scripts of today that are written from right to left (ISO 15924). */
const RIGHT_TO_LEFT = ['Adlm', 'Arab', 'Hebr', 'Nkoo', 'Rohg', 'Syrc', 'Thaa'];

/** @param language a language tag */
export const textDirection = (language: string): TextDirection =>
  RIGHT_TO_LEFT.includes(new Intl.Locale(language).maximize().script ?? '') ? 'rtl' : 'ltr';
