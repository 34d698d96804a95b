import type { SettingTable } from '../platform/settings.ts';
import type { FormerEndpoints } from './former-endpoints.ts';
import type { UpdateClientRequest } from './schema.ts';

/** What a change of each field of a registration is. */
export const CLIENT_SETTINGS = {
  // How the app is presented to people, and where its links lead them.
  name: 'kept',
  logoUrl: 'kept',
  homepageUrl: 'kept',
  policyUrl: 'kept',
  termsUrl: 'kept',
  owner: 'kept',
  // Operators alone read these.
  description: 'free',
  contacts: 'free',
  // Who may use it, and what people prove and decide before.
  access: 'kept',
  requireSecondFactor: 'kept',
  defaultMaxAge: 'kept',
  consent: 'kept',
  // Only an assignment gives one, and a role in which somebody is assigned stays.
  roles: 'free',
  // What proves that it is the app, and what it may do then.
  jwks: 'kept',
  jwksUri: 'kept',
  tokenEndpointAuthMethod: 'kept',
  requirePkce: 'kept',
  grantTypes: 'kept',
  scopes: 'kept',
  endpoints: 'kept',
  // As which API it receives tokens.
  resource: 'kept',
  resourceScopes: 'kept',
  // What it reads in tokens, and whether it can check it.
  groupsClaim: 'kept',
  claimNames: 'kept',
  idTokenClaims: 'kept',
  idTokenSignedResponseAlg: 'kept',
  userinfoSignedResponseAlg: 'kept',
  // Where browsers and logout tokens go.
  redirectUris: 'kept',
  postLogoutRedirectUris: 'kept',
  backchannelLogoutUri: 'kept',
  backchannelLogoutSessionRequired: 'free',
  status: 'act',
} as const satisfies SettingTable<Omit<UpdateClientRequest, keyof FormerEndpoints>>;
