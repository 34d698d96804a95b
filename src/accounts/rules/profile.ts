import { invalidRequest } from '../../platform/oauth-error.ts';
import { initialValues } from '../../platform/validation/fields.ts';
import { PROFILE_FIELDS, type Profile } from '../fields.ts';
import type { CreateUserRequest, UpdateUserRequest } from '../schema.ts';

/** Backgrounds for initials, each dark enough for white letters (contrast ≥ 4.5). */
export const COLORS = ['#5b2a86', '#7a1f5c', '#8a2f2f', '#6b4a12', '#2f5d34', '#0f5e63', '#1f4e8c', '#42458f'] as const;

/** The colour of an account that chose none: always the same for the same id. */
export function colorFor(id: string): string {
  return COLORS[Number(BigInt(id) % BigInt(COLORS.length))] ?? COLORS[0];
}

/**
 * The profile of a new account.
 * @throws {OAuthError} when the birth date is not past
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
 * The profile after a change. Another email address is unverified, unless the same change says otherwise.
 * @throws {OAuthError} when the birth date is not past
 */
export function changeProfile(profile: Profile, change: UpdateUserRequest, now: number): Profile {
  if (change.birthDate != null && change.birthDate >= new Date(now).toISOString().slice(0, 10)) {
    throw invalidRequest(`birthDate must be in the past; got ${change.birthDate}.`);
  }
  const sameEmail = change.email === undefined || emailKey(change.email) === emailKey(profile.email);
  const { password: _password, ...fields } = change;
  return {
    ...profile,
    ...fields,
    emailVerified: change.emailVerified ?? (sameEmail && profile.emailVerified),
  };
}

/** What an email address is unique and found by. */
export const emailKey = (email: string): string => email.toLowerCase();

/** The two parts of an address, around its last at-sign. */
export function splitEmail(email: string): { readonly username: string; readonly domain: string } {
  const at = email.lastIndexOf('@');
  return { username: email.slice(0, at), domain: email.slice(at + 1) };
}
