import { proposal } from './proposal.ts';
import type { TokenClaims } from './token-claims.ts';

/** What an upstream may write into an account (decisions §14), never anything else: JSON pointers (RFC 6901) into the claims. */
export type ClaimsMap = Readonly<Partial<Record<'name' | 'language' | 'groups', string>>>;

/** What the claims of a sign-in write. What is absent is left as it is. */
export interface MappedClaims {
  readonly name?: string;
  readonly language?: string;
  /** The names of groups. */
  readonly groups?: readonly string[];
}

const LONGEST_NAME = 64;
const LANGUAGE = /^[A-Za-z]{2}([-_][A-Za-z0-9]{2,8}){0,3}$/;
const GROUP = /^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])$/;

/** How many groups are read. */
const MOST_GROUPS = 200;

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
export function mapClaims(claims: TokenClaims, { name, language, groups }: ClaimsMap): MappedClaims {
  const said = name === undefined ? undefined : proposal(valueAt(claims, name), LONGEST_NAME);
  const tag = language === undefined ? undefined : valueAt(claims, language);
  const listed = groups === undefined ? undefined : groupsIn(valueAt(claims, groups));
  return {
    ...(said !== undefined && { name: said }),
    ...(typeof tag === 'string' && LANGUAGE.test(tag) && { language: tag.replaceAll('_', '-') }),
    ...(listed !== undefined && { groups: listed }),
  };
}

/** A provider that says nothing of groups, as Microsoft Entra of people with too many, takes none away. */
function groupsIn(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const names = value.filter((one): one is string => typeof one === 'string' && GROUP.test(one));
  return [...new Set(names)].slice(0, MOST_GROUPS);
}
