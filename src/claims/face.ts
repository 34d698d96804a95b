import { type ClaimScopes, CONTRACT_CLAIM_SCOPES, type OptionalScope, STANDARD_CLAIM_SCOPES } from './permissions.ts';

/**
 * The two forms of the authorization, token and UserInfo endpoints: the contract's below `/api/v2/oauth`, and the standards' below
 * `/oidc`, which the discovery document names. The authorization endpoint decides on the face; the pending request, code, grant and
 * token family keep it.
 */
export const FACES = ['contract', 'standard'] as const;
export type Face = (typeof FACES)[number];

/** How the endpoints of a face behave. Nothing else in the service depends on the face. */
export interface FaceRules {
  readonly face: Face;
  /** The paths of its endpoints below the base URL. */
  readonly authorizationPath: string;
  readonly tokenPath: string;
  readonly userinfoPath: string;
  /** Whether an unknown or unregistered scope is left out (OpenID Connect Core 1.0 §3.1.2.1, RFC 6749 §3.3) or rejected. */
  readonly omitsUnknownScopes: boolean;
  /** The error for a `response_type` other than `code`. */
  readonly responseTypeError: 'invalid_request' | 'unsupported_response_type';
  /** Whether `openid` is part of every grant, also where the request left it out. */
  readonly alwaysOpenId: boolean;
  /** The scopes that have a switch on the consent page, in its order. The others are part of every consent. */
  readonly optionalScopes: readonly OptionalScope[];
  /** Optional scopes of other faces whose data every token of this one gives, whatever the person switches off. */
  readonly alwaysShared: readonly OptionalScope[];
  /** The scope whose consent each claim needs. */
  readonly claimScopes: ClaimScopes;
  /** The algorithm of ID tokens for a client that is registered without one, if it presents its secret and gets no logout tokens. */
  readonly defaultIdTokenAlg: 'HS256' | 'RS256';
  /** Whether every access token and ID token has the claims about the user that the contract lists (§2.2). */
  readonly identityClaims: boolean;
  /** The claim by which an ID token names its token family: one of our own, or `jti` (RFC 7519 §4.1.7). */
  readonly idTokenFamily: 'family' | 'jti';
  /** Whether access tokens have the claims of RFC 9068. */
  readonly accessTokenProfile: boolean;
  /** Whether every token response names the scopes, and not only one that grants fewer than were requested (RFC 6749 §5.1). */
  readonly alwaysNamesScopes: boolean;
  /** Whether the token endpoint answers 400 `invalid_grant`, and not 403, for a revoked, banned or suspended grant. */
  readonly barredIsInvalidGrant: boolean;
  /** Whether the token endpoint tells a disabled client from an unknown one, after the right secret. */
  readonly namesDisabledClient: boolean;
  /** Whether a family without `offline_access` is revoked when the person ends the browser session. */
  readonly endsWithSession: boolean;
}

const CONTRACT: FaceRules = {
  face: 'contract',
  authorizationPath: '/api/v2/oauth/authorize',
  tokenPath: '/api/v2/oauth/token',
  userinfoPath: '/api/v2/oauth/userinfo',
  omitsUnknownScopes: false,
  responseTypeError: 'invalid_request',
  alwaysOpenId: true,
  optionalScopes: ['email', 'details', 'phone', 'social', 'organization.read'],
  alwaysShared: ['profile', 'email'],
  claimScopes: CONTRACT_CLAIM_SCOPES,
  defaultIdTokenAlg: 'HS256',
  identityClaims: true,
  idTokenFamily: 'family',
  accessTokenProfile: false,
  alwaysNamesScopes: false,
  barredIsInvalidGrant: false,
  namesDisabledClient: false,
  endsWithSession: false,
};

const STANDARD: FaceRules = {
  face: 'standard',
  authorizationPath: '/oidc/authorize',
  tokenPath: '/oidc/token',
  userinfoPath: '/oidc/userinfo',
  omitsUnknownScopes: true,
  responseTypeError: 'unsupported_response_type',
  alwaysOpenId: false,
  optionalScopes: ['profile', 'email', 'details', 'phone', 'social', 'organization.read'],
  alwaysShared: [],
  claimScopes: STANDARD_CLAIM_SCOPES,
  defaultIdTokenAlg: 'RS256',
  identityClaims: false,
  idTokenFamily: 'jti',
  accessTokenProfile: true,
  alwaysNamesScopes: true,
  barredIsInvalidGrant: true,
  namesDisabledClient: true,
  endsWithSession: true,
};

/** The one table of what differs between the faces. */
export const FACE_RULES: Readonly<Record<Face, FaceRules>> = { contract: CONTRACT, standard: STANDARD };
