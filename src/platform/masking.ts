/** The longest text that is kept of what a request sent, in characters. */
const LONGEST = 600;

/** Control characters, and those that change the direction of the text around them. */
const INVISIBLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

const JWT = /\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,4}/g;
/** Except placeholders, words of our own sentences, and what a program sends that has no token. */
const CREDENTIALS =
  /\b(Basic|Bearer|DPoP)(\s+)(?!(?:undefined|null|token|ACCESS_TOKEN|is|and|twice|once)\b|[[<$])[^\s,;"]+/gi;
const USER_INFO = /(\/\/)[^/?#@\s]+@/g;
/** The ends of names whose values are confidential. */
const NAMES =
  'token|code|secret|password|passwd|assertion|verifier|challenge|state|nonce|ticket|session|sid|key|hint|jwt|auth';
/** With what a remedy begins that follows the name of a parameter and a colon, in sentences of our own. */
const INSTRUCTIONS = 'send|remove|leave|use|shorten|rename|did you|it|repeat|request|set|encode|separate|the';
/** A parameter, or a member of JSON. What is before the end of the name is not matched, which would take quadratic time. */
const CONFIDENTIAL = [
  new RegExp(`((?:${NAMES})=["']?)([^\\s&"',;}]+)`, 'gi'),
  new RegExp(`((?:${NAMES})["']\\s*:\\s*["']?|_(?:${NAMES}):\\s*)(?!(?:${INSTRUCTIONS})\\b)([^\\s&"',;}]+)`, 'gi'),
] as const;
/** With the padding of base64, but without the sign between a name and its value. */
const RUN = /[A-Za-z0-9_~+-]{20,}(?:={1,2}(?![^\s&"',;}=]))?/g;
/**
 * Names in prose and URIs: words joined by one sign, or by a capital as in the fields of JSON, also after the hyphens of an option, ids, and dates. Each word matches in one way only: with two, a run of many words
 * would take exponential time.
 */
const HARMLESS =
  /^(?:(?:[a-z]{2,}|[A-Z][a-z]{2,})(?:[A-Z][a-z]{2,})+|-{0,2}(?:[A-Z][a-z]|[a-z])[a-z]*(?:[_-](?:[A-Z][a-z]|[a-z])[a-z]*)*|[A-Z]+(?:_[A-Z]+)*|\d{1,20}|[_~+-]+)$/;

const lengthOf = (kind: string, text: string): string => `[${kind}${text.length} characters]`;

const hideValue = (all: string, name: string, value: string): string =>
  value.startsWith('[') || value.startsWith('<') ? all : `${name}[masked]`;

/**
 * A text that may contain what a stranger sent, as it may be kept: in one line, without what looks like a token, code, secret or
 * password, and no longer than 600 characters.
 */
export function masked(text: string): string {
  const line = text
    // Far more than is kept, so that a credential at the end is not cut into something unrecognizable.
    .slice(0, 4 * LONGEST)
    .replace(INVISIBLE, ' ')
    .replace(JWT, (token) => lengthOf('JWT, ', token))
    .replace(CREDENTIALS, (_all, scheme: string, space: string) => `${scheme}${space}[masked]`)
    .replace(USER_INFO, '$1[masked]@')
    .replace(CONFIDENTIAL[0], hideValue)
    .replace(CONFIDENTIAL[1], hideValue)
    .replace(RUN, (run) => (HARMLESS.test(run) ? run : lengthOf('', run)));
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

/** An email address in a text. */
const ADDRESS = /(?:"[^"]*"|[^\s<>()[\]"',;:@]+)@[^\s<>()"',;:@]+/g;

/**
 * A text without email addresses, such as the answer of a mail server, which is kept longer than the address may be.
 * @param known an address whose local part is masked as well, where it is a word
 */
export function withoutAddresses(text: string, known: string): string {
  const local = known.slice(0, known.lastIndexOf('@')).toLowerCase();
  return text
    .replace(ADDRESS, '[address]')
    .split(/([^\p{L}\p{N}._+-]+)/u)
    .map((word) => (word.toLowerCase() === local ? '[address]' : word))
    .join('');
}

/** How much of a path is kept, in segments, and the longest segment that is shown: tokens and codes are longer. */
const SEGMENTS = 8;
const SEGMENT = /^[\w.~-]{0,20}$/;

/** The path of a request that no route serves, as it may be kept. */
export const maskedPath = (path: string): string =>
  path
    .split('/', SEGMENTS + 1)
    .map((segment) => (SEGMENT.test(segment) ? segment : '…'))
    .join('/');
