import type { FastifyInstance } from 'fastify';
import { updateAccount } from '../../../account-actions/addresses/update-account.ts';
import { COLORS } from '../../../accounts/rules/profile.ts';
import { field, hidden, isolate, selectField, swatches, textArea } from '../../../pages/components.ts';
import { type Html, type HtmlPart, html } from '../../../pages/html.ts';
import type { Site } from '../../../pages/layout.ts';
import { languageName, scopeValues } from '../../../pages/person.ts';
import { formOf } from '../../../platform/http/bodies.ts';
import { linkField, MAX_LINKS, readProfileForm } from '../rules/profile-form.ts';
import { type AccountHooks, servicesIn, visitOf } from '../visit.ts';
import type { ProfileSection, ProfileServices, ProfileState, ShowProfile } from './section.ts';

const ADDRESS = '/account/profile';

export const nameSection: ProfileSection = {
  name: 'change-name',
  fields: /^(displayName|about)$/,
  row({ site }, state) {
    const { messages } = site;
    const { person, profile: text, signUp } = messages;
    const { displayName } = state.account.profile;
    const about = { name: 'about', label: person.about, hint: text.aboutHint, rows: 4 };
    const inputs = html`${input(state, 'displayName', person.name, { autocomplete: 'name', hint: signUp.displayNameHint, required: true })}
${textArea({ ...about, value: textOf(state, 'about'), problems: state.problems })}`;
    return {
      title: text.rows.name,
      state: isolate(displayName),
      content: profileForm(site, state, text.rows.name, inputs),
    };
  },
  routes,
};

export const appearanceSection: ProfileSection = {
  name: 'appearance',
  fields: /^(language|theme|avatarColor)$/,
  row({ site }, state) {
    const { messages } = site;
    const { person, profile: text } = messages;
    const { problems, account } = state;
    const { language, theme, avatarColor } = account.profile;
    const colors = COLORS.some((color) => color === avatarColor) ? COLORS : [...COLORS, avatarColor];
    const codes = LANGUAGES.includes(language) ? LANGUAGES : [language, ...LANGUAGES];
    const inputs = html`${selectField({
      name: 'language',
      label: person.language,
      hint: text.languageHint,
      value: textOf(state, 'language'),
      problems,
      autocomplete: 'language',
      options: codes.map((code) => [code, ownName(code), code]),
    })}
${selectField({
  name: 'theme',
  label: person.theme,
  value: textOf(state, 'theme'),
  problems,
  options: [['', text.noTheme], ...Object.entries(person.themes)],
})}
${swatches({ name: 'avatarColor', label: text.color, hint: text.colorHint, value: textOf(state, 'avatarColor'), colors, names: text.colors })}`;
    const chosen = theme === null ? undefined : person.themes[theme];
    return {
      title: text.rows.appearance,
      state: text.appearanceState(languageName(language, messages), chosen),
      content: profileForm(site, state, text.rows.appearance, inputs),
    };
  },
};

export const phoneSection: ProfileSection = {
  name: 'change-phone',
  fields: /^phone$/,
  row({ site }, state) {
    const { person, profile: text } = site.messages;
    return {
      title: text.rows.phone,
      state: storedValues(site, state, 'phone'),
      content: profileForm(
        site,
        state,
        text.rows.phone,
        input(state, 'phone', person.phone, { type: 'tel', autocomplete: 'tel', hint: text.phoneHint }),
      ),
    };
  },
};

export const detailsSection: ProfileSection = {
  name: 'details',
  fields: /^(website|location|birthDate)$/,
  row({ site }, state) {
    const { person, profile: text } = site.messages;
    const inputs = html`${input(state, 'website', person.website, { type: 'url', autocomplete: 'url', hint: text.websiteHint })}
${input(state, 'location', person.location, { autocomplete: 'off' })}
${input(state, 'birthDate', person.birthDate, { type: 'date', autocomplete: 'bday' })}`;
    return {
      title: text.rows.details,
      state: storedValues(site, state, 'details'),
      content: profileForm(site, state, text.rows.details, inputs),
    };
  },
};

/** The number of empty links below the existing ones. */
const SPARE_LINKS = 2;

export const linksSection: ProfileSection = {
  name: 'links',
  fields: /^link-/,
  row({ site }, state) {
    const { profile: text, person } = site.messages;
    const { length } = state.account.profile.socialLinks;
    const hasText = (index: number) =>
      [linkField('label', index), linkField('url', index)].some((name) => textOf(state, name) !== '');
    const kept = Array.from({ length: MAX_LINKS }, (_, index) => index).filter(hasText);
    const rows = Math.min(MAX_LINKS, (kept.at(-1) ?? -1) + 1 + SPARE_LINKS);
    const inputs = html`<p class="muted small">${text.linksLead}</p>
${Array.from(
  { length: rows },
  (_, index) => html`<fieldset class="link-row"><legend>${text.link(index + 1)}</legend>
${input(state, linkField('label', index), text.linkLabel, { autocomplete: 'off' })}
${input(state, linkField('url', index), text.linkUrl, { type: 'url', autocomplete: 'off' })}</fieldset>`,
)}`;
    return {
      title: text.rows.links,
      state: length === 0 ? person.notSet : text.linkCount(length),
      content: profileForm(site, state, text.rows.links, inputs),
    };
  },
};

/** The form of the rows of this file: each sends its own fields, and what is not sent stays as it is. */
function routes(app: FastifyInstance, services: ProfileServices, { countForm }: AccountHooks, show: ShowProfile): void {
  const { site, clock } = services;
  const { messages } = site;

  app.post(ADDRESS, { preHandler: countForm }, async (request, reply) => {
    const visit = visitOf(request);
    const { id, profile } = visit.account;
    const form = formOf(request);
    // An empty field has a value: it clears what is stored.
    const get = (name: string) => form.get(name) ?? (form.has(name) ? '' : undefined);
    const read = readProfileForm(get, profile, clock());
    if (read.kind === 'problems') {
      const texts = read.problems.map(({ name, kind }) => [name, messages.profile.bad[kind]] as const);
      const typed = Object.fromEntries(form.names.map((name) => [name, get(name) ?? ''] as const));
      return show(reply, 400, visit, { problems: { fields: Object.fromEntries(texts), general: [] }, typed });
    }
    const account = await updateAccount(
      { ...servicesIn(services, visit), operator: undefined },
      id,
      read.change,
      visit.origin,
    );
    return show(reply, 200, { ...visit, account }, { done: messages.profile.saved });
  });
}

/** The languages to choose from. A stored one that is not here is offered as well. */
const LANGUAGES = [
  ...['ar', 'bg', 'bn', 'ca', 'cs', 'da', 'de', 'el', 'en', 'en-GB', 'en-US', 'es', 'et', 'fa', 'fi', 'fr', 'he', 'hi'],
  ...['hr', 'hu', 'id', 'it', 'ja', 'ko', 'lt', 'lv', 'ms', 'nb', 'nl', 'pl', 'pt', 'pt-BR', 'ro', 'ru', 'sk', 'sl'],
  ...['sr', 'sv', 'sw', 'th', 'tr', 'uk', 'ur', 'vi', 'zh', 'zh-TW'],
];

/** The name of a language in that language, for people who cannot read this page. */
const ownName = (code: string): string => new Intl.DisplayNames([code], { type: 'language' }).of(code) ?? code;

const textOf = ({ fields }: ProfileState, name: string): string => fields.get(name) ?? '';

interface InputKind {
  readonly type?: 'text' | 'url' | 'tel' | 'date';
  readonly autocomplete: string;
  readonly hint?: string;
  readonly required?: boolean;
}

function input(state: ProfileState, name: string, label: string, kind: InputKind): Html {
  const { type = 'text', required = false, ...rest } = kind;
  return field({ name, label, type, required, value: textOf(state, name), problems: state.problems, ...rest });
}

/** The values that are set, in a line. */
function storedValues({ messages }: Site, { account }: ProfileState, scope: 'phone' | 'details'): HtmlPart {
  const set = scopeValues(scope, account.profile, undefined, {}, messages).flatMap(({ value }) => value ?? []);
  return set.length === 0 ? messages.person.notSet : set.map((value, index) => html`${index > 0 && ' · '}${value}`);
}

/** Fields that are saved together. */
function profileForm({ messages, path }: Site, { token, keptFor }: ProfileState, name: string, inputs: Html): Html {
  const { profile: text } = messages;
  return html`<form method="post" action="${path(ADDRESS)}" novalidate>${hidden(token, keptFor(ADDRESS))}
${inputs}
<div><button class="primary" type="submit" aria-label="${text.saveOf(name)}">${text.save}</button></div></form>`;
}
