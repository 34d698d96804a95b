import type { FastifyInstance, FastifyReply } from 'fastify';
import { updateAccount } from '../../account-actions/addresses/update-account.ts';
import { COLORS } from '../../accounts/rules/profile.ts';
import {
  doneNotice,
  field,
  hidden,
  NO_PROBLEMS,
  type Problems,
  problemSummary,
  selectField,
  swatches,
  textArea,
} from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import { type Page, type Site, sendPage } from '../../pages/layout.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { takeDraft } from '../sign-in/draft.ts';
import type { PageServices } from '../sign-in/routes.ts';
import { type AccountFrame, accountLayout } from './layout.ts';
import { linkField, MAX_LINKS, profileFields, readProfileForm } from './rules/profile-form.ts';
import { type AccountHooks, type AccountVisit, frameOf, servicesIn, visitOf } from './visit.ts';

const ADDRESS = '/account/profile';

/** The form in which people change what apps may learn about them. */
export function profileRoutes(app: FastifyInstance, services: PageServices, { countForm }: AccountHooks): void {
  const { site, clock } = services;
  const { messages } = site;

  function show(
    reply: FastifyReply,
    status: number,
    visit: AccountVisit,
    fields: ReadonlyMap<string, string>,
    problems: Problems,
    done?: string,
  ): FastifyReply {
    return sendPage(reply, status, site, profilePage(site, { ...frameOf(visit), fields, problems, done }));
  }

  app.get(ADDRESS, async (request, reply) => {
    const visit = visitOf(request);
    const { id, profile } = visit.account;
    const draft = takeDraft(services, request, reply, id);
    const fields = new Map([...profileFields(profile), ...Object.entries(draft ?? {})]);
    return show(reply, 200, visit, fields, NO_PROBLEMS, draft && messages.account.draftBack);
  });

  app.post(ADDRESS, { preHandler: countForm }, async (request, reply) => {
    const visit = visitOf(request);
    const { id, profile } = visit.account;
    const form = formOf(request);
    // An empty field has a value: it clears what is stored.
    const get = (name: string) => form.get(name) ?? (form.has(name) ? '' : undefined);
    const sent = form.names.map((name) => [name, get(name) ?? ''] as const);
    const fields = new Map([...profileFields(profile), ...sent]);
    const read = readProfileForm(get, profile, clock());
    if (read.kind === 'problems') {
      const texts = read.problems.map(({ name, kind }) => [name, messages.profile.bad[kind]] as const);
      return show(reply, 400, visit, fields, { fields: Object.fromEntries(texts), general: [] });
    }
    const account = await updateAccount(servicesIn(services, visit), id, read.change, visit.origin);
    const saved = { ...visit, account };
    return show(reply, 200, saved, profileFields(account.profile), NO_PROBLEMS, messages.profile.saved);
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

/** The number of empty rows below the existing links. */
const SPARE_LINKS = 2;

interface ProfilePage extends AccountFrame {
  /** The values of the fields: as stored, or as sent where they are invalid. */
  readonly fields: ReadonlyMap<string, string>;
  readonly problems: Problems;
  readonly done: string | undefined;
}

function profilePage(site: Site, page: ProfilePage): Page {
  const { messages, path } = site;
  const { account, token, keptFor, fields, problems, done } = page;
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
  const kept = Array.from({ length: MAX_LINKS }, (_, index) => index).filter(
    (index) => value(linkField('label', index)) !== '' || value(linkField('url', index)) !== '',
  );
  const rows = Math.min(MAX_LINKS, (kept.at(-1) ?? -1) + 1 + SPARE_LINKS);
  /** Fields that are saved together. */
  const section = (name: string, lead: string, inputs: Html) =>
    html`<section class="card"><header><h2>${name}</h2><p class="muted small">${lead}</p></header>
<form method="post" action="${path(ADDRESS)}" novalidate>${hidden(token, keptFor(ADDRESS))}
${inputs}
<div><button class="primary" type="submit" aria-label="${text.saveOf(name)}">${text.save}</button></div></form></section>`;
  return accountLayout(
    site,
    page,
    'profile',
    text.edit,
    html`<header><h1>${text.edit}</h1><p class="muted">${text.lead}</p></header>
${done !== undefined && doneNotice(html`<p>${done}</p>`)}
${problemSummary(messages, problems)}
${section(
  text.always,
  text.alwaysLead,
  html`${input('displayName', person.name, { autocomplete: 'name', hint: signUp.displayNameHint, required: true })}
${textArea({ name: 'about', label: person.about, hint: text.aboutHint, rows: 4, value: value('about'), problems })}
${selectField({ name: 'language', label: person.language, value: value('language'), problems, autocomplete: 'language', options: codes.map((code) => [code, ownName(code), code]) })}
${selectField({
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
