import { isIP } from 'node:net';
import { asciiEmail, canonicalDomain } from '../domain-name.ts';
import { isSnowflake } from '../ids/ids.ts';
import { languageTag } from './language.ts';
import { isPhoneNumber } from './phone.ts';

/** One line of text: no control characters and no bidirectional formatting characters. */
const SINGLE_LINE = /^[^\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/u;
/**
 * A visible character. Not visible are separators, controls, unassigned and private characters, combining marks and default
 * ignorable characters (among them the Hangul fillers, which are letters), nor the other characters with a blank glyph: the Braille
 * blank, the blank Egyptian hieroglyphs and the null notehead.
 */
const VISIBLE = /[^\p{Z}\p{C}\p{M}\p{Default_Ignorable_Code_Point}\u2800\u{13441}\u{13442}\u{1d159}]/u;

const MULTI_LINE = /^(?:[^\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|[\n\r\t])*$/u;

function isHttpsUrl(value: string): boolean {
  if (value.length > 2048 || !/^https:\/\/[\x21-\x7e]+$/i.test(value) || /["<>\\^`{|}]/.test(value)) return false;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url !== undefined && url.protocol === 'https:' && url.username === '' && url.password === '';
}

/** A calendar date as `YYYY-MM-DD`. Whether it is in the past is for the caller, who knows the time. */
function isCalendarDate(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const date = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value) && value >= '1850-01-01';
}

const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/** A time in ISO 8601 with an offset, to the second or finer; no leap second, no year after 9999. */
function isInstant(value: string): boolean {
  const parts = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/.exec(
    value,
  );
  // The offset may put the time into the year 10000, which this format cannot represent.
  return parts?.[1] !== undefined && isCalendarDate(parts[1]) && Date.parse(value) <= LATEST;
}

/** A visible name, label or place. A name without visible characters could pass for a missing name, or for the service's own. */
const isSingleLine = (value: string): boolean =>
  value.isWellFormed() && SINGLE_LINE.test(value) && value.trim() === value && VISIBLE.test(value);

/** The values of `format` in schemas. */
export const formats = {
  'single-line': isSingleLine,
  'multi-line': (value: string) => value.isWellFormed() && MULTI_LINE.test(value),
  'search-text': (value: string) => !/\p{Cc}/u.test(value),
  password: (value: string) => !/\p{Cc}/u.test(value),
  id: isSnowflake,
  uuid: (value: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value),
  'ip-address': (value: string) => isIP(value) > 0,
  email: (value: string) => asciiEmail(value) !== undefined,
  domain: (value: string) => canonicalDomain(value) !== undefined,
  'https-url': isHttpsUrl,
  'calendar-date': isCalendarDate,
  instant: isInstant,
  phone: isPhoneNumber,
  'language-tag': (value: string) => languageTag(value) !== undefined,
} as const;
