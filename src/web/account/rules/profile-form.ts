import { PROFILE_FIELDS, type Profile, type SocialLink, SocialLinkSchema } from '../../../accounts/fields.ts';
import { COLORS } from '../../../accounts/rules/profile.ts';
import type { UpdateUserRequest } from '../../../accounts/schema.ts';
import { internationalNumber } from '../../../platform/validation/phone.ts';
import { findProblem } from '../../../platform/validation/validate.ts';

/** The fields that people change themselves. User names and verified addresses are the operator's to change. */
const FORM_FIELDS = [
  'displayName',
  'about',
  'language',
  'theme',
  'website',
  'location',
  'birthDate',
  'phone',
  'avatarColor',
] as const;
export type ProfileField = (typeof FORM_FIELDS)[number];

export const MAX_LINKS = 20;

export const linkField = (part: 'label' | 'url', index: number): string => `link-${part}-${index}`;

/** An invalid field of the form, and the kind of its problem. */
export type ProfileProblem = { readonly name: string; readonly kind: ProfileField | 'linkLabel' | 'linkUrl' };

export type ProfileForm =
  | { readonly kind: 'change'; readonly change: UpdateUserRequest }
  | { readonly kind: 'problems'; readonly problems: readonly ProfileProblem[] };

/** Fields that may be empty, which clears them. */
const CLEARABLE: ReadonlySet<ProfileField> = new Set(['theme', 'website', 'location', 'birthDate', 'phone']);

/** Browsers send CRLF for a line break of a text area; LF is stored. */
const tidy = (text: string): string => text.replaceAll('\r\n', '\n').trim();

function stored(field: ProfileField, text: string): string | null {
  if (text === '' && CLEARABLE.has(field)) return null;
  return field === 'phone' ? internationalNumber(text) : text;
}

/**
 * Reads the form of the profile page. A field that was not sent stays as it is; a link without label and address is removed.
 * @param profile as it is stored
 * @param now milliseconds since the epoch: a birth date must be in the past
 */
export function readProfileForm(get: (name: string) => string | undefined, profile: Profile, now: number): ProfileForm {
  const colors: readonly unknown[] = [...COLORS, profile.avatarColor];
  const problems: ProfileProblem[] = [];
  const change: Record<string, unknown> = {};
  for (const field of FORM_FIELDS) {
    const sent = get(field);
    if (sent === undefined) continue;
    const value = stored(field, tidy(sent));
    const future = field === 'birthDate' && value !== null && value >= new Date(now).toISOString().slice(0, 10);
    // White letters would be unreadable on other colors.
    const unknownColor = field === 'avatarColor' && !colors.includes(value);
    if (future || unknownColor || findProblem(PROFILE_FIELDS[field].schema, value) !== undefined) {
      problems.push({ name: field, kind: field });
    }
    change[field] = value;
  }
  const socialLinks: SocialLink[] = [];
  for (let index = 0; index < MAX_LINKS; index++) {
    const [label, url] = [tidy(get(linkField('label', index)) ?? ''), tidy(get(linkField('url', index)) ?? '')];
    if (label === '' && url === '') continue;
    const link = { platform: platformOf(url), url, label };
    const { label: labels, url: urls } = SocialLinkSchema.properties;
    if (findProblem(urls, url) !== undefined) problems.push({ name: linkField('url', index), kind: 'linkUrl' });
    if (findProblem(labels, label) !== undefined) problems.push({ name: linkField('label', index), kind: 'linkLabel' });
    socialLinks.push(link);
  }
  if (get(linkField('url', 0)) !== undefined) change['socialLinks'] = socialLinks;
  return problems.length > 0 ? { kind: 'problems', problems } : { kind: 'change', change };
}

/** The platform of an address: `github` for `https://www.github.com/ada`. */
export function platformOf(url: string): string {
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^www\./, '') : '';
  const name = host.split('.').at(-2) ?? host;
  return /^[a-z0-9]/.test(name) ? name.slice(0, 32) : 'website';
}

/** The values of the form's fields for a profile. */
export function profileFields(profile: Profile): ReadonlyMap<string, string> {
  const fields = new Map<string, string>(FORM_FIELDS.map((field) => [field, profile[field] ?? '']));
  for (const [index, { label, url }] of profile.socialLinks.entries()) {
    fields.set(linkField('label', index), label);
    fields.set(linkField('url', index), url);
  }
  return fields;
}
