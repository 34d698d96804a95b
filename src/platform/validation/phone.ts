import { createRequire } from 'node:module';

// Loaded with the first phone number: its tables would take a tenth of the start.
const require = createRequire(import.meta.url);
const library = () => require('libphonenumber-js/min') as typeof import('libphonenumber-js/min');

/** Whether a text is a valid phone number in E.164 format. */
export const isPhoneNumber = (value: string): boolean =>
  /^\+[1-9]\d{6,14}$/.test(value) && library().isValidPhoneNumber(value);

/** Converts a phone number to E.164 format. A text that is not a phone number is returned unchanged. */
export const internationalNumber = (text: string): string => library().parsePhoneNumberFromString(text)?.number ?? text;

/** A phone number with its digits in groups. */
export const readableNumber = (number: string): string =>
  library().parsePhoneNumberFromString(number)?.formatInternational() ?? number;
