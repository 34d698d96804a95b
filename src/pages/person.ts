import type { Profile } from '../accounts/fields.ts';
import type { Account } from '../accounts/store.ts';
import type { OptionalScope } from '../claims/permissions.ts';
import type { MemberClaims } from '../claims/rules/member-claims.ts';
import { avatarPath } from '../claims/rules/userinfo.ts';
import { initials } from '../pictures/rules/initials.ts';
import { enumerated } from '../platform/date-text.ts';
import { readableEmail } from '../platform/domain-name.ts';
import { readableNumber } from '../platform/validation/phone.ts';
import { day, fact, facts, isolate, moment } from './components.ts';
import { type Html, html } from './html.ts';
import type { Site } from './layout.ts';
import type { TileHalf } from './mark.ts';
import type { Messages } from './messages.ts';

const absent = (text: string): Html => html`<span class="muted">${text}</span>`;

/** A person's picture. The name is beside it, so it has no alternative text. */
export const picture = ({ path }: Site, { id, profile }: Pick<Account, 'id' | 'profile'>, size: number): Html =>
  html`<img class="picture" src="${path(`/avatars${avatarPath(id, profile.picture)}`)}" alt="" width="${size}" height="${size}">`;

/** The half of the tile that shows a person. */
export const personHalf = ({ path }: Site, { id, profile }: Pick<Account, 'id' | 'profile'>): TileHalf => ({
  letters: initials(profile.displayName),
  picture: profile.picture === null ? undefined : path(`/avatars${avatarPath(id, profile.picture)}`),
});

/** The values that every app with access gets. */
export function profileFacts(site: Site, account: Account): Html {
  const text = site.messages.person;
  const { profile } = account;
  return html`<div class="passport"><div class="holder">${picture(site, account, 88)}${facts([
    fact(text.name, isolate(profile.displayName), true),
    fact(text.username, profile.username, true),
  ])}</div>${facts([fact(text.email, emailValue(profile, site.messages), true), ...identityFacts(site, account)])}</div>`;
}

/** Those beside name, username, picture and email address. */
export function identityFacts({ messages }: Site, { id, profile, createdAt }: Account): readonly Html[] {
  const text = messages.person;
  return [
    fact(text.about, profile.about === '' ? absent(text.notSet) : isolate(profile.about), true),
    fact(text.language, languageName(profile.language, messages)),
    fact(text.theme, profile.theme === null ? absent(text.notSet) : text.themes[profile.theme]),
    fact(text.since, moment(createdAt)),
    fact(text.id, html`<span class="figures">${id}</span>`, true),
  ];
}

/** An address, and whether it is verified. */
export function emailValue({ email, emailVerified }: Profile, { person: text }: Messages): Html {
  return html`${isolate(readableEmail(email))} <span class="muted">${emailVerified ? text.verified : text.notVerified}</span>`;
}

/** The name of a language in that of the page. */
export function languageName(code: string, { language }: Messages): string {
  return new Intl.DisplayNames([language], { type: 'language', fallback: 'code' }).of(code) ?? code;
}

/** A value that a scope shares, with its name where that of the scope does not say it. */
export interface SharedValue {
  readonly name: string | Html | undefined;
  /** Undefined where it is not set. */
  readonly value: Html | undefined;
}

/** A value for people to read, also where it is not set. */
export const valueText = ({ value }: SharedValue, { person: text }: Messages): Html => value ?? absent(text.notSet);

/** The values that an optional scope shares. */
export function scopeValues(
  scope: OptionalScope,
  profile: Profile,
  organization:
    | { readonly name: string; readonly domain: string; readonly role: keyof Messages['person']['roles'] | null }
    | undefined,
  member: MemberClaims,
  messages: Messages,
): readonly SharedValue[] {
  const text = messages.person;
  const one = (value: Html | undefined): readonly SharedValue[] => [{ name: undefined, value }];
  const textOf = (value: string | null): Html | undefined => (value === null ? undefined : isolate(value));
  switch (scope) {
    case 'profile':
      return one(
        html`${isolate(profile.displayName)}, ${profile.username}, ${languageName(profile.language, messages)}`,
      );
    case 'email':
      return one(emailValue(profile, messages));
    case 'details':
      return [
        { name: text.website, value: textOf(profile.website) },
        { name: text.location, value: textOf(profile.location) },
        { name: text.birthDate, value: profile.birthDate === null ? undefined : day(profile.birthDate) },
      ];
    case 'phone': {
      const { phone } = profile;
      return one(phone === null ? undefined : html`<span class="figures">${readableNumber(phone)}</span>`);
    }
    case 'social':
      if (profile.socialLinks.length === 0) return one(undefined);
      return profile.socialLinks.map(({ label, url }) => ({ name: isolate(label), value: isolate(url) }));
    case 'groups':
    case 'roles': {
      const names = member[scope] ?? [];
      return one(names.length === 0 ? undefined : isolate(enumerated(names, messages.language)));
    }
    case 'organization.read': {
      if (organization === undefined) return one(undefined);
      const { name, domain, role } = organization;
      return one(html`${name}, ${domain}${role !== null && html`, ${text.roles[role]}`}`);
    }
  }
}
