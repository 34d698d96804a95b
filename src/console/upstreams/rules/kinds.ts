import type { PresetName } from '../../../upstreams/rules/presets.ts';
import type { Upstream } from '../../../upstreams/store.ts';

/** What is asked of a new provider beside its name, its client ID and who may create an account with it. */
const KIND_FIELDS = ['at', 'issuer', 'clientSecret', 'teamId', 'keyId', 'privateKey', 'secretEnds'] as const;
export type KindField = (typeof KIND_FIELDS)[number];

interface Kind {
  readonly preset: PresetName | undefined;
  readonly fields: readonly KindField[];
  /** The fields that may be empty. */
  readonly optional: readonly KindField[];
  /** What the name in its addresses is proposed to be. */
  readonly name: string;
}

const SECRET = ['clientSecret', 'secretEnds'] as const;

/** The kinds of providers that an operator chooses from, each with the fields that it needs. */
const PROVIDER_KINDS = {
  google: { preset: 'google', fields: SECRET, optional: ['secretEnds'], name: 'google' },
  entra: { preset: 'entra', fields: ['at', ...SECRET], optional: ['secretEnds'], name: 'microsoft' },
  okta: { preset: 'okta', fields: ['at', ...SECRET], optional: SECRET, name: 'okta' },
  keycloak: { preset: 'keycloak', fields: ['at', ...SECRET], optional: SECRET, name: 'keycloak' },
  tessera: { preset: 'tessera', fields: ['at', ...SECRET], optional: SECRET, name: 'tessera' },
  github: { preset: 'github', fields: ['at', ...SECRET], optional: ['at', 'secretEnds'], name: 'github' },
  apple: { preset: 'apple', fields: ['teamId', 'keyId', 'privateKey'], optional: [], name: 'apple' },
  oidc: { preset: undefined, fields: ['issuer', ...SECRET], optional: SECRET, name: 'staff' },
} as const satisfies Readonly<Record<string, Kind>>;
export type ProviderKind = keyof typeof PROVIDER_KINDS;

export const providerKinds = Object.keys(PROVIDER_KINDS) as readonly ProviderKind[];

export const isProviderKind = (text: string): text is ProviderKind => Object.hasOwn(PROVIDER_KINDS, text);

export const needsOf = (name: ProviderKind): Kind => PROVIDER_KINDS[name];

interface Typed {
  get(name: string): string | undefined;
}

const textIn = (typed: Typed, name: string): string => (typed.get(name) ?? '').trim();

/** The entries of a list that was typed, between spaces, commas or lines. */
export const entriesOf = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter((entry) => entry !== ''))];

/** The fields of a request, which is checked when it is made. */
type Fields = Readonly<Record<string, unknown>>;

const endOf = (day: string): string => `${day}T00:00:00Z`;

/** The secret that was typed for the first time, or in place of an earlier one. A day is the one at whose beginning it ends. */
export function secretOf(isKey: boolean, typed: Typed): Fields {
  if (isKey) {
    return { privateKey: textIn(typed, 'privateKey'), teamId: textIn(typed, 'teamId'), keyId: textIn(typed, 'keyId') };
  }
  const day = textIn(typed, 'secretEnds');
  return { clientSecret: textIn(typed, 'clientSecret'), ...(day !== '' && { secretExpiresAt: endOf(day) }) };
}

/** The registration of a provider of a kind; for all that is not asked, the defaults of the admin API hold. */
export function providerRegistration(name: ProviderKind, typed: Typed): Fields {
  const { preset, fields, optional } = needsOf(name);
  const isPublic = optional.includes('clientSecret') && textIn(typed, 'clientSecret') === '';
  const displayName = textIn(typed, 'displayName');
  const place = textIn(typed, 'at');
  return {
    ...{ name: textIn(typed, 'name'), clientId: textIn(typed, 'clientId'), signUp: textIn(typed, 'signUp') },
    ...(preset !== undefined && { preset }),
    ...(fields.includes('at') && place !== '' && { at: place }),
    ...(fields.includes('issuer') && { issuer: textIn(typed, 'issuer') }),
    ...(displayName !== '' && { displayName }),
    ...(!isPublic && secretOf(fields.includes('privateKey'), typed)),
    signUpDomains: entriesOf(textIn(typed, 'signUpDomains')),
  };
}

/** What of a registration is changed on its page, as a form shows it. */
export const CHANGED = [
  'displayName',
  'clientId',
  'scopes',
  'signUp',
  'signUpDomains',
  'mapName',
  'mapLanguage',
  'mapPicture',
  'mapGroups',
  'position',
] as const;
export type ChangedField = (typeof CHANGED)[number];

type Shown = Readonly<Record<ChangedField, string>>;

type Changeable = Pick<
  Upstream,
  'displayName' | 'clientId' | 'scopes' | 'signUp' | 'signUpDomains' | 'claimsMap' | 'position'
>;

/** A registration as its form shows it. */
export const shownOf = (upstream: Changeable): Shown => ({
  displayName: upstream.displayName,
  clientId: upstream.clientId,
  scopes: upstream.scopes.join(' '),
  signUp: upstream.signUp,
  signUpDomains: upstream.signUpDomains.join('\n'),
  mapName: upstream.claimsMap.name ?? '',
  mapLanguage: upstream.claimsMap.language ?? '',
  mapPicture: upstream.claimsMap.picture ?? '',
  mapGroups: upstream.claimsMap.groups ?? '',
  position: String(upstream.position),
});

/** What was typed differently from what is stored. */
export function upstreamChange(upstream: Changeable, typed: Typed): Fields {
  const before = shownOf(upstream);
  const text = (name: ChangedField): string => textIn(typed, name);
  const isChanged = (...names: readonly ChangedField[]): boolean => names.some((name) => text(name) !== before[name]);
  // Between entries there may be other spaces than the form shows; a pointer has them in itself.
  const isListChanged = (name: 'scopes' | 'signUpDomains'): boolean =>
    entriesOf(text(name)).join(' ') !== entriesOf(before[name]).join(' ');
  const pointers = {
    ...{ name: text('mapName'), language: text('mapLanguage') },
    ...{ picture: text('mapPicture'), groups: text('mapGroups') },
  };
  const claimsMap = Object.fromEntries(Object.entries(pointers).filter(([, pointer]) => pointer !== ''));
  return {
    ...(isChanged('displayName') && { displayName: text('displayName') }),
    ...(isChanged('clientId') && { clientId: text('clientId') }),
    ...(isListChanged('scopes') && { scopes: entriesOf(text('scopes')) }),
    ...(isChanged('signUp') && { signUp: text('signUp') }),
    ...(isListChanged('signUpDomains') && { signUpDomains: entriesOf(text('signUpDomains')) }),
    ...(isChanged('mapName', 'mapLanguage', 'mapPicture', 'mapGroups') && { claimsMap }),
    ...(isChanged('position') && { position: text('position') === '' ? 0 : Number(text('position')) }),
  };
}
