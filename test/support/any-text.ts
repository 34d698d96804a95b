import fc from 'fast-check';

/** As many as lie before the first value that stands for no character of its own, and how many such values follow. */
const BEFORE_SURROGATES = 0xd800;
const SURROGATES = 0x800;

const ofIndex = (index: number): string => String.fromCodePoint(index < BEFORE_SURROGATES ? index : index + SURROGATES);

function indexOf(character: unknown): number {
  const value = typeof character === 'string' ? character.codePointAt(0) : undefined;
  if (value === undefined || character !== String.fromCodePoint(value)) throw new Error('this is not one character');
  if (value < BEFORE_SURROGATES) return value;
  if (value < BEFORE_SURROGATES + SURROGATES) throw new Error('this is half of a pair');
  return value - SURROGATES;
}

/**
 * Any character of Unicode, as the unit of a text: what fast-check calls `binary`, which makes a table of the million characters that
 * there are, for two seconds.
 */
const unit = fc.nat({ max: 0x10_ff_ff - SURROGATES }).map(ofIndex, indexOf);

/** Any text of Unicode. */
export const anyText = (
  length: { readonly minLength?: number; readonly maxLength?: number } = {},
): fc.Arbitrary<string> => fc.string({ ...length, unit });
