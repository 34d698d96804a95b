import { listOr, renamed } from '../platform/database/statement.ts';
import {
  type ClaimScopes,
  IDENTITY_SCOPES,
  isRegisteredScope,
  MEMBER_SCOPES,
  OIDC_CLAIM_SCOPES,
  type OptionalScope,
  SCOPES,
  V2_CLAIM_SCOPES,
} from './permissions.ts';

/**
 * The two sets of authorization, token and UserInfo endpoints: the v2 endpoints of the contract below `/api/v2/oauth`, and the OIDC
 * endpoints of the standards below `/oidc`, which the discovery document names. The authorization endpoint decides which set a request
 * belongs to; the pending request, code, grant and token family keep it.
 */
export const ENDPOINT_SETS = ['v2', 'oidc'] as const;
export type EndpointSet = (typeof ENDPOINT_SETS)[number];

/** The names of the sets in the database. The admin API had them as well, and accepts them until 1.0. */
export const FORMER_NAMES = { v2: 'contract', oidc: 'standard' } as const satisfies Record<EndpointSet, string>;

/** An endpoint set as the database stores it: by its former name. */
export const endpointSetCodec = renamed<EndpointSet>(FORMER_NAMES);

/** Several of them; null is all. */
export const endpointSetsCodec = listOr(endpointSetCodec, ENDPOINT_SETS);

/** How the endpoints of a set behave. Nothing else in the service depends on the set. */
export interface EndpointRules {
  readonly endpointSet: EndpointSet;
  /** The paths of the endpoints below the base URL. */
  readonly authorizationPath: string;
  readonly tokenPath: string;
  readonly userinfoPath: string;
  /** The scopes that a request can name. */
  readonly scopes: readonly string[];
  /** Whether a request can name scopes of APIs as well. */
  readonly apiScopes: boolean;
  /** Whether an unknown or unregistered scope is ignored (OpenID Connect Core 1.0 §3.1.2.1, RFC 6749 §3.3) or rejected. */
  readonly ignoresUnknownScopes: boolean;
  /** The error for a `response_type` other than `code`. */
  readonly responseTypeError: 'invalid_request' | 'unsupported_response_type';
  /** Whether `openid` is part of every grant, also where the request left it out. */
  readonly alwaysOpenId: boolean;
  /** The scopes that have a switch on the consent page, in its order. The others are part of every consent. */
  readonly optionalScopes: readonly OptionalScope[];
  /** Optional scopes of the other set whose data every token of this one gives, whatever the person switches off. */
  readonly alwaysShared: readonly OptionalScope[];
  /** The scope whose consent each claim needs. */
  readonly claimScopes: ClaimScopes;
  /** The algorithm of ID tokens for a client that is registered without one, if it presents its secret and gets no logout tokens. */
  readonly defaultIdTokenAlg: 'HS256' | 'RS256';
  /** Whether every access token and ID token has the claims about the user that the contract lists (§2.2). */
  readonly identityClaims: boolean;
  /** The claim by which an ID token names its token family: a private one, or `jti` (RFC 7519 §4.1.7). */
  readonly idTokenFamily: 'family' | 'jti';
  /** Whether access tokens have the claims of RFC 9068. */
  readonly accessTokenProfile: boolean;
  /** Whether every token response has `scope`, and not only one that grants fewer scopes than were requested (RFC 6749 §5.1). */
  readonly alwaysReturnsScope: boolean;
  /** Whether the token endpoint answers 400 `invalid_grant`, not 403, if access was revoked or the account is banned or suspended. */
  readonly invalidGrantInsteadOf403: boolean;
  /** Whether the token endpoint tells a disabled client from an unknown one, after the right secret. */
  readonly reportsDisabledClient: boolean;
  /** Whether a family without `offline_access` is revoked when the person ends the browser session. */
  readonly endsWithSession: boolean;
}

const V2: EndpointRules = {
  endpointSet: 'v2',
  authorizationPath: '/api/v2/oauth/authorize',
  tokenPath: '/api/v2/oauth/token',
  userinfoPath: '/api/v2/oauth/userinfo',
  scopes: IDENTITY_SCOPES,
  apiScopes: false,
  ignoresUnknownScopes: false,
  responseTypeError: 'invalid_request',
  alwaysOpenId: true,
  optionalScopes: ['email', 'details', 'phone', 'social', 'organization.read'],
  alwaysShared: ['profile', 'email'],
  claimScopes: V2_CLAIM_SCOPES,
  defaultIdTokenAlg: 'HS256',
  identityClaims: true,
  idTokenFamily: 'family',
  accessTokenProfile: false,
  alwaysReturnsScope: false,
  invalidGrantInsteadOf403: false,
  reportsDisabledClient: false,
  endsWithSession: false,
};

const OIDC: EndpointRules = {
  endpointSet: 'oidc',
  authorizationPath: '/oidc/authorize',
  tokenPath: '/oidc/token',
  userinfoPath: '/oidc/userinfo',
  scopes: SCOPES,
  apiScopes: true,
  ignoresUnknownScopes: true,
  responseTypeError: 'unsupported_response_type',
  alwaysOpenId: false,
  optionalScopes: ['profile', 'email', 'details', 'phone', 'social', 'organization.read', 'groups', 'roles'],
  alwaysShared: [],
  claimScopes: OIDC_CLAIM_SCOPES,
  defaultIdTokenAlg: 'RS256',
  identityClaims: false,
  idTokenFamily: 'jti',
  accessTokenProfile: true,
  alwaysReturnsScope: true,
  invalidGrantInsteadOf403: true,
  reportsDisabledClient: true,
  endsWithSession: true,
};

/** The one table of what differs between the two sets. */
export const ENDPOINT_RULES: Readonly<Record<EndpointSet, EndpointRules>> = { v2: V2, oidc: OIDC };

/** The same for an app that is open to assigned people only: what they are in it cannot be switched off (decisions §12). */
const ofAssigned = (rules: EndpointRules): EndpointRules => ({
  ...rules,
  optionalScopes: rules.optionalScopes.filter((scope) => !(MEMBER_SCOPES as readonly string[]).includes(scope)),
});
const ASSIGNED_RULES = { v2: ofAssigned(V2), oidc: ofAssigned(OIDC) };

/** How the endpoints of a set behave for an app. */
export const endpointRulesOf = (
  endpointSet: EndpointSet,
  { access }: { readonly access: 'everyone' | 'assigned' },
): EndpointRules => (access === 'assigned' ? ASSIGNED_RULES : ENDPOINT_RULES)[endpointSet];

/**
 * The scopes that count no more at a set of endpoints, whatever was granted: those that the person withdrew, and those that the client may no
 * longer request.
 * @param registered the scopes that the client is registered for now; null is those of the identity
 */
export function endedScopes(
  endpointSet: EndpointSet,
  withdrawn: ReadonlySet<string>,
  registered: readonly string[] | null,
): ReadonlySet<string> {
  const { alwaysShared, optionalScopes } = ENDPOINT_RULES[endpointSet];
  const isShared = (scope: string) => names(alwaysShared).includes(scope) && !names(optionalScopes).includes(scope);
  const taken = SCOPES.filter((scope) => !isRegisteredScope(scope, registered) && !isShared(scope));
  return taken.length === 0 ? withdrawn : new Set([...withdrawn, ...taken]);
}

const names = (scopes: readonly OptionalScope[]): readonly string[] => scopes;
