import type { Profile } from '../src/accounts/fields.ts';
import { authenticationContext } from '../src/authenticators/rules/authentication-context.ts';
import { claimScopes } from '../src/claims/claims.ts';
import { standardClaims, userInfo } from '../src/claims/rules/userinfo.ts';
import { BASE_SCOPES, OPTIONAL_SCOPES, type OptionalScope, SCOPES } from '../src/claims/scopes.ts';
import { logoutClaims } from '../src/protocol/logout/rules/logout-token.ts';
import {
  accessClaims,
  clientClaims,
  idClaims,
  refreshClaims,
  type Subject,
} from '../src/protocol/token/rules/claims.ts';
import { en } from '../src/web/kit/messages.ts';

// A person who has set everything, so that every claim shows.
const profile: Profile = {
  username: 'ada',
  email: 'ada@example.com',
  emailVerified: true,
  displayName: 'Ada Lovelace',
  about: '',
  language: 'en',
  theme: null,
  website: 'https://ada.example.com',
  location: 'London',
  birthDate: '1815-12-10',
  phone: '+442071838750',
  socialLinks: [{ platform: 'github', url: 'https://github.com/ada', label: 'GitHub' }],
  avatarColor: '#5b2a86',
  picture: null,
};
const organization = { id: '3', name: 'engines', role: 'OWNER', domain: 'example.com' } as const;
const person = { id: '1', profile, organization, createdAt: 0, updatedAt: 0 };
const issuer = 'https://id.example.com';
const subject: Subject = {
  issuer,
  accountId: '1',
  clientId: '2',
  familyId: '4',
  profile,
  updatedAt: 0,
  picture: '',
  sid: 's',
  authTime: 0,
  ...authenticationContext(['pwd']),
};
const asked = { userinfo: ['website'], idToken: ['acr'] };
const idToken = (alg: 'HS256' | 'RS256', nonce: string | null, claims: typeof asked | null) =>
  idClaims(subject, { accessToken: '', nonce, alg, claims }, 0);

type Shape = Readonly<Record<string, unknown>>;

/** What each kind says in its fullest form, and in its barest. */
const kinds: Readonly<Record<string, { readonly full: Shape; readonly bare: Shape }>> = {
  Access: {
    full: accessClaims(subject, { scope: 'openid', claims: asked }, 'j', 0),
    bare: accessClaims(subject, { scope: 'openid', claims: null, resources: ['https://api.example.com'] }, 'j', 0),
  },
  Refresh: both(refreshClaims(subject, { jti: 'j', issuedAt: 0, expiresAt: 0 })),
  ID: { full: idToken('RS256', 'n', asked), bare: idToken('HS256', null, null) },
  'App’s own': both(clientClaims(issuer, '2', { jti: 'j', resources: [] }, 0)),
  Logout: {
    full: logoutClaims({ issuer, clientId: '2', accountId: '1', sid: 's' }, 'j', 0),
    bare: logoutClaims({ issuer, clientId: '2', accountId: '1', sid: null }, 'j', 0),
  },
};

function both(shape: Shape) {
  return { full: shape, bare: shape };
}

/** What the claims mean. The page cannot be made where one of the code is missing here, or one here is of no code. */
const meanings: Readonly<Record<string, string>> = {
  iss: 'The base URL.',
  aud: 'For whom the token is: [each kind has its own](tokens.md). A list where [several services](token-services.md) were named.',
  sub: 'The person’s id, a Snowflake as a decimal string, never used again. In an app’s own token the app’s id.',
  iat: 'When it was issued, as a Unix time in seconds.',
  exp: 'When it ends: it is dead in the second of `exp`.',
  jti: '128 random bits; in a refresh token behind the instant of its issue.',
  client_id: 'The app’s id.',
  scope: 'What was granted, separated by spaces.',
  email: 'The email address, whatever the scopes; not in a token that [another service](token-services.md) may read.',
  family: 'The chain of tokens that it belongs to; in an ID token under a key pair only.',
  claims: '[Single claims](authorization.md#single-claims) for `/oidc/userinfo`, where the request asked for some.',
  name: 'The display name.',
  preferred_username: 'The username.',
  email_verified: 'Whether the address is verified.',
  picture: 'The address of the picture.',
  avatarUrl: 'The same address.',
  nonce: 'From the authorization request; only in the token of the code exchange.',
  auth_time: 'When the person signed in; the same after every refresh.',
  sid: 'The browser session. In a logout token only where one session ended.',
  amr: 'How the person signed in: `["pwd"]`.',
  acr: 'The same as a class; only for [whom asked](authorization.md#single-claims).',
  at_hash: 'Binds the ID token to the access token beside it: half a SHA-256 of that, or of SHA-512 under EdDSA.',
  events: 'Says that it is a [logout token](../how-to/sign-out.md#to-your-app).',
};

const userInfoClaims: Readonly<Record<string, string>> = {
  sub: 'The person’s id.',
  name: 'The display name.',
  preferred_username: 'The username.',
  picture: 'The address of the picture.',
  locale: 'The preferred language.',
  updated_at: 'When the profile last changed, as a Unix time in seconds.',
  email: 'The email address.',
  email_verified: 'Whether it is verified.',
  website: 'The address of a website.',
  birthdate: '`YYYY-MM-DD`.',
  phone_number: 'In E.164 format.',
  phone_number_verified: 'Always `false`: numbers are not verified.',
};

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);
const code = (text: string): string => `\`${text}\``;

function checkMeanings(found: Iterable<string>, known: Readonly<Record<string, string>>): void {
  const names = new Set(found);
  const wrong = [...new Set(Object.keys(known)).symmetricDifference(names)];
  if (wrong.length > 0) throw new Error(`docs/claims-and-scopes.ts and the code do not agree on ${wrong.join(', ')}`);
}

const all = new Set<string>(OPTIONAL_SCOPES);
/** The scope that gives a standard claim at `/oidc/userinfo`. */
const scopeOf = (claim: string): string =>
  OPTIONAL_SCOPES.find((scope) => claim in standardClaims(person, new Set([scope]), issuer) && !(claim in base)) ??
  'openid';
const base = standardClaims(person, new Set(), issuer);

/** The claims of tokens and of the standard UserInfo, taken from the functions that make them. */
export function claims(note: string): string {
  const names = new Set(Object.values(kinds).flatMap(({ full }) => Object.keys(full)));
  checkMeanings(names, meanings);
  const rows = Object.entries(meanings).map(([name, meaning]) => {
    const cells = Object.values(kinds).map(({ full, bare }) => (name in bare ? '✓' : name in full ? 'some' : ''));
    const value = Object.values(kinds).find(({ full }) => name in full)?.full[name];
    return `| ${[code(name), typeOf(value), ...cells, meaning].join(' | ')} |`;
  });
  const standard = standardClaims(person, all, issuer);
  checkMeanings(Object.keys(standard), userInfoClaims);
  const userInfoRows = Object.entries(userInfoClaims).map(([name, meaning]) => {
    const single = claimScopes({ userinfo: [name], idToken: [] });
    return `| ${[code(name), typeOf(standard[name]), code(scopeOf(name)), single.length > 0 ? 'yes' : '', meaning].join(' | ')} |`;
  });
  return `${note}

# Claims

## In tokens

✓ stands in every token of the kind, “some” where the last column says.

| Claim | Type | ${Object.keys(kinds).join(' | ')} | Meaning |
|---|---|${'---|'.repeat(Object.keys(kinds).length)}---|
${rows.join('\n')}

Access and refresh tokens are for this service to read: treat them as opaque, their claims may grow. The
[kinds](tokens.md) differ in \`typ\`, audience and key. An app’s own token comes of
[\`client_credentials\`](token-services.md), a logout token of [signing out](../how-to/sign-out.md).

## At \`/oidc/userinfo\`

The address in the [discovery document](discovery.md) answers with standard claims (OpenID Connect Core 1.0 §5.1). What a person has
not set is absent.

| Claim | Type | Scope | [By itself](authorization.md#single-claims) | Meaning |
|---|---|---|---|---|
${userInfoRows.join('\n')}

\`/api/v2/oauth/userinfo\` answers the same person in the service’s own shape: [scopes](scopes.md) says which gives what. There
what is not set is \`null\`.
`;
}

/** What each scope gives, taken from what UserInfo answers with it and without it. */
export function scopes(note: string): string {
  const without = userInfo(person, new Set(), issuer);
  const given = (scope: string): readonly string[] => {
    const { user } = userInfo(person, new Set([scope]), issuer);
    return Object.keys(user).filter((name) => !(name in without.user));
  };
  const standard = (scope: string): readonly string[] =>
    Object.keys(standardClaims(person, new Set([scope]), issuer)).filter((name) => !(name in base));
  const list = (items: readonly string[]): string => items.map(code).join(', ');
  const baseFields = [
    ...Object.keys(without).filter((name) => name !== 'user'),
    ...Object.keys(without.user).map((name) => `user.${name}`),
  ];
  const ofBase: Readonly<Record<(typeof BASE_SCOPES)[number], readonly [string, string]>> = {
    openid: [list(baseFields), list(Object.keys(base))],
    profile: ['nothing more', 'nothing more'],
    offline_access: ['nothing: a refresh token is always issued', ''],
  };
  const ofOptional = (scope: OptionalScope) => [
    en.consent.scopes[scope].name,
    list(given(scope).map((name) => `user.${name}`)),
    list(standard(scope)),
  ];
  const rows = [
    ...BASE_SCOPES.map((scope) => [code(scope), 'always shared', ...ofBase[scope]]),
    ...OPTIONAL_SCOPES.map((scope) => [code(scope), ...ofOptional(scope)]),
  ];
  return `${note}

# Scopes

| Scope | On the consent page | \`/api/v2/oauth/userinfo\` | \`/oidc/userinfo\` |
|---|---|---|---|
${rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}

- **\`openid\`** is part of every grant, also where the request left it out; a request without \`scope\` asks for it alone.
- **The person decides** on each of ${list(OPTIONAL_SCOPES)} with a switch. Both answers are remembered: a request
  within them is answered without a page, and grants the granted part. What is new is asked about, and that alone. A public client
  with a loopback or private-use-scheme redirect URI is [asked about every time](../how-to/register-an-app.md#register-a-public-client).
- **What the person takes away** later, on a consent page, is taken at once from every token that the app has: UserInfo, refreshes and
  introspection leave it out. What is granted later is for new tokens alone.
- **What was granted** is the \`scope\` claim of the access token, always in the order of this table
  (${list(SCOPES)}); the token response repeats it where it is less than was asked for, or than was granted before.
- **Fields of a scope that was not granted are absent**, never \`null\`.
- **A scope that does not exist**, or that the app is not registered for, is \`invalid_scope\`.
- **A refresh** may ask for less, and never for more. Less holds for that access token only.
`;
}
