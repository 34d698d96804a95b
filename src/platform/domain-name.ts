import { domainToASCII, domainToUnicode } from 'node:url';

/** A name of at least two labels in the form of the DNS. */
const ASCII_DOMAIN = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/i;
const LONGEST_DOMAIN = 253;
/** ASCII characters that no name has. Node reads names as it reads the hosts of URLs, and would decode `%`. */
const OTHER_ASCII = /[^A-Za-z0-9.\u0080-\u{10ffff}-]/u;
const A_LABEL = /(^|\.)xn--/i;
/** A label that stayed encoded, since it stands for none that UTS 46 allows, or that has a hyphen at its beginning or end. */
const NO_LABEL = /(^|\.)(xn--|-)|-(\.|$)/i;

const LOCAL_PART = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}$/i;
const LONGEST_EMAIL = 254;
const NON_ASCII = /[\u0080-\u{10ffff}]/u;
const ALL_NON_ASCII = new RegExp(NON_ASCII, 'gu');

/**
 * The ASCII form of a domain name, which is stored, compared and sent: labels in other scripts become A-labels by UTS 46, without the
 * deviations of IDNA2003 (`faß.example` is not `fass.example`). A name in ASCII stays as typed.
 * @returns undefined where the text is no domain name
 */
export function asciiDomain(typed: string): string | undefined {
  if (typed.length > LONGEST_DOMAIN || OTHER_ASCII.test(typed)) return undefined;
  if (ASCII_DOMAIN.test(typed) && !A_LABEL.test(typed)) return typed;
  const ascii = domainToASCII(typed);
  return ASCII_DOMAIN.test(ascii) && !NO_LABEL.test(domainToUnicode(ascii)) ? ascii : undefined;
}

/**
 * The form in which the domain of a place is stored and compared: {@link asciiDomain} in lower case, without the dot at its end that the DNS allows.
 * @returns undefined where the text is no domain name
 */
export const canonicalDomain = (typed: string): string | undefined => asciiDomain(withoutRoot(typed))?.toLowerCase();

/** The host of a URL in the form of {@link canonicalDomain}. Addresses are as URLs have them, those of IPv6 in brackets. */
export const hostOf = (url: string): string => withoutRoot(new URL(url).hostname);

/** A domain of a list of hosts, in the form of {@link hostOf}. A dot in front, which is for everything below it as well, stays. */
export function canonicalListed(typed: string): string | undefined {
  const name = typed.replace(/^\./, '');
  const domain = canonicalDomain(name) ?? (withoutRoot(name.toLowerCase()) === 'localhost' ? 'localhost' : undefined);
  return domain === undefined || !typed.startsWith('.') ? domain : `.${domain}`;
}

const withoutRoot = (host: string): string => host.replace(/\.$/, '');

/**
 * The form of an email address that is stored, compared and sent: its domain is in ASCII. The part before the at sign must be in ASCII,
 * because few mail servers accept other characters there (RFC 6531).
 * @returns undefined where the text is no address
 */
export function asciiEmail(typed: string): string | undefined {
  const at = typed.lastIndexOf('@');
  const local = typed.slice(0, Math.max(at, 0));
  if (!LOCAL_PART.test(local) || local.startsWith('.') || local.endsWith('.') || local.includes('..')) return undefined;
  const domain = asciiDomain(typed.slice(at + 1));
  if (domain === undefined) return undefined;
  const email = `${local}@${domain}`;
  return email.length > LONGEST_EMAIL ? undefined : email;
}

/** {@link asciiEmail}, or the text itself where it is no address. */
export const canonicalEmail = (typed: string): string => asciiEmail(typed) ?? typed;

/** The characters before the at sign of an address that are not in ASCII, once each; an empty text where there are none. */
export function nonAsciiLocalPart(typed: string): string {
  const local = typed.slice(0, Math.max(typed.lastIndexOf('@'), 0));
  return [...new Set(local.match(ALL_NON_ASCII))].slice(0, 8).join('');
}

/** A text to search for in addresses, with the domain or the whole labels in it as they are stored. */
export function addressSearchText(text: string): string {
  const at = text.lastIndexOf('@');
  const domain = text.slice(at + 1);
  if (domain.length > LONGEST_DOMAIN || OTHER_ASCII.test(domain) || !NON_ASCII.test(domain)) return text;
  return text.slice(0, at + 1) + (domainToASCII(domain) || domain);
}

/** The scripts in which people write names today (UAX 31, table 5), and the sets of scripts that are one writing system (UTS 39 §5.1). */
const WRITING_SYSTEMS = [
  ...['Latin', 'Cyrillic', 'Greek', 'Arabic', 'Hebrew', 'Armenian', 'Georgian', 'Ethiopic', 'Thaana', 'Devanagari'],
  ...['Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Thai', 'Lao'],
  ...['Tibetan', 'Myanmar', 'Khmer', 'Han Hiragana Katakana', 'Han Hangul', 'Han Bopomofo'],
].map((scripts) => {
  const members = scripts.split(' ').map((script) => `\\p{Script_Extensions=${script}}`);
  return new RegExp(`^[${members.join('')}0-9-]+$`, 'u');
});

/** Labels whose every letter looks like a Latin one, such as the Cyrillic `аррӏе`. */
const LIKE_LATIN = /^([аысԁеԍһіюјӏорԗԛѕԝхуъьҽпгѵѡ0-9-]+|[αγηικνορτυω0-9-]+)$/u;

/**
 * A domain name for people to read: A-labels in their own script, unless they mix scripts or could be taken for a name in Latin letters.
 * @param ascii as {@link asciiDomain} gives it
 */
export function readableDomain(ascii: string): string {
  if (!A_LABEL.test(ascii)) return ascii;
  const isLatinZone = !/\.xn--[^.]*$/i.test(ascii);
  const label = (encoded: string): string => {
    const text = A_LABEL.test(encoded) ? domainToUnicode(encoded) : encoded;
    const isPlain = WRITING_SYSTEMS.some((system) => system.test(text)) && !(isLatinZone && LIKE_LATIN.test(text));
    return isPlain ? text : encoded;
  };
  return ascii.split('.').map(label).join('.');
}

/** An email address for people to read: see {@link readableDomain}. */
export function readableEmail(email: string): string {
  const at = email.lastIndexOf('@') + 1;
  return email.slice(0, at) + readableDomain(email.slice(at));
}
