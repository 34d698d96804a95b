import { proposal } from './proposal.ts';
import type { TokenClaims, TokenProblem } from './token-claims.ts';

/** What an upstream may write into an account (decisions §14), never anything else: JSON pointers (RFC 6901) into the claims. */
export type ClaimsMap = Readonly<Partial<Record<(typeof CLAIM_FIELDS)[number], string>>>;

/** What is one value each. */
export const MAPPED_FIELDS = ['name', 'language', 'picture'] as const;
export type MappedField = (typeof MAPPED_FIELDS)[number];

/** All that a map names. */
export const CLAIM_FIELDS = [...MAPPED_FIELDS, 'groups'] as const;

/** A claim that the map names, and of which nothing is written. */
export interface IgnoredClaim {
  readonly field: MappedField;
  /** In words for operators. */
  readonly reason: string;
  /** Whether the claims lack it, which is nothing out of the ordinary. */
  readonly isAbsent: boolean;
}

/** What the claims of a sign-in write. What is absent is left as it is. */
export interface MappedClaims {
  readonly name?: string;
  readonly language?: string;
  /** Where the picture is. */
  readonly picture?: string;
  readonly ignored: readonly IgnoredClaim[];
  /** The names of all groups that the person is in. */
  readonly groups?: readonly string[];
  /** Why the claims do not say in which groups the person is. */
  readonly groupsUnknown?: string;
}

/** Of a person of whom nothing is mapped. */
export const NOTHING_MAPPED: MappedClaims = { ignored: [] };

const LONGEST_NAME = 64;
const LONGEST_URL = 2000;
const LANGUAGE = /^[A-Za-z]{2}([-_][A-Za-z0-9]{2,8}){0,3}$/;
const GROUP = /^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])$/;

/** How many groups a token may name. Part of a longer list would take away those that it leaves out. */
const MOST_NAMED_GROUPS = 1000;

/** A JSON pointer as it is accepted: of a few members, none of them empty. */
export const POINTER = '^(/([^/~]|~[01]){1,100}){1,8}$';

/** RFC 6901 §4, of the own members of objects and the elements of lists. */
export function valueAt(claims: unknown, pointer: string): unknown {
  let value = claims;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

interface FieldForm {
  /** The value as it is written; undefined for one of another form. */
  readonly read: (value: unknown) => string | undefined;
  readonly expected: string;
}

const FORMS: Readonly<Record<MappedField, FieldForm>> = {
  name: {
    read: (value) => proposal(value, LONGEST_NAME),
    expected: `a text of at most ${LONGEST_NAME} characters on one line`,
  },
  language: {
    read: (value) => (typeof value === 'string' && LANGUAGE.test(value) ? value.replaceAll('_', '-') : undefined),
    expected: 'a language tag such as en or de-AT',
  },
  picture: { read: pictureUrl, expected: `an https URL of at most ${LONGEST_URL} characters` },
};

/** Whether `http` is allowed depends on where it leads, which is decided when it is fetched. */
function pictureUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > LONGEST_URL) return undefined;
  const url = URL.parse(value);
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  return isWeb && url.username === '' && url.password === '' ? url.href : undefined;
}

/** Reads what a map names. A value of another form is ignored, as one that is absent. */
export function mapClaims(claims: TokenClaims, map: ClaimsMap): MappedClaims | TokenProblem {
  const groups = map.groups === undefined ? {} : groupsIn(claims, map.groups);
  if ('problem' in groups) return groups;
  const said: Partial<Record<MappedField, string>> = {};
  const ignored: IgnoredClaim[] = [];
  for (const field of MAPPED_FIELDS) {
    const pointer = map[field];
    if (pointer === undefined) continue;
    const { read, expected } = FORMS[field];
    const value = valueAt(claims, pointer);
    const written = read(value);
    if (written !== undefined) said[field] = written;
    else if (value === undefined) ignored.push({ field, reason: `The token has no ${pointer}.`, isAbsent: true });
    else ignored.push({ field, reason: `${pointer} is not ${expected}.`, isAbsent: false });
  }
  return { ...said, ignored, ...groups };
}

/** Where a claim is absent, the person is in no group: a provider that has more to say than its token holds says so. */
function groupsIn(claims: TokenClaims, pointer: string): Pick<MappedClaims, 'groups' | 'groupsUnknown'> | TokenProblem {
  const value = valueAt(claims, pointer);
  if (value === undefined) {
    const groupsUnknown = whereElse(claims, pointer);
    return groupsUnknown === undefined ? { groups: [] } : { groupsUnknown };
  }
  // Some providers write a list of one as its member.
  const listed = Array.isArray(value) ? value : [value];
  if (listed.length > MOST_NAMED_GROUPS)
    return { problem: `the groups at ${pointer} are more than ${MOST_NAMED_GROUPS}` };
  return { groups: [...new Set(listed.filter((one): one is string => typeof one === 'string' && GROUP.test(one)))] };
}

/**
 * Why a claim that is absent may have a value all the same: it is distributed (OpenID Connect Core 1.0 §5.6.2), as that of Microsoft Entra is
 * of people with too many groups, or Entra's `hasgroups` says so.
 */
function whereElse(claims: TokenClaims, pointer: string): string | undefined {
  const [, claim = ''] = pointer.split('/');
  const names = claims['_claim_names'];
  if (
    typeof names === 'object' &&
    names !== null &&
    Object.hasOwn(names, claim.replaceAll('~1', '/').replaceAll('~0', '~'))
  ) {
    return `the token says by _claim_names that ${claim} are to be asked for elsewhere`;
  }
  const { hasgroups } = claims;
  const has = hasgroups === true || hasgroups === 'true';
  return claim === 'groups' && has
    ? 'the token says by hasgroups that groups are to be asked for elsewhere'
    : undefined;
}
