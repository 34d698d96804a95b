import type { CLIENT_SETTINGS } from '../../src/clients/settings.ts';
import type { KeptSetting } from '../../src/platform/settings.ts';
import { appKey } from './assertion.ts';

export const [own, thief, other] = [await appKey(), await appKey(), await appKey()];
export const BY_KEY = { tokenEndpointAuthMethod: 'private_key_jwt', jwks: { keys: [own.jwk] } };
export const CALLBACK = 'https://app.example.com/callback';
export const API = { resource: 'https://api.example.com/a' };
export const scope = (name: string) => ({ name, descriptions: { en: `Use ${name}` } });

/** A setting of an app that a stolen key changes. */
export interface Case {
  /** What the app has. */
  readonly app: Readonly<Record<string, unknown>>;
  /** What the stolen key sets, and somebody else afterwards. */
  readonly stolen: Readonly<Record<string, unknown>>;
  readonly since?: Readonly<Record<string, unknown>>;
  /** What is left where the stolen key is ended: by default, what the app has. What was replaced is not given again. */
  readonly undone?: Readonly<Record<string, unknown>>;
  /** The same where somebody else changed it since: by default, what somebody else set. */
  readonly undoneSince?: Readonly<Record<string, unknown>>;
  /** What closes it again: by default, what the app has. Null for what is only shown, which nothing closes. */
  readonly closed?: Readonly<Record<string, unknown>> | null;
}

/** Every setting of an app that may let somebody in. */
export const CASES: Readonly<Record<KeptSetting<typeof CLIENT_SETTINGS>, Case>> = {
  name: { app: { name: 'Intranet' }, stolen: { name: 'Payroll' }, since: { name: 'Wiki' }, closed: null },
  logoUrl: {
    app: { logoUrl: 'https://app.example.com/logo.png' },
    stolen: { logoUrl: 'https://evil.example/logo.png' },
    since: { logoUrl: null },
    closed: null,
  },
  homepageUrl: {
    app: { homepageUrl: 'https://app.example.com/' },
    stolen: { homepageUrl: 'https://evil.example/' },
    since: { homepageUrl: 'https://app.example.com/start' },
    closed: null,
  },
  policyUrl: {
    app: { policyUrl: 'https://app.example.com/privacy' },
    stolen: { policyUrl: 'https://evil.example/' },
    closed: null,
  },
  termsUrl: { app: {}, stolen: { termsUrl: 'https://evil.example/terms' }, closed: null },
  owner: {
    app: { owner: 'Company' },
    stolen: { owner: 'Company IT' },
    since: { owner: 'Another company' },
    closed: null,
  },
  access: { app: { access: 'assigned' }, stolen: { access: 'everyone' } },
  requireSecondFactor: { app: { requireSecondFactor: true }, stolen: { requireSecondFactor: false } },
  defaultMaxAge: { app: { defaultMaxAge: 60 }, stolen: { defaultMaxAge: null }, since: { defaultMaxAge: 90 } },
  consent: { app: { consent: 'ask' }, stolen: { consent: 'operator' } },
  jwks: {
    app: BY_KEY,
    stolen: { jwks: { keys: [own.jwk, thief.jwk] } },
    since: { jwks: { keys: [other.jwk] } },
  },
  jwksUri: {
    app: { jwksUri: 'https://app.example.com/keys' },
    stolen: { jwksUri: 'https://evil.example/keys' },
    since: { jwksUri: 'https://app.example.com/other' },
    undone: { jwksUri: null },
    closed: { jwksUri: null },
  },
  tokenEndpointAuthMethod: {
    app: BY_KEY,
    stolen: { tokenEndpointAuthMethod: 'client_secret_basic' },
    since: { tokenEndpointAuthMethod: 'client_secret_post' },
  },
  requirePkce: { app: { requirePkce: true }, stolen: { requirePkce: false } },
  grantTypes: {
    app: {},
    stolen: { grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'] },
    since: { grantTypes: ['authorization_code'] },
  },
  scopes: { app: { scopes: ['openid'] }, stolen: { scopes: null } },
  endpoints: {
    app: { endpoints: ['oidc'] },
    stolen: { endpoints: ['v2', 'oidc'] },
    since: { endpoints: ['v2'] },
    undoneSince: { endpoints: [], faces: [], status: 'disabled' },
  },
  resource: {
    app: { resource: 'https://api.example.com/b' },
    stolen: { resource: 'https://api.example.com/evil' },
    since: { resource: 'https://api.example.com/other' },
    undone: { resource: null },
    closed: { resource: null },
  },
  resourceScopes: {
    app: { resource: 'https://api.example.com/c', resourceScopes: [scope('notes.read')] },
    stolen: { resourceScopes: [scope('notes.read'), scope('notes.evil')] },
    since: { resourceScopes: [scope('notes.other')] },
  },
  groupsClaim: { app: { groupsClaim: 'assigned' }, stolen: { groupsClaim: 'all' } },
  claimNames: {
    app: { claimNames: null },
    stolen: { claimNames: { roles: 'teams' } },
    since: { claimNames: { groups: 'teams' } },
  },
  idTokenClaims: { app: { idTokenClaims: 'requested' }, stolen: { idTokenClaims: 'granted' } },
  idTokenSignedResponseAlg: {
    app: { idTokenSignedResponseAlg: 'ES256' },
    stolen: { idTokenSignedResponseAlg: 'HS256' },
    since: { idTokenSignedResponseAlg: 'EdDSA' },
    closed: null,
  },
  userinfoSignedResponseAlg: {
    app: { userinfoSignedResponseAlg: 'ES256' },
    stolen: { userinfoSignedResponseAlg: null },
    since: { userinfoSignedResponseAlg: 'EdDSA' },
    closed: null,
  },
  redirectUris: {
    app: { redirectUris: [CALLBACK] },
    stolen: { redirectUris: [CALLBACK, 'https://evil.example/callback'] },
    // An app for people needs an address.
    since: { redirectUris: ['https://evil.example/callback'] },
    undoneSince: { redirectUris: [], status: 'disabled' },
  },
  postLogoutRedirectUris: {
    app: { postLogoutRedirectUris: ['https://app.example.com/bye'] },
    stolen: { postLogoutRedirectUris: ['https://evil.example/bye'] },
    undone: { postLogoutRedirectUris: [] },
    closed: { postLogoutRedirectUris: [] },
  },
  backchannelLogoutUri: {
    app: { backchannelLogoutUri: 'https://app.example.com/logout' },
    stolen: { backchannelLogoutUri: 'https://evil.example/logout' },
    since: { backchannelLogoutUri: 'https://app.example.com/other' },
    undone: { backchannelLogoutUri: null },
    closed: { backchannelLogoutUri: null },
  },
};
