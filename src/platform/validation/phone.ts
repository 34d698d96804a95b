import { createRequire } from 'node:module';

// Loaded with the first phone number, not with the server: its tables take a tenth of the start.
const require = createRequire(import.meta.url);
const library = () => require('libphonenumber-js/min') as typeof import('libphonenumber-js/min');

/** Whether a text is a number that exists, in the form of E.164. */
export const isPhoneNumber = (value: string): boolean =>
  /^\+[1-9]\d{6,14}$/.test(value) && library().isValidPhoneNumber(value);

/** A number as people write it, in the form of E.164; what is none comes back as it is. */
export const internationalNumber = (text: string): string => library().parsePhoneNumberFromString(text)?.number ?? text;

/** A number in groups, as people read it. */
export const readableNumber = (number: string): string =>
  library().parsePhoneNumberFromString(number)?.formatInternational() ?? number;
