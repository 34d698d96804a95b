import type { Profile } from '../src/accounts/fields.ts';
import { authenticationContext } from '../src/authenticators/rules/authentication-context.ts';
import { ENDPOINT_RULES, type EndpointRules } from '../src/claims/endpoint-set.ts';
import { isOptional, SCOPES } from '../src/claims/permissions.ts';
import { standardClaims, userInfo } from '../src/claims/rules/userinfo.ts';
import { en } from '../src/pages/messages.ts';
import { logoutClaims } from '../src/protocol/logout/rules/logout-token.ts';
import {
  accessClaims,
  clientClaims,
  idClaims,
  refreshClaims,
  type Subject,
} from '../src/protocol/token/rules/claims.ts';

// A person with every field set, so that every claim appears.
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
const person = {
  ...{ id: '1', profile, organization, createdAt: 0, updatedAt: 0 },
  ...{ groups: ['analysts'], roles: ['viewer'] },
};
const issuer = 'https://id.example.com';
const subject: Subject = {
  issuer,
  accountId: '1',
  clientId: '2',
  metadataUrl: null,
  familyId: '4',
  profile,
  updatedAt: 0,
  picture: '',
  sid: 's',
  authTime: 0,
  member: { groups: ['analysts'], roles: ['viewer'] },
  claimNames: null,
  ...authenticationContext(['password']),
};
const asked = { userinfo: ['website'], idToken: ['acr'] };
const { v2, oidc } = ENDPOINT_RULES;
const scopesOf = (rules: EndpointRules): ReadonlySet<string> => new Set(rules.optionalScopes);
const idToken = (rules: EndpointRules, alg: 'HS256' | 'RS256', nonce: string | null, claims: typeof asked | null) => {
  const withGrantedClaims = rules === oidc && claims !== null;
  return idClaims(
    subject,
    { rules, scopes: scopesOf(rules), withGrantedClaims, accessToken: '', nonce, alg, claims, random: 'r' },
    0,
  );
};
const accessToken = (rules: EndpointRules) => ({
  full: accessClaims(subject, { rules, scope: 'openid', claims: asked }, 'j', 0),
  bare: accessClaims(
    { ...subject, acr: null },
    { rules, scope: 'openid', claims: null, resources: ['https://api.example.com'] },
    'j',
    0,
  ),
});

type Shape = Readonly<Record<string, unknown>>;

/** The claims of each kind of token: all possible ones, and those that are always present. */
const kinds: Readonly<Record<string, { readonly full: Shape; readonly bare: Shape }>> = {
  Access: accessToken(v2),
  'Access, `/oidc`': accessToken(oidc),
  Refresh: both(refreshClaims(subject, { jti: 'j', issuedAt: 0, expiresAt: 0 }, v2)),
  ID: { full: idToken(v2, 'RS256', 'n', asked), bare: idToken(v2, 'HS256', null, null) },
  'ID, `/oidc`': { full: idToken(oidc, 'RS256', 'n', asked), bare: idToken(oidc, 'HS256', null, null) },
  'App’s own': {
    full: clientClaims(issuer, '2', { jti: 'j', resources: [], scope: 's' }, 0),
    bare: clientClaims(issuer, '2', { jti: 'j', resources: [] }, 0),
  },
  Logout: {
    full: logoutClaims({ issuer, clientId: '2', accountId: '1', sid: 's' }, 'j', 0),
    bare: logoutClaims({ issuer, clientId: '2', accountId: '1', sid: null }, 'j', 0),
  },
};

function both(shape: Shape) {
  return { full: shape, bare: shape };
}

/** The meaning of each claim. Generating fails if this list and the claims in the code differ. */
const meanings: Readonly<Record<string, string>> = {
  iss: 'The base URL.',
  aud: 'The audience: [each kind of token has its own](tokens.md). A list if [several resources](token-services.md) were requested.',
  sub: 'The person’s id, a Snowflake as a decimal string, never reused. In an app’s own token, the app’s id.',
  iat: 'When it was issued, as a Unix time in seconds.',
  exp: 'When it expires, as a Unix time in seconds: it is invalid from that second on.',
  jti: '128 random bits; in a refresh token, preceded by the time of issue; in an ID token, by the token family and a dot.',
  client_id: 'The app’s id.',
  scope: 'The granted scopes, separated by spaces.',
  email:
    'The email address, at the contract’s endpoints whatever the scopes; not in a token that [another resource server](token-services.md) may read.',
  family: 'The token family; in an ID token of the contract’s endpoints only if it is signed with a key pair.',
  claims: '[Single claims](authorization.md#single-claims) for `/oidc/userinfo`, if the request asked for any.',
  name: 'The display name.',
  preferred_username: 'The username.',
  email_verified: 'Whether the email address is verified.',
  picture: 'The URL of the picture.',
  avatarUrl: 'The same URL.',
  nonce: 'From the authorization request; only in the ID token of the code exchange.',
  auth_time: 'When the person signed in, as a Unix time in seconds; unchanged by a refresh.',
  sid: 'The browser session. In a logout token unless the client is registered with `backchannelLogoutSessionRequired: false`, or [more sessions end than are named](../how-to/sign-out.md#to-your-app).',
  amr: 'How the person signed in: `["pwd"]`.',
  acr: 'The authentication context class; only if [requested](authorization.md#single-claims).',
  at_hash:
    'Binds the ID token to the access token issued with it: the left half of its SHA-256 hash, or of its SHA-512 hash under EdDSA.',
  events: 'Marks it as a [logout token](../how-to/sign-out.md#to-your-app).',
};

const userInfoClaims: Readonly<Record<string, string>> = {
  sub: 'The person’s id.',
  name: 'The display name.',
  preferred_username: 'The username.',
  picture: 'The URL of the picture.',
  locale: 'The preferred language.',
  updated_at: 'When the profile last changed, as a Unix time in seconds.',
  email: 'The email address.',
  email_verified: 'Whether it is verified.',
  website: 'The URL of a website.',
  birthdate: '`YYYY-MM-DD`.',
  phone_number: 'In E.164 format.',
  phone_number_verified: 'Always `false`: numbers are not verified.',
  groups:
    'Names of the groups that are assigned to the app, or of all of the person with `groupsClaim: all`, which in an app of an organization are those of the organization and those assigned to the app. An app may be registered with another name for the claim. Not in an ID token with more than 200, or 4 KiB.',
  roles:
    'Roles of the person in the app. An app may be registered with another name for the claim. Not in an ID token with more than 200, or 4 KiB.',
};

/** ID tokens have the claims of UserInfo as well: those of the granted scopes, unless the registration leaves them out, or requested ones. */
const tokenMeanings = { ...userInfoClaims, ...meanings };

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);
const code = (text: string): string => `\`${text}\``;

function checkMeanings(found: Iterable<string>, known: Readonly<Record<string, string>>): void {
  const names = new Set(found);
  const wrong = [...new Set(Object.keys(known)).symmetricDifference(names)];
  if (wrong.length > 0) throw new Error(`docs/claims-and-scopes.ts and the code differ in ${wrong.join(', ')}`);
}

/** What a token of the OIDC endpoints with these scopes gives at `/oidc/userinfo`. */
const standardGives = (...scopes: readonly string[]): Record<string, unknown> =>
  standardClaims(person, new Set(scopes), oidc.claimScopes, issuer);

/** The claims of tokens and of the standard UserInfo, taken from the functions that create them. */
export function claims(note: string): string {
  const names = new Set(Object.values(kinds).flatMap(({ full }) => Object.keys(full)));
  checkMeanings(names, tokenMeanings);
  const rows = Object.entries(tokenMeanings).map(([name, meaning]) => {
    const cells = Object.values(kinds).map(({ full, bare }) => (name in bare ? '✓' : name in full ? 'some' : ''));
    const value = Object.values(kinds).find(({ full }) => name in full)?.full[name];
    return `| ${[code(name), typeOf(value), ...cells, meaning].join(' | ')} |`;
  });
  const given = standardGives(...oidc.optionalScopes);
  checkMeanings(Object.keys(given), userInfoClaims);
  const userInfoRows = Object.entries(userInfoClaims).map(([name, meaning]) => {
    const scope = oidc.claimScopes.get(name);
    return `| ${[code(name), typeOf(given[name]), code(scope ?? 'openid'), scope ? 'yes' : '', meaning].join(' | ')} |`;
  });
  return `${note}

# Claims

## In tokens

✓ means that every token of the kind has the claim; “some” that the last column says when.

| Claim | Type | ${Object.keys(kinds).join(' | ')} | Meaning |
|---|---|${'---|'.repeat(Object.keys(kinds).length)}---|
${rows.join('\n')}

Treat access and refresh tokens as opaque: only this service reads them, and their claims may change. The [kinds](tokens.md) differ in
\`typ\`, audience and key. The columns marked \`/oidc\` are for tokens of the standard endpoints.
Their ID token has the claims of the granted scopes, as \`/oidc/userinfo\` gives them, unless the app is registered with
\`--id-token-claims requested\`. A refreshed one has those of the scopes that are granted then. An app’s own token is issued for [\`client_credentials\`](token-services.md), a logout token when a
[session ends](../how-to/sign-out.md).

## At \`/oidc/userinfo\`

The UserInfo endpoint in the [discovery document](discovery.md) returns standard claims (OpenID Connect Core 1.0 §5.1). Claims without a
value are omitted. A token from \`/api/v2/oauth/token\` also gets the claims of \`profile\` here without that scope.

| Claim | Type | Scope | [Can be requested individually](authorization.md#single-claims) | Meaning |
|---|---|---|---|---|
${userInfoRows.join('\n')}

\`/api/v2/oauth/userinfo\` returns the same data in Tessera’s own format, with \`null\` for fields without a value. [Scopes](scopes.md)
lists the fields that each scope gives.
`;
}

/** The fields that each scope gives, found by comparing UserInfo responses with and without it. */
export function scopes(note: string): string {
  const without = userInfo(person, new Set(), issuer);
  const given = (scope: string): readonly string[] => {
    const { user } = userInfo(person, new Set([scope]), issuer);
    return Object.keys(user).filter((name) => !(name in without.user));
  };
  const claimsOf = (scope: string): readonly string[] =>
    Object.keys(standardGives(scope)).filter((name) => scope === 'openid' || name !== 'sub');
  const list = (items: readonly string[]): string => items.map(code).join(', ');
  const baseFields = [
    ...Object.keys(without).filter((name) => name !== 'user'),
    ...Object.keys(without.user).map((name) => `user.${name}`),
  ];
  const consentOf = (scope: string, { optionalScopes }: EndpointRules): string => {
    if (isOptional(scope) && optionalScopes.includes(scope)) return 'a switch';
    return scope === 'offline_access' ? 'named' : 'always shared';
  };
  const rows = SCOPES.map((scope) => [
    code(scope),
    isOptional(scope) ? en.consent.scopes[scope] : '',
    v2.scopes.includes(scope) ? (scope === 'offline_access' ? 'changes nothing' : consentOf(scope, v2)) : 'unknown',
    list(scope === 'openid' ? baseFields : given(scope).map((name) => `user.${name}`)),
    consentOf(scope, oidc),
    list(claimsOf(scope)),
  ]);
  return `${note}

# Scopes

| Scope | On the consent page | Consent, \`/api/v2/oauth\` | \`/api/v2/oauth/userinfo\` | Consent, \`/oidc\` | \`/oidc/userinfo\` |
|---|---|---|---|---|---|
${rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}

- **\`openid\`**: a request without \`scope\` means \`openid\`. At \`/api/v2/oauth/authorize\` it is part of every grant, even if the
  request omits it; at \`/oidc/authorize\` a request without it is plain OAuth: no ID token, and no UserInfo.
- **\`offline_access\`**: a refresh token is always issued. The tokens of \`/oidc\` end with the browser session, when the person signs out,
  unless this scope was granted.
- **Consent**: the person decides on each of ${list(oidc.optionalScopes)} with a switch (\`profile\` only at \`/oidc\`). Granted and declined scopes are both
  remembered. A later request for the same scopes is answered without a page and gets the granted ones; only new scopes are asked
  about. A public client with a loopback or private-use-scheme redirect URI
  [asks every time](../how-to/register-an-app.md#register-a-public-client).
- **Withdrawal**: when the person withdraws a scope on a later consent page, it is removed at once from every token that the app has:
  UserInfo, refresh, the ID tokens of a refresh and introspection leave it out. A scope that is granted later applies to new tokens only.
- **Granted scopes** are in the \`scope\` claim of the access token, always in the order of this table
  (${list(SCOPES)}). The token response of \`/oidc/token\` always includes \`scope\`; that of
  \`/api/v2/oauth/token\` only if less was granted than requested, or than before.
- **Fields of a scope that was not granted are absent**, never \`null\`.
- **Invalid scopes**: a scope that does not exist, or that the app is not registered for, is \`invalid_scope\` at
  \`/api/v2/oauth/authorize\`. \`/oidc/authorize\` leaves it out, and answers \`invalid_scope\` only if nothing is left.
- **A refresh** may request fewer scopes, never more. The restriction applies to the tokens of that response only, the ID token among them.
- **Scopes of an API** come beside these at the OIDC endpoints, for the apps that the API lets request them: see
  [Protect your API](../how-to/protect-your-api.md). Each has a switch on the consent page. They follow the others in \`scope\`, by name.
`;
}
