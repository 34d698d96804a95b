import type { JwkSet } from '../keys/rules/jwks.ts';
import type { SettingTable } from '../platform/settings.ts';
import { added, addedByName, addedToSome, bound, ordered, shown, type Undo } from '../platform/undo.ts';
import type { FormerEndpoints } from './former-endpoints.ts';
import type { UpdateClientRequest } from './schema.ts';

/** A key set has a key. */
const keySet: Undo<JwkSet | null> = (now, change) => {
  const left = added(now, change);
  return left?.keys.length === 0 ? null : left;
};

/** What a change of each field of a registration is. */
export const CLIENT_SETTINGS = {
  // How the app is presented to people, and where its links lead them.
  name: shown,
  logoUrl: shown,
  homepageUrl: shown,
  policyUrl: shown,
  termsUrl: shown,
  owner: shown,
  // Operators alone read these.
  description: 'free',
  contacts: 'free',
  // Who may use it, and what people prove and decide before.
  access: ordered('assigned', 'everyone'),
  requireSecondFactor: ordered(true, false),
  defaultMaxAge: bound,
  consent: ordered('ask', 'operator'),
  // Only an assignment gives one, and a role in which somebody is assigned stays.
  roles: 'free',
  // What proves that it is the app, and what it may do then.
  jwks: keySet,
  jwksUri: added,
  tokenEndpointAuthMethod: ordered('private_key_jwt', 'client_secret_basic', 'client_secret_post', null, 'none'),
  requirePkce: ordered(true, false),
  grantTypes: added,
  scopes: addedToSome,
  endpoints: added,
  // As which API it receives tokens.
  resource: added,
  resourceScopes: addedByName,
  // What it reads in tokens, and whether it can check it.
  groupsClaim: ordered('assigned', 'all'),
  claimNames: added,
  idTokenClaims: ordered('requested', 'granted'),
  idTokenSignedResponseAlg: shown,
  userinfoSignedResponseAlg: shown,
  // Where browsers and logout tokens go.
  redirectUris: added,
  postLogoutRedirectUris: added,
  backchannelLogoutUri: added,
  backchannelLogoutSessionRequired: 'free',
  status: 'act',
} as const satisfies SettingTable<Omit<UpdateClientRequest, keyof FormerEndpoints>>;
