import { canonicalEmail } from '../../platform/domain-name.ts';
import { invalid } from '../../platform/failure.ts';
import { initialValues } from '../../platform/validation/fields.ts';
import { languageTag } from '../../platform/validation/language.ts';
import { PROFILE_FIELDS, type Profile } from '../fields.ts';
import type { CreateUserRequest, UpdateUserRequest } from '../schema.ts';

/** Backgrounds for initials, each dark enough for white letters (contrast ≥ 4.5). */
export const COLORS = ['#5b2a86', '#7a1f5c', '#8a2f2f', '#6b4a12', '#2f5d34', '#0f5e63', '#1f4e8c', '#42458f'] as const;

/** The default color of an account, which follows from its id. */
export function colorFor(id: string): string {
  return COLORS[Number(BigInt(id) % BigInt(COLORS.length))] ?? COLORS[0];
}

/**
 * The profile of a new account.
 * @throws {Failure} `invalid` where the birth date is not in the past
 */
export function newProfile(input: CreateUserRequest, id: string, now: number): Profile {
  return changeProfile(
    {
      ...initialValues(PROFILE_FIELDS, { ...input, avatarColor: input.avatarColor ?? colorFor(id) }),
      emailVerified: false,
      picture: null,
    },
    input,
    now,
  );
}

/**
 * The profile after a change. A new email address is unverified unless the same change sets `emailVerified`.
 * @throws {Failure} `invalid` where the birth date is not in the past
 */
export function changeProfile(profile: Profile, change: UpdateUserRequest, now: number): Profile {
  if (change.birthDate != null && change.birthDate >= new Date(now).toISOString().slice(0, 10)) {
    throw invalid(`birthDate must be in the past; got ${change.birthDate}.`);
  }
  const email = change.email === undefined ? profile.email : canonicalEmail(change.email);
  const { password: _password, ...fields } = change;
  return {
    ...profile,
    ...fields,
    email,
    language: languageTag(fields.language ?? profile.language) ?? profile.language,
    emailVerified: change.emailVerified ?? (emailKey(email) === emailKey(profile.email) && profile.emailVerified),
  };
}

/** The form in which stored email addresses are compared. */
export const emailKey = (email: string): string => email.toLowerCase();

/** The form in which a username or an email address is looked up, however it was typed. */
export const identifierKey = (typed: string): string => emailKey(canonicalEmail(typed));

/** The parts of an email address before and after its last at sign. */
export function splitEmail(email: string): { readonly username: string; readonly domain: string } {
  const at = email.lastIndexOf('@');
  return { username: email.slice(0, at), domain: email.slice(at + 1) };
}
