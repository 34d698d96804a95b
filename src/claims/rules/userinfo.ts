import type { Profile, SocialLink } from '../../accounts/fields.ts';
import { splitEmail } from '../../accounts/rules/profile.ts';
import type { OwnMembership } from '../../organizations/store.ts';
import { numericDate } from '../../platform/clock.ts';
import { OPTIONAL_SCOPES } from '../scopes.ts';
import { avatarBaseUrl, avatarPath, pictureUrl } from './avatar.ts';

/** A person, as far as UserInfo can show one. */
export interface Person {
  readonly id: string;
  readonly profile: Profile;
  /** Null where there is none, or it may not be told. */
  readonly organization: OwnMembership | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The contract's answer (§2.1): base fields always, a scope's fields only when it was granted, and then also as null. */
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
    readonly organization?: OwnMembership | null;
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
    language: profile.language,
    theme: profile.theme,
    createdAt: new Date(person.createdAt).toISOString(),
  };
}

const ALL_SCOPES: ReadonlySet<string> = new Set(OPTIONAL_SCOPES);

/** One claim of a person by its name, whatever was granted; undefined where it is not set, or there is none. */
export function standardClaim(
  name: string,
  person: Pick<Person, 'id' | 'profile' | 'updatedAt'>,
  issuer: string,
): unknown {
  const claims = standardClaims(person, ALL_SCOPES, issuer);
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/**
 * The same person as standard claims (OpenID Connect Core 1.0 §5.1): what is not set is absent (§5.3.2).
 * @param single claims that were granted by themselves, beside the scopes (§5.5)
 */
export function standardClaims(
  person: Pick<Person, 'id' | 'profile' | 'updatedAt'>,
  scopes: ReadonlySet<string>,
  issuer: string,
  single: readonly string[] = [],
): Record<string, unknown> {
  const { id, profile } = person;
  return {
    sub: id,
    name: profile.displayName,
    preferred_username: profile.username,
    picture: pictureUrl(issuer, id, profile.picture),
    locale: profile.language,
    updated_at: numericDate(person.updatedAt),
    ...(scopes.has('email') && { email: profile.email, email_verified: profile.emailVerified }),
    ...(scopes.has('details') && profile.website !== null && { website: profile.website }),
    ...(scopes.has('details') && profile.birthDate !== null && { birthdate: profile.birthDate }),
    ...(scopes.has('phone') && profile.phone !== null && { phone_number: profile.phone, phone_number_verified: false }),
    ...Object.fromEntries(single.map((name) => [name, standardClaim(name, person, issuer)])),
  };
}
