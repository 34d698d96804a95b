import { Id, Instant } from '../platform/http/operation.ts';
import { requestBody } from '../platform/validation/fields.ts';
import * as Type from '../platform/validation/type.ts';
import { MAPPED_FIELDS, type MappedField, POINTER } from './rules/claims-map.ts';
import { PRESET_NAMES, type PresetName, UPSTREAM_KINDS, type UpstreamKindName } from './rules/presets.ts';
import { PREVIEW_OUTCOMES, type PreviewOutcome } from './rules/preview-outcome.ts';
import { PROBE_LEVELS, PROBE_STEPS, type ProbeStep } from './rules/probe-step.ts';
import { SIGN_UP_MODES, type UpstreamSignUp } from './store.ts';

const name = Type.String({
  pattern: '^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])$',
  about: 'Unique. It is in the redirect URI, and cannot be changed.',
  description: '2 to 32 of the characters a-z, 0-9 and "-", beginning and ending with a letter or digit',
});
const displayName = Type.String({
  minLength: 1,
  maxLength: 40,
  format: 'single-line',
  about: 'Name on the button: “Continue with …”. Default: the name.',
  description: '1 to 40 characters on one line, at least one of them visible, without spaces around them',
});
const kind = Type.Unsafe<UpstreamKindName>({
  enum: UPSTREAM_KINDS,
  about:
    'An OpenID Provider with discovery (`oidc`), `github` or `apple`. It cannot be changed. Default: that of the preset, or `oidc`.',
  description: `one of ${UPSTREAM_KINDS.join(', ')}`,
});
const preset = Type.Unsafe<PresetName>({
  enum: PRESET_NAMES,
  about: 'A well-known provider: kind, issuer, name and scopes have its values where they are not given.',
  description: `one of ${PRESET_NAMES.join(', ')}`,
});
const at = Type.String({
  minLength: 1,
  maxLength: 255,
  format: 'single-line',
  about:
    'Where the provider of the preset is: the tenant of Microsoft Entra, the domain of Okta, the URL of the realm of Keycloak, the base URL of another Tessera or of a GitHub Enterprise.',
  description: '1 to 255 characters on one line',
});
const issuer = Type.String({
  maxLength: 255,
  about:
    'Issuer of the OpenID Provider, or base URL of GitHub. It cannot be changed: people are known by it. Default: that of the preset.',
  description: 'an https URL without query and fragment',
});
const clientId = Type.String({
  minLength: 1,
  maxLength: 255,
  format: 'single-line',
  about: 'Client ID that the provider gave this server.',
  description: '1 to 255 characters on one line',
});
const clientSecret = Type.Union([Type.String({ minLength: 1, maxLength: 512, format: 'single-line' }), Type.Null()], {
  about: 'Client secret of that; null for a public client. It is stored encrypted and never shown.',
  description: '1 to 512 characters on one line, or null',
});
const privateKey = Type.String({
  minLength: 1,
  maxLength: 1000,
  about:
    'With `apple`, instead of a client secret: the content of the `.p8` file. It is stored encrypted and never shown.',
  description: 'the private key of an EC key on the curve P-256, in PEM',
});
const teamId = Type.String({
  pattern: '^[A-Za-z0-9]{1,20}$',
  about: 'With `apple`: the ID of the team.',
  description: '1 to 20 letters and digits',
});
const keyId = Type.String({
  pattern: '^[A-Za-z0-9]{1,20}$',
  about: 'With `apple`: the ID of the private key.',
  description: '1 to 20 letters and digits',
});
const secretExpiresAt = Type.Union([Type.String({ format: 'instant', maxLength: 40 }), Type.Null()], {
  about: 'When the client secret ends, as the provider says: `tessera doctor` reminds of it. Null where it does not.',
  description: 'a date and time such as 2027-01-31T00:00:00Z, or null',
});
const scopes = Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,100}$' }), {
  maxItems: 20,
  about:
    'Scopes to request. Default: openid, profile and email; with an OpenID Provider, `openid` is always among them.',
  description: 'a list of at most 20 scopes',
});
const signUp = Type.Unsafe<UpstreamSignUp>({
  enum: SIGN_UP_MODES,
  about:
    'Who may create an account with it: nobody, people with an opened invitation (`invited`), people with an address of `signUpDomains` or `domains` (`domains`), or anyone. An address is proved here, by mail, unless the provider is authoritative for it: what it says otherwise is only a proposal. Default: nobody.',
  description: `one of ${SIGN_UP_MODES.join(', ')}`,
});
const signUpDomains = Type.Array(Type.String({ maxLength: 255 }), {
  maxItems: 100,
  about: 'With `domains`: the domains of the email addresses. Subdomains are not included.',
  description: 'a list of at most 100 domain names',
});
const domains = Type.Array(Type.String({ maxLength: 255 }), {
  maxItems: 100,
  about:
    'The domains of email addresses for which the provider is authoritative: exact, each at one provider, never one of public mail. What it verified of these is believed. The sign-in page leads their people to it.',
  description: 'a list of at most 100 domain names',
});
const pointer = Type.String({
  pattern: POINTER,
  about: 'A JSON pointer (RFC 6901) into the claims, such as `/name` or `/realm_access/roles`.',
  description: 'a JSON pointer such as /name',
});
const mapped = {
  name: Type.Optional(pointer),
  language: Type.Optional(pointer),
  picture: Type.Optional(pointer),
  groups: Type.Optional(pointer),
};
const claimsMap = Type.Object(mapped, {
  additionalProperties: false,
  about:
    'Which claims are written into the account: its display name, its language, its picture, and its memberships in the groups that this provider maintains (`source`). Nothing else is ever written. A picture is fetched from the URL that the claim is, and converted as one that is uploaded; one that the person or an operator has set is never replaced. It happens at each sign-in of a person who is connected, not when they create the account or connect the provider. A token without the claim for groups names none, unless it says that they are to be asked for elsewhere (`_claim_names`, `hasgroups`).',
  description: 'an object with JSON pointers for name, language, picture and groups',
});
const position = Type.Integer({
  minimum: 0,
  maximum: 1000,
  about: 'The buttons are in this order, and those with the same number by age. Default: 0.',
  description: 'a whole number from 0 to 1000',
});

export const CreateUpstreamRequest = requestBody('CreateUpstreamRequest', {
  name,
  clientId,
  preset: Type.Optional(preset),
  at: Type.Optional(at),
  kind: Type.Optional(kind),
  issuer: Type.Optional(issuer),
  displayName: Type.Optional(displayName),
  clientSecret: Type.Optional(clientSecret),
  privateKey: Type.Optional(privateKey),
  teamId: Type.Optional(teamId),
  keyId: Type.Optional(keyId),
  secretExpiresAt: Type.Optional(secretExpiresAt),
  scopes: Type.Optional(scopes),
  signUp: Type.Optional(signUp),
  signUpDomains: Type.Optional(signUpDomains),
  domains: Type.Optional(domains),
  claimsMap: Type.Optional(claimsMap),
  position: Type.Optional(position),
});
export type CreateUpstreamRequest = Type.Static<typeof CreateUpstreamRequest>;

export const UpdateUpstreamRequest = requestBody('UpdateUpstreamRequest', {
  displayName: Type.Optional(displayName),
  clientId: Type.Optional(clientId),
  clientSecret: Type.Optional(clientSecret),
  privateKey: Type.Optional(privateKey),
  teamId: Type.Optional(teamId),
  keyId: Type.Optional(keyId),
  secretExpiresAt: Type.Optional(secretExpiresAt),
  scopes: Type.Optional(scopes),
  signUp: Type.Optional(signUp),
  signUpDomains: Type.Optional(signUpDomains),
  domains: Type.Optional(domains),
  claimsMap: Type.Optional(claimsMap),
  position: Type.Optional(position),
});
export type UpdateUpstreamRequest = Type.Static<typeof UpdateUpstreamRequest>;

export const DisableUpstreamRequest = requestBody('DisableUpstreamRequest', {
  endSessions: Type.Optional(
    Type.Boolean({
      about:
        'Whether everything ends that people were signed in to through it: their sessions, and the codes and tokens of these. Default: false.',
      description: 'true or false',
    }),
  ),
});

export const OnlyUpstreamRequest = requestBody('OnlyUpstreamRequest', {
  upstreamId: Type.Union([Type.String({ format: 'id' }), Type.Null()], {
    about: 'The provider; null to let members sign in as they like.',
    description: 'an ID, or null',
  }),
  endSessions: Type.Optional(
    Type.Boolean({
      about:
        'Whether everything ends that members, apart from owners, got in a sign-in that did not come through it: sessions, codes and tokens, with `offline_access` too. Default: false.',
      description: 'true or false',
    }),
  ),
});
export type OnlyUpstreamRequest = Type.Static<typeof OnlyUpstreamRequest>;

/** Through which provider alone the members of an organization use its apps. */
export const OnlyUpstreamRecord = Type.Object(
  { upstreamId: Type.Union([Id, Type.Null()], { about: 'Null where members sign in as they like.' }) },
  { title: 'OnlyUpstream' },
);

/** The same after a change. */
export const OnlyUpstreamChangeRecord = Type.Object(
  {
    upstreamId: Type.Union([Id, Type.Null()]),
    ended: Type.Object({
      users: Type.Integer({ about: 'How many people it was of.' }),
      sessions: Type.Integer(),
    }),
  },
  { title: 'OnlyUpstreamChange' },
);

/** An upstream in the admin API, as made by `upstreamView`. */
export const UpstreamRecord = Type.Object(
  {
    id: Id,
    name: Type.String(),
    displayName: Type.String(),
    kind: Type.String({ about: '`oidc`, `github` or `apple`.' }),
    issuer: Type.String(),
    clientId: Type.String(),
    hasClientSecret: Type.Boolean({ about: 'A client secret, or the private key at Apple.' }),
    teamId: Type.Union([Type.String(), Type.Null()]),
    keyId: Type.Union([Type.String(), Type.Null()]),
    secretExpiresAt: Type.Union([Instant, Type.Null()]),
    scopes: Type.Array(Type.String()),
    signUp: Type.String(),
    signUpDomains: Type.Array(Type.String()),
    domains: Type.Array(Type.String()),
    claimsMap,
    position: Type.Integer(),
    status: Type.String({ about: '`active` or `disabled`.' }),
    redirectUri: Type.String({ about: 'To register at the provider.' }),
    backchannelLogoutUri: Type.String({ about: 'To register at the provider, if it has back-channel logout.' }),
    createdAt: Instant,
    updatedAt: Instant,
  },
  { title: 'Upstream' },
);

/** An identity of a person, as made by `identityView`. */
export const IdentityRecord = Type.Object(
  {
    id: Type.String(),
    upstreamId: Id,
    displayName: Type.String({ about: 'Of the provider: “Continue with …”.' }),
    issuer: Type.String(),
    subject: Type.String({ about: 'The ID of the person there.' }),
    isActive: Type.Boolean({ about: 'Whether the provider is enabled.' }),
    createdAt: Instant,
    lastUsedAt: Type.Union([Instant, Type.Null()]),
  },
  { title: 'Identity' },
);

/** What the removal of an identity came to. */
export const RemovedIdentityRecord = Type.Object(
  {
    removed: Type.Boolean({ about: 'Whether there was such an identity.' }),
    ended: Type.Object({ sessions: Type.Integer({ about: 'How many browsers were signed in to the account.' }) }),
  },
  { title: 'RemovedIdentity' },
);

/** What the end of the sessions through an upstream came to. */
export const DisabledUpstreamRecord = Type.Object(
  {
    upstream: UpstreamRecord,
    ended: Type.Object({
      users: Type.Integer({ about: 'How many people it was of.' }),
      sessions: Type.Integer(),
    }),
  },
  { title: 'DisabledUpstream' },
);

export const PreviewClaimsRequest = requestBody('PreviewClaimsRequest', {
  token: Type.String({
    minLength: 2,
    maxLength: 32_768,
    about: 'An ID token, whose signature is not verified, or the JSON object of its claims.',
    description: 'a JWT, or a JSON object as text',
  }),
});

const names = Type.Array(Type.String());
/** What a token of an upstream would do. */
export const ClaimsPreviewRecord = Type.Object(
  {
    outcome: Type.Unsafe<PreviewOutcome>({
      enum: PREVIEW_OUTCOMES,
      about:
        'Whether the person is signed in, is asked to `connect` the account that has their address, may `create` an account, or is refused. The rest is what the sign-in writes, or the next one after connecting or creating.',
    }),
    reason: Type.Union([Type.String(), Type.Null()], { about: 'Null where the person is signed in.' }),
    accountId: Type.Union([Id, Type.Null()], { about: 'Null where nobody has connected this identity.' }),
    displayName: Type.Union([Type.String(), Type.Null()], { about: 'Null where it is left as it is.' }),
    language: Type.Union([Type.String(), Type.Null()], { about: 'Null where it is left as it is.' }),
    picture: Type.Union([Type.String(), Type.Null()], {
      about: 'The URL from which a picture would be fetched; null where it is left as it is.',
    }),
    unchanged: Type.Array(
      Type.Object({ field: Type.Unsafe<MappedField>({ enum: MAPPED_FIELDS }), reason: Type.String() }),
      { about: 'Why a field that the map names is left as it is.' },
    ),
    joins: names,
    leaves: names,
    closedGroups: Type.Array(Type.String(), { about: 'Groups of an organization in which the person is no member.' }),
    unknownGroups: names,
    groupsLeft: Type.Union([Type.String(), Type.Null()], {
      about: 'Why memberships are left as they are: the token does not say which they are.',
    }),
  },
  { title: 'ClaimsPreview' },
);

/** What a test of an upstream found. */
export const UpstreamTestRecord = Type.Object(
  {
    steps: Type.Array(
      Type.Object({
        step: Type.Unsafe<ProbeStep['step']>({ enum: PROBE_STEPS }),
        level: Type.Unsafe<ProbeStep['level']>({ enum: PROBE_LEVELS }),
        found: Type.String(),
      }),
    ),
  },
  { title: 'UpstreamTest' },
);
