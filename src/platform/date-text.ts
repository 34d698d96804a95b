/** The locale whose habits the texts of a language follow: English dates and lists are those of Great Britain. */
const localeOf = (language: string): string => (language === 'en' ? 'en-GB' : language);

/** A format by locale. Each is made when it is needed first: the data of `Intl` takes a start 10 ms to load. */
const formats = <T>(make: (locale: string) => T): ((language: string) => T) => {
  const made = new Map<string, T>();
  return (language) => {
    const format = made.get(language) ?? make(localeOf(language));
    made.set(language, format);
    return format;
  };
};

const dates = formats(
  (locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC', calendar: 'gregory' }),
);
const times = formats(
  (locale) =>
    new Intl.DateTimeFormat(locale, {
      ...({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const),
      ...({ timeZone: 'UTC', timeZoneName: 'short' } as const),
    }),
);
const sentences = formats((locale) => new Intl.ListFormat(locale, { type: 'conjunction' }));
const alternatives = formats((locale) => new Intl.ListFormat(locale, { type: 'disjunction' }));
const enumerations = formats((locale) => new Intl.ListFormat(locale, { type: 'unit', style: 'short' }));

/** The date of an instant in UTC, such as `1 March 2026`. */
export const dateText = (instant: number, language = 'en'): string => dates(language).format(instant);

/** The time of day of an instant in UTC, such as `12:00 UTC`. */
export const timeText = (instant: number, language = 'en'): string => times(language).format(instant);

/** How the values of a list are joined: `a, b and c` within a sentence, `a, b, c` where they stand alone. */
export type ListKind = 'sentence' | 'enumeration';

/** The format of a list in a language. */
export const listFormat = (kind: ListKind, language = 'en'): Intl.ListFormat =>
  kind === 'sentence' ? sentences(language) : enumerations(language);

/** Texts as a list within a sentence, such as `a, b and c`. */
export const sentenceList = (texts: readonly string[], language = 'en'): string => sentences(language).format(texts);

/** Texts of which one is chosen, such as `a, b or c`. */
export const alternativeList = (texts: readonly string[], language = 'en'): string =>
  alternatives(language).format(texts);

/** Texts as a list that stands alone, such as `a, b, c`. */
export const enumerated = (texts: readonly string[], language = 'en'): string => enumerations(language).format(texts);

/** The date and the time of day of an instant in UTC, such as `1 March 2026, 12:00 UTC`. */
export const momentText = (instant: number, language = 'en'): string =>
  `${dateText(instant, language)}, ${timeText(instant, language)}`;
