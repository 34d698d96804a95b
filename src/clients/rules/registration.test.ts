// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RegistrationFields, registrationProblem } from './registration.ts';

const CONFIDENTIAL: RegistrationFields = {
  type: 'confidential',
  tokenEndpointAuthMethod: null,
  idTokenSignedResponseAlg: 'HS256',
  requirePkce: false,
  jwks: null,
  jwksUri: null,
  grantTypes: ['authorization_code', 'refresh_token'],
  redirectUris: ['https://app.example.com/cb'],
  resource: null,
  resourceScopes: null,
  consent: 'ask',
  roles: [],
  claimNames: null,
};
const PUBLIC: RegistrationFields = {
  ...CONFIDENTIAL,
  type: 'public',
  requirePkce: true,
  idTokenSignedResponseAlg: 'ES256',
};
const KEYED: RegistrationFields = {
  ...CONFIDENTIAL,
  tokenEndpointAuthMethod: 'private_key_jwt',
  idTokenSignedResponseAlg: 'RS256',
  jwksUri: 'https://app.example.com/jwks',
};

const consistent: [name: string, registration: RegistrationFields][] = [
  ['a confidential client', CONFIDENTIAL],
  ['a public client', PUBLIC],
  ['a client with private_key_jwt', KEYED],
  ['RFC 6749 §4.4: client_credentials alone', { ...KEYED, grantTypes: ['client_credentials'], redirectUris: [] }],
  ['RFC 8707 §2: a resource server', { ...CONFIDENTIAL, resource: 'https://api.example.com/v1?tenant=7' }],
];
for (const [name, registration] of consistent) {
  test(`accepts ${name}`, () => assert.equal(registrationProblem(registration), undefined));
}

const inconsistent: [name: string, registration: RegistrationFields, field: RegExp][] = [
  ['RFC 6749 §4.4: client_credentials', { ...PUBLIC, grantTypes: ['client_credentials'] }, /^grantTypes /],
  ['refresh_token alone', { ...CONFIDENTIAL, grantTypes: ['refresh_token'] }, /^grantTypes .*authorization_code/],
  ['RFC 6749 §3.1.2.2: codes without a redirect URI', { ...CONFIDENTIAL, redirectUris: [] }, /^redirectUris /],
  ['a public resource server', { ...PUBLIC, resource: 'https://api.example.com' }, /^resource must be null/],
  ['RFC 8707 §2: a fragment', { ...CONFIDENTIAL, resource: 'https://api.example.com/#x' }, /^resource .*fragment/],
  [
    'OpenID Connect Core 1.0 §9: a public client with a secret',
    { ...PUBLIC, tokenEndpointAuthMethod: 'client_secret_post' },
    /^tokenEndpointAuthMethod must be none/,
  ],
  [
    'OpenID Connect Core 1.0 §9: a confidential client with none',
    { ...CONFIDENTIAL, tokenEndpointAuthMethod: 'none' },
    /^tokenEndpointAuthMethod none is for public/,
  ],
  [
    'OpenID Connect Core 1.0 §10.1: a public client with HS256',
    { ...PUBLIC, idTokenSignedResponseAlg: 'HS256' },
    /^idTokenSignedResponseAlg .* a public client/,
  ],
  [
    'OpenID Connect Core 1.0 §10.1: private_key_jwt with HS256',
    { ...KEYED, idTokenSignedResponseAlg: 'HS256' },
    /^idTokenSignedResponseAlg .* private_key_jwt/,
  ],
  ['RFC 9700 §2.1.1: a public client without PKCE', { ...PUBLIC, requirePkce: false }, /^requirePkce /],
  [
    'OpenID Connect Registration 1.0 §2: jwks and jwks_uri',
    { ...KEYED, jwks: { keys: [] } },
    /^jwks and jwksUri exclude/,
  ],
  ['private_key_jwt without keys', { ...KEYED, jwksUri: null }, /^tokenEndpointAuthMethod private_key_jwt needs/],
  ['an http jwks_uri', { ...KEYED, jwksUri: 'http://app.example.com/jwks' }, /^jwksUri must use https/],
];
for (const [name, registration, field] of inconsistent) {
  test(`rejects ${name}`, () => assert.match(registrationProblem(registration) ?? '', field));
}
