import { field, fieldProblem, type Problems, passwordField, textArea } from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Messages } from '../../pages/messages.ts';
import type { Failure } from '../../platform/failure.ts';
import type { Given } from '../act.ts';
import type { ConsoleVisit } from '../visit.ts';
import type { ProviderKind } from './rules/kinds.ts';

export type Texts = Messages['operators']['upstreams'];

export const textsOf = ({ services }: ConsoleVisit): Texts => services.site.messages.operators.upstreams;

interface SecretAsked {
  /** Whether it is a private key. */
  readonly isKey: boolean;
  readonly isOptional: boolean;
}

/** The fields of a secret. What was typed into it is not shown again. */
export function secretFields(
  visit: ConsoleVisit,
  { isKey, isOptional }: SecretAsked,
  given: Given,
  problems: Problems,
): Html {
  const { create: words } = textsOf(visit);
  const input = (name: 'teamId' | 'keyId', label: string, hint: string) =>
    field({ ...{ name, label, hint, problems, type: 'text', autocomplete: 'off' }, value: given.get(name) ?? '' });
  if (isKey) {
    return html`${input('teamId', words.teamId, words.teamIdHint)}${input('keyId', words.keyId, words.keyIdHint)}${textArea(
      { name: 'privateKey', label: words.privateKey, hint: words.privateKeyHint, rows: 4, value: '', problems },
    )}`;
  }
  return html`${passwordField({
    ...{ name: 'clientSecret', label: words.clientSecret, autocomplete: 'off', required: !isOptional, problems },
    hint: isOptional ? words.clientSecretOptional : words.clientSecretHint,
    messages: visit.services.site.messages,
  })}${field({
    ...{ name: 'secretEnds', label: words.secretEnds, hint: words.secretEndsHint, required: false, problems },
    ...{ type: 'date', autocomplete: 'off', value: given.get('secretEnds') ?? '' },
  })}`;
}

/** The fields of the admin API that a problem may begin with, and those of the forms. */
const FIELDS = [
  ['name', 'name'],
  ['displayName', 'displayName'],
  ['clientId', 'clientId'],
  ['clientSecret', 'clientSecret'],
  ['secretExpiresAt', 'secretEnds'],
  ['teamId', 'teamId'],
  ['keyId', 'keyId'],
  ['privateKey', 'privateKey'],
  ['signUpDomains', 'signUpDomains'],
  ['signUp', 'signUp'],
  ['scopes', 'scopes'],
  ['position', 'position'],
] as const;

const POINTERS = [
  ['claimsMap.name', 'mapName'],
  ['claimsMap.language', 'mapLanguage'],
  ['claimsMap.picture', 'mapPicture'],
  ['claimsMap.groups', 'mapGroups'],
] as const;

/** At which field a refusal of the admin API is shown; undefined for above the form. */
export function problemOf(
  visit: ConsoleVisit,
  { kind, message }: Pick<Failure, 'kind' | 'message'>,
  provider?: ProviderKind,
): Problems | undefined {
  const { bad, create: words } = textsOf(visit);
  if (kind === 'conflict') {
    if (message.startsWith('name')) return fieldProblem('name', bad.nameTaken);
    const [domain = ''] = message.split(' is taken');
    return message.includes('authoritative') ? fieldProblem('domains', bad.domainTaken(domain)) : undefined;
  }
  if (message.startsWith('at ')) return fieldProblem('at', bad.at(words.at[provider ?? 'oidc']?.[1] ?? ''));
  if (message.startsWith('issuer must')) return fieldProblem('issuer', bad.must(message.slice('issuer must'.length)));
  if (message.startsWith('domains must'))
    return fieldProblem('domains', bad.must(message.slice('domains must'.length)));
  const pointer = POINTERS.find(([begin]) => message.startsWith(begin));
  if (pointer !== undefined) return fieldProblem(pointer[1], bad.pointer);
  const found = FIELDS.find(([begin]) => new RegExp(`^${begin}\\b`).test(message));
  return found && fieldProblem(found[1], bad[found[0]]);
}
