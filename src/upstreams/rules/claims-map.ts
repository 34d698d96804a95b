import { proposal } from './proposal.ts';
import type { TokenClaims, TokenProblem } from './token-claims.ts';

/** What an upstream may write into an account (decisions §14), never anything else: JSON pointers (RFC 6901) into the claims. */
export type ClaimsMap = Readonly<Partial<Record<'name' | 'language' | 'groups', string>>>;

/** What the claims of a sign-in write. What is absent is left as it is. */
export interface MappedClaims {
  readonly name?: string;
  readonly language?: string;
  /** The names of all groups that the person is in. */
  readonly groups?: readonly string[];
  /** Why the claims do not say in which groups the person is. */
  readonly groupsUnknown?: string;
}

const LONGEST_NAME = 64;
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

/** Reads what a map names. A value of another form is as one that is absent. */
export function mapClaims(
  claims: TokenClaims,
  { name, language, groups: pointer }: ClaimsMap,
): MappedClaims | TokenProblem {
  const said = name === undefined ? undefined : proposal(valueAt(claims, name), LONGEST_NAME);
  const tag = language === undefined ? undefined : valueAt(claims, language);
  const groups = pointer === undefined ? {} : groupsIn(claims, pointer);
  if ('problem' in groups) return groups;
  return {
    ...(said !== undefined && { name: said }),
    ...(typeof tag === 'string' && LANGUAGE.test(tag) && { language: tag.replaceAll('_', '-') }),
    ...groups,
  };
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
