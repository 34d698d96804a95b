import { COLORS } from '../../accounts/rules/profile.ts';
import { area, choice, doneNotice, field, hidden, type Problems, problemSummary, swatches } from '../kit/components.ts';
import { type Html, html } from '../kit/html.ts';
import type { Page, Site } from '../kit/layout.ts';
import { type Frame, framed } from './frame.ts';
import { linkField, MOST_LINKS } from './rules/profile-form.ts';

/** Languages to choose from; whoever has another one on record keeps it. */
const LANGUAGES = [
  ...['ar', 'bg', 'bn', 'ca', 'cs', 'da', 'de', 'el', 'en', 'en-GB', 'en-US', 'es', 'et', 'fa', 'fi', 'fr', 'he', 'hi'],
  ...['hr', 'hu', 'id', 'it', 'ja', 'ko', 'lt', 'lv', 'ms', 'nb', 'nl', 'pl', 'pt', 'pt-BR', 'ro', 'ru', 'sk', 'sl'],
  ...['sr', 'sv', 'sw', 'th', 'tr', 'uk', 'ur', 'vi', 'zh', 'zh-TW'],
];

/** A language in its own words: whoever cannot read this page finds theirs all the same. */
const ownName = (code: string): string => new Intl.DisplayNames([code], { type: 'language' }).of(code) ?? code;

/** How many empty rows stand below the links that there are. */
const SPARE_LINKS = 2;

interface ProfilePage extends Frame {
  /** What stands in the fields: what is on record, or what was sent and could not be taken. */
  readonly fields: ReadonlyMap<string, string>;
  readonly problems: Problems;
  readonly done: string | undefined;
}

/** The form in which people set what apps may learn of them. */
export function profilePage(site: Site, page: ProfilePage): Page {
  const { messages, path } = site;
  const { account, token, fields, problems, done } = page;
  const { profile: text, person, signUp } = messages;
  const value = (name: string): string => fields.get(name) ?? '';
  const input = (
    name: string,
    label: string,
    more: { type?: 'text' | 'url' | 'tel' | 'date'; autocomplete: string; hint?: string; required?: boolean },
  ) => {
    const { type = 'text', required = false, ...rest } = more;
    return field({ name, label, type, required, value: value(name), problems, ...rest });
  };
  const { language, avatarColor } = account.profile;
  const colors = COLORS.some((color) => color === avatarColor) ? COLORS : [...COLORS, avatarColor];
  const codes = LANGUAGES.includes(language) ? LANGUAGES : [language, ...LANGUAGES];
  const kept = Array.from({ length: MOST_LINKS }, (_, index) => index).filter(
    (index) => value(linkField('label', index)) !== '' || value(linkField('url', index)) !== '',
  );
  const rows = Math.min(MOST_LINKS, (kept.at(-1) ?? -1) + 1 + SPARE_LINKS);
  /** A few fields that are saved by themselves. */
  const section = (name: string, lead: string, inputs: Html) =>
    html`<section class="card"><header><h2>${name}</h2><p class="muted small">${lead}</p></header>
<form method="post" action="${path('/account/profile')}" novalidate>${hidden(token)}
${inputs}
<div><button class="primary" type="submit" aria-label="${text.saveOf(name)}">${text.save}</button></div></form></section>`;
  return framed(
    site,
    page,
    'profile',
    text.title,
    html`<header><h1>${text.title}</h1><p class="muted">${text.lead}</p></header>
${done !== undefined && doneNotice(html`<p>${done}</p>`)}
${problemSummary(messages, problems)}
${section(
  text.always,
  text.alwaysLead,
  html`${input('displayName', person.name, { autocomplete: 'name', hint: signUp.displayNameHint, required: true })}
${area({ name: 'about', label: person.about, hint: text.aboutHint, rows: 4, value: value('about'), problems })}
${choice({ name: 'language', label: person.language, value: value('language'), problems, autocomplete: 'language', options: codes.map((code) => [code, ownName(code), code]) })}
${choice({
  name: 'theme',
  label: person.theme,
  value: value('theme'),
  problems,
  options: [['', text.noTheme], ...Object.entries(person.themes)],
})}
${swatches({ name: 'avatarColor', label: text.color, hint: text.colorHint, value: value('avatarColor'), colors, names: text.colors })}`,
)}
${section(
  text.ifAllowed,
  text.ifAllowedLead,
  html`${input('website', person.website, { type: 'url', autocomplete: 'url', hint: text.websiteHint })}
${input('location', person.location, { autocomplete: 'off' })}
${input('birthDate', person.birthDate, { type: 'date', autocomplete: 'bday' })}
${input('phone', person.phone, { type: 'tel', autocomplete: 'tel', hint: text.phoneHint })}`,
)}
${section(
  person.social,
  text.linksLead,
  html`${Array.from(
    { length: rows },
    (_, index) => html`<fieldset class="link-row"><legend>${text.link(index + 1)}</legend>
${input(linkField('label', index), text.linkLabel, { autocomplete: 'off' })}
${input(linkField('url', index), text.linkUrl, { type: 'url', autocomplete: 'off' })}</fieldset>`,
  )}`,
)}`,
  );
}
