export const UPSTREAM_KINDS = ['oidc', 'github', 'apple'] as const;
export type UpstreamKindName = (typeof UPSTREAM_KINDS)[number];

export const PRESET_NAMES = ['google', 'entra', 'okta', 'keycloak', 'github', 'apple', 'tessera'] as const;
export type PresetName = (typeof PRESET_NAMES)[number];

interface Preset {
  readonly kind: UpstreamKindName;
  readonly displayName: string;
  readonly scopes: readonly string[];
  /** The issuer, by what the operator says of the place; undefined where something else must be said. */
  readonly issuerAt: (at: string | undefined) => string | undefined;
  /** What that is. */
  readonly place: string;
}

const OPENID = ['openid', 'profile', 'email'];

const withoutSlash = (at: string | undefined): string | undefined => at?.replace(/\/$/, '');

/** The id of a tenant of Microsoft Entra, or people of any tenant. */
const TENANT = /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|common|organizations)$/;
const HOST = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i;

/** What is known of well-known providers. */
export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  google: {
    ...{ kind: 'oidc', displayName: 'Google', scopes: OPENID, place: 'nothing: Google has one issuer' },
    issuerAt: (at) => (at === undefined ? 'https://accounts.google.com' : undefined),
  },
  entra: {
    ...{ kind: 'oidc', displayName: 'Microsoft', scopes: OPENID },
    place: 'the ID of a tenant, organizations for people of any, or common for personal accounts as well',
    issuerAt: (at) =>
      at !== undefined && TENANT.test(at) ? `https://login.microsoftonline.com/${at}/v2.0` : undefined,
  },
  okta: {
    ...{ kind: 'oidc', displayName: 'Okta', scopes: OPENID, place: 'the domain, such as example.okta.com' },
    issuerAt: (at) => (at !== undefined && HOST.test(at) ? `https://${at}` : undefined),
  },
  keycloak: {
    ...{ kind: 'oidc', displayName: 'Keycloak', scopes: OPENID },
    place: 'the URL of the realm, such as https://id.example.com/realms/staff',
    issuerAt: withoutSlash,
  },
  github: {
    ...{ kind: 'github', displayName: 'GitHub', scopes: ['read:user', 'user:email'] },
    place: 'the base URL of a GitHub Enterprise, or nothing for github.com',
    issuerAt: (at) => withoutSlash(at) ?? 'https://github.com',
  },
  apple: {
    ...{
      kind: 'apple',
      displayName: 'Apple',
      scopes: ['openid', 'name', 'email'],
      place: 'nothing: Apple has one issuer',
    },
    issuerAt: (at) => (at === undefined ? 'https://appleid.apple.com' : undefined),
  },
  tessera: {
    ...{ kind: 'oidc', displayName: 'Tessera', scopes: OPENID, place: 'the base URL of the other Tessera' },
    issuerAt: withoutSlash,
  },
};

/** The scopes that are requested of a kind where the operator names none. */
export const defaultScopesOf = (kind: UpstreamKindName): readonly string[] =>
  kind === 'oidc' ? OPENID : PRESETS[kind].scopes;
