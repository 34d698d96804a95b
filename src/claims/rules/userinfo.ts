import type { Profile, SocialLink } from '../../accounts/fields.ts';
import { splitEmail } from '../../accounts/rules/profile.ts';
import type { Membership } from '../../organizations/store.ts';
import { numericDate } from '../../platform/clock.ts';
import type { ClaimScopes } from '../permissions.ts';

/** What UserInfo can say about a user. */
export interface Person {
  readonly id: string;
  readonly profile: Profile;
  /** Null where the user is in none, or the token may not read it. */
  readonly organization: Membership | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The contract's response (§2.1): base fields always; the fields of a scope only if it was granted, and then also as null. */
export interface UserInfo {
  readonly sub: string;
  readonly id: string;
  readonly user: {
    readonly displayName: string;
    readonly username: string;
    readonly avatar: { readonly baseUrl: string; readonly path: string; readonly color: string };
    readonly about: string;
    readonly email?: { readonly username: string; readonly domain: string; readonly isVerified: boolean };
    readonly website?: string | null;
    readonly location?: string | null;
    readonly birthDate?: string | null;
    readonly phone?: string | null;
    readonly socialLinks?: readonly SocialLink[];
    readonly organization?: Membership | null;
  };
  readonly language: string;
  readonly theme: Profile['theme'];
  readonly createdAt: string;
}

export function userInfo(person: Person, scopes: ReadonlySet<string>, issuer: string): UserInfo {
  const { id, profile, organization } = person;
  return {
    sub: id,
    id,
    user: {
      displayName: profile.displayName,
      username: profile.username,
      avatar: { baseUrl: avatarBaseUrl(issuer), path: avatarPath(id, profile.picture), color: profile.avatarColor },
      about: profile.about,
      ...(scopes.has('email') && { email: { ...splitEmail(profile.email), isVerified: profile.emailVerified } }),
      ...(scopes.has('details') && {
        website: profile.website,
        location: profile.location,
        birthDate: profile.birthDate,
      }),
      ...(scopes.has('phone') && { phone: profile.phone }),
      ...(scopes.has('social') && {
        socialLinks: profile.socialLinks.map(({ platform, url, label }) => ({ platform, url, label })),
      }),
      ...(scopes.has('organization.read') && { organization }),
    },
    // Two letters, also of a longer tag.
    language: profile.language.slice(0, 2),
    theme: profile.theme,
    createdAt: new Date(person.createdAt).toISOString(),
  };
}

export interface ClaimedPerson extends Pick<Person, 'id' | 'profile' | 'updatedAt'> {
  /** The groups and roles of the person in the app. */
  readonly groups?: readonly string[] | undefined;
  readonly roles?: readonly string[] | undefined;
}

/** The names of the two claims in the tokens of an app; null for `groups` and `roles`. */
export type MemberClaimNames = { readonly groups?: string; readonly roles?: string } | null;

const nameOf = (claim: string, names: MemberClaimNames): string =>
  claim === 'groups' || claim === 'roles' ? (names?.[claim] ?? claim) : claim;

/** Every claim about a user that OpenID Connect Core 1.0 §5.1 names and this service knows; undefined where it is not set. */
const allClaims = (
  { id, profile, updatedAt, groups, roles }: ClaimedPerson,
  issuer: string,
): Record<string, unknown> => ({
  name: profile.displayName,
  preferred_username: profile.username,
  picture: pictureUrl(issuer, id, profile.picture),
  locale: profile.language,
  updated_at: numericDate(updatedAt),
  email: profile.email,
  email_verified: profile.emailVerified,
  website: profile.website ?? undefined,
  birthdate: profile.birthDate ?? undefined,
  phone_number: profile.phone ?? undefined,
  phone_number_verified: profile.phone === null ? undefined : false,
  groups,
  roles,
});

/** Claims by their names, whatever was granted. One that is not set, or that is none, is absent (OpenID Connect Core 1.0 §5.3.2). */
export function singleClaims(
  person: ClaimedPerson,
  wanted: readonly string[],
  issuer: string,
  names: MemberClaimNames = null,
): Record<string, unknown> {
  const claims = allClaims(person, issuer);
  return Object.fromEntries(
    wanted.flatMap((name) => {
      const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
      return value === undefined ? [] : [[nameOf(name, names), value]];
    }),
  );
}

/**
 * The standard claims of a user (OpenID Connect Core 1.0 §5.1) that the granted scopes cover. One without a value is absent
 * (§5.3.2).
 * @param single claims that were granted one by one, beside the scopes (§5.5)
 * @param names what the app calls the claims of groups and roles
 */
export function standardClaims(
  person: ClaimedPerson,
  granted: ReadonlySet<string>,
  claimScopes: ClaimScopes,
  issuer: string,
  single: readonly string[] = [],
  names: MemberClaimNames = null,
): Record<string, unknown> {
  const isGranted = (name: string): boolean => {
    const scope = claimScopes.get(name);
    return scope === null || (scope !== undefined && granted.has(scope)) || single.includes(name);
  };
  const claims: Record<string, unknown> = { sub: person.id };
  for (const [name, value] of Object.entries(allClaims(person, issuer))) {
    if (value !== undefined && isGranted(name)) claims[nameOf(name, names)] = value;
  }
  return claims;
}

/** The base URL of avatars, for `avatar.baseUrl`. */
const avatarBaseUrl = (issuer: string): string => `${issuer}/avatars`;

/**
 * The path of an account's picture, relative to the base URL.
 * @param picture the name of the uploaded picture; null for the initials
 */
export const avatarPath = (accountId: string, picture: string | null): string =>
  picture === null ? `/${accountId}.svg` : `/${accountId}/${picture}`;

/** The URL of an account's picture. */
export const pictureUrl = (issuer: string, accountId: string, picture: string | null): string =>
  `${avatarBaseUrl(issuer)}${avatarPath(accountId, picture)}`;
