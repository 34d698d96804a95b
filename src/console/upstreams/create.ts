import { createUpstream } from '../../account-actions/upstreams/upstreams.ts';
import { copyable, field, isolate, type Problems, selectField, textArea } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import { notFound } from '../../platform/failure.ts';
import { validate } from '../../platform/validation/validate.ts';
import { CreateUpstreamRequest } from '../../upstreams/schema.ts';
import { SIGN_UP_MODES } from '../../upstreams/store.ts';
import { redirectUriOf } from '../../upstreams/view.ts';
import { defineAct, type Given } from '../act.ts';
import type { ConsoleVisit } from '../visit.ts';
import { NEW_UPSTREAM, upstreamActPath, upstreamAddress } from './addresses.ts';
import { problemOf, secretFields, type Texts, textsOf } from './fields.ts';
import { addressesToRegister } from './page.ts';
import { isProviderKind, type KindField, needsOf, type ProviderKind, providerRegistration } from './rules/kinds.ts';

/** Who may create an account with a provider. */
export function signUpFields(text: Texts, value: (name: string) => string, problems: Problems): Html {
  const options = SIGN_UP_MODES.map((mode) => [mode, text.signUps[mode]] as const);
  return html`${selectField({ name: 'signUp', label: text.create.signUp, value: value('signUp'), problems, options })}${textArea(
    {
      ...{ name: 'signUpDomains', label: text.create.signUpDomains, hint: text.create.signUpDomainsHint },
      ...{ rows: 2, value: value('signUpDomains'), problems },
    },
  )}`;
}

function createFields(visit: ConsoleVisit, kind: ProviderKind, given: Given, problems: Problems): Html {
  const text = textsOf(visit);
  const { create: words } = text;
  const { fields, optional, name } = needsOf(kind);
  const asks = (one: KindField): boolean => fields.includes(one);
  const value = (of: string, initial = ''): string => given.get(of) ?? initial;
  const input = (of: string, label: string, hint: string, required = true, initial = '') =>
    field({
      ...{ name: of, label, hint, required, problems, type: 'text', autocomplete: 'off' },
      value: value(of, initial),
    });
  const [place = '', placeHint = ''] = words.at[kind] ?? [];
  return html`${input('name', words.name, words.nameHint, true, name)}
${asks('at') && input('at', place, placeHint, !optional.includes('at'))}
${asks('issuer') && input('issuer', words.issuer, words.issuerHint)}
${input('clientId', words.clientId, words.clientIdHint)}
${secretFields(visit, { isKey: asks('privateKey'), isOptional: optional.includes('clientSecret') }, given, problems)}
${signUpFields(text, (of) => value(of, of === 'signUp' ? 'nobody' : ''), problems)}
${input('displayName', words.displayName, words.displayNameHint, false)}`;
}

/** Adds a provider of a kind, which its page has chosen. */
export const create = defineAct<ProviderKind>({
  ...{ address: upstreamActPath('create'), section: 'upstreams', permission: 'upstreams.manage' },
  ...{ objects: {}, isDangerous: false },
  async find(visit, given) {
    const kind = given.get('provider') ?? '';
    if (!isProviderKind(kind)) throw notFound(textsOf(visit).create.unknownKind);
    return kind;
  },
  ask(visit, kind, given, problems) {
    const { create: words, choose, copy, redirectUri } = textsOf(visit);
    const { site, issuer } = visit.services;
    const uri = redirectUriOf(issuer, { name: needsOf(kind).name });
    const [label = ''] = choose.kinds[kind];
    return {
      ...{ title: words.title(label), lead: words.lead(copyable(uri, site.messages.error, copy(redirectUri))) },
      fields: html`${createFields(visit, kind, given, problems)}<p class="small"><a href="${site.path(NEW_UPSTREAM)}">${words.otherKind}</a></p>`,
      ...{ submit: words.submit, about: { provider: kind }, back: '/console/upstreams' },
    };
  },
  async run(visit, kind, given) {
    const { create: words } = textsOf(visit);
    const { site, issuer } = visit.services;
    const asked = validate(CreateUpstreamRequest, providerRegistration(kind, given));
    const upstream = await createUpstream(visit.services, asked, visit.origin);
    const name = isolate(upstream.displayName);
    return {
      ...{ title: words.done(name), now: words.now, more: addressesToRegister(site, upstream, issuer) },
      ...{ back: upstreamAddress(upstream.id), backTo: site.messages.operators.back(name) },
    };
  },
  problemOf: (visit, failure, kind) => problemOf(visit, failure, kind),
});
