import type { RecordThrottled } from '../../audit/throttle.ts';
import type { EndpointRules } from '../../claims/endpoint-set.ts';
import type { RequestedClaims } from '../../claims/permissions.ts';
import { narrowedResources, storedScopes } from '../../claims/permissions.ts';
import { type LeftOut, leftOutOfIdToken } from '../../claims/rules/member-claims.ts';
import { pictureUrl } from '../../claims/rules/userinfo.ts';
import { markAllRegistered } from '../../clients/resources.ts';
import { adminResource, isCommandLine } from '../../clients/rules/command-line.ts';
import type { Client } from '../../clients/store.ts';
import type { CurrentRefreshToken } from '../../credentials/token-family-store.ts';
import type { IdTokenAlg } from '../../keys/algorithms.ts';
import type { KeySet, Keys } from '../../keys/keys.ts';
import { jsonSegment, signHs256 } from '../../keys/tokens.ts';
import { takeTogether } from '../../limits/limits.ts';
import type { Limits } from '../../limits/settings.ts';
import type { Clock } from '../../platform/clock.ts';
import { numericDate, SECOND } from '../../platform/clock.ts';
import { randomIdentifier, timedIdentifier } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Parameters } from '../../platform/http/parameters.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { type OAuthError, rateLimited } from '../../platform/oauth-error.ts';
import { addressBucket, networkOf, type Origin } from '../../platform/validation/origin.ts';
import type { TraceRecorder } from '../../traces/recorder.ts';
import type { AuthenticatedClient, ClientProof } from '../client-authentication/authenticate.ts';
import type { ClientKeys } from '../client-authentication/client-keys.ts';
import type { MetadataClients } from '../client-metadata/metadata-clients.ts';
import type { AboutCredential } from '../refusals/row.ts';
import type { Refuse } from './refuse.ts';
import {
  accessAudience,
  accessClaims,
  accessLifetime,
  idClaims,
  refreshClaims,
  refreshExpiry,
  type Subject,
} from './rules/claims.ts';

/** The network in which a public client asks for tokens; null for other clients, whose servers ask. */
export const networkInUse = ({ type }: Pick<Client, 'type'>, { address }: Origin): string | null =>
  type === 'public' && address !== null ? networkOf(addressBucket(address)) : null;

/** What the token endpoint, revocation and introspection work with. */
export interface TokenServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly keys: Keys;
  readonly issuer: string;
  readonly limits: Limits;
  readonly clientKeys: ClientKeys;
  readonly metadataClients: MetadataClients;
  readonly recordThrottled: RecordThrottled;
  readonly traces: Pick<TraceRecorder, 'completed'>;
}

/** A request to the token endpoint, from a client that has authenticated. */
export interface TokenRequest {
  readonly parts: TokenServices;
  readonly authenticated: AuthenticatedClient;
  /** How the set of endpoints behaves that received it. */
  readonly rules: EndpointRules;
  /** The algorithm of the client's ID tokens. */
  readonly alg: IdTokenAlg;
  readonly keySet: KeySet;
  readonly now: number;
  readonly refuse: Refuse;
  /** The parameters of the request, for its trace. */
  readonly parameters: Parameters;
}

/** What a request presents, read and verified as far as that needs no database; or why it is refused. */
export interface ReadGrant<Presented> {
  readonly presented: Presented | OAuthError;
  /** The token family that it is about, for the trace. */
  readonly flow?: string | undefined;
}

/** What may be exchanged for tokens. */
export interface Exchangeable {
  /** The names of the resources that were granted; null where the authorization named none. */
  readonly granted: readonly string[] | null;
  /** The same with the marks that they had then; absent where they are granted by this request. */
  readonly marked?: readonly string[] | null;
  /** For the audit event of a refusal. */
  readonly about: AboutCredential;
}

/**
 * What differs between the grants. The endpoint calls these in order, and does the rest: see `exchange` in routes.ts.
 * `check` and `issue` are parts of one unit of work, which counts the request first.
 */
export interface Grant<Presented, Checked extends Exchangeable, Issued> {
  readonly signsIdTokens: boolean;
  readonly refusedResource: 'resource not granted' | 'unknown resource';
  readonly read: (request: TokenRequest, parameters: Parameters) => Promise<ReadGrant<Presented>>;
  readonly check: (
    request: TokenRequest,
    presented: Presented,
    requestedResources: readonly string[],
  ) => Work<Checked | OAuthError>;
  readonly issue: (request: TokenRequest, checked: Checked, resources: readonly string[] | null) => Work<Issued>;
  /** Signs the tokens, once they are on record. */
  readonly respond: (
    request: TokenRequest,
    issued: Issued,
  ) => Promise<(AccessTokenResponse & Partial<TokenResponse>) | OAuthError>;
}

/**
 * Counts a request against the client's limit. Anyone can act as a public client, so those are counted per network address:
 * otherwise one caller could use up the limit of all.
 * @returns the error to answer with, where the limit is exceeded
 */
export function* countRequest(
  { limits }: TokenServices,
  { client, proof, origin }: AuthenticatedClient,
  now: number,
): Work<OAuthError | undefined> {
  const from = proof.kind === 'public' ? ` ${addressBucket(origin.address ?? '')}` : '';
  const about = { name: 'token', origin, clientId: client.id } as const;
  const seconds = yield* takeTogether(`token ${client.id}${from}`, limits.token, now, about);
  return seconds > 0 ? rateLimited(seconds) : undefined;
}

/**
 * RFC 8707 §2.2: the granted resources that a token is for, as they are granted now; null where the authorization named none. They must still be
 * registered, and by whom they were then.
 * @returns undefined where a requested one was not granted, or is no longer registered
 */
export function* grantedResources(
  { issuer }: Pick<TokenServices, 'issuer'>,
  client: Pick<Client, 'id'>,
  { granted, marked }: Pick<Exchangeable, 'granted' | 'marked'>,
  requested: readonly string[],
): Work<readonly string[] | null | undefined> {
  const resources = narrowedResources(granted, requested);
  if (resources === undefined || resources === null) return resources;
  const own = isCommandLine(client) ? adminResource(issuer) : accessAudience(issuer);
  const present = yield* markAllRegistered(resources, { issuer, own });
  return marked == null || present?.every((one) => marked.includes(one)) ? present : undefined;
}

/** The response of the token endpoint: contract §2.3. */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly refresh_token: string;
  /** Without `openid` among the scopes there is none. */
  id_token?: string;
  /** RFC 6749 §5.1. */
  scope?: string;
}

/** What every token response has: RFC 6749 §5.1. For the client itself there is nothing more (§4.4.3). */
export type AccessTokenResponse = Pick<TokenResponse, 'access_token' | 'token_type' | 'expires_in'>;

/** A new refresh token before it is signed: what is stored, and enough to sign the same token again. */
export function newRefreshToken(keySet: KeySet, now: number, familyEndsAt: number): CurrentRefreshToken {
  return {
    jti: timedIdentifier(now),
    kid: keySet.current('refresh').kid,
    issuedAt: numericDate(now) * SECOND,
    expiresAt: refreshExpiry(now, familyEndsAt),
  };
}

/** What the tokens of a response say. */
interface TokenOrder {
  readonly rules: EndpointRules;
  readonly subject: Omit<Subject, 'picture'>;
  /** The scopes of the access token. */
  readonly scope: string;
  /** The resources that the access token is for; null is UserInfo. */
  readonly resources?: readonly string[] | null;
  readonly refreshToken: CurrentRefreshToken;
  readonly nonce: string | null;
  /** Whether the scopes are fewer than were requested. */
  readonly narrowed: boolean;
  /** Single claims that were granted beside the scopes. */
  readonly claims: RequestedClaims | null;
  /** The algorithm of the client's ID tokens. */
  readonly alg: IdTokenAlg;
  /** Whether the ID token has the claims of all granted scopes. */
  readonly withGrantedClaims: boolean;
  readonly proof: ClientProof;
}

/** Tokens of a person that are on record and not yet signed. */
export type UserTokens = Omit<Subject, 'picture' | 'issuer' | 'clientId' | 'metadataUrl' | 'claimNames'> &
  Pick<TokenOrder, 'scope' | 'resources' | 'refreshToken' | 'nonce' | 'narrowed' | 'claims'>;

/** Whether the ID tokens of a client have the claims of all granted scopes. */
export const givesGrantedClaims = (rules: EndpointRules, { idTokenClaims }: Pick<Client, 'idTokenClaims'>): boolean =>
  !rules.identityClaims && idTokenClaims === 'granted';

/** What the ID token of these tokens lacks, because it would be too long. */
export function missingInIdToken(
  { client, rules }: { readonly client: Pick<Client, 'idTokenClaims'>; readonly rules: EndpointRules },
  { scope, claims, member }: Pick<UserTokens, 'scope' | 'claims' | 'member'>,
): readonly LeftOut[] {
  if (member.groups === undefined && member.roles === undefined) return [];
  const scopes = storedScopes(scope);
  if (!scopes.has('openid')) return [];
  const isGranted = givesGrantedClaims(rules, client);
  return leftOutOfIdToken(
    member,
    (claim) => (isGranted && scopes.has(claim)) || claims?.idToken.includes(claim) === true,
  );
}

/** Signs the tokens of a person: see {@link mint}. */
export function mintUserTokens(
  { parts, authenticated, rules, alg, now }: TokenRequest,
  keySet: KeySet,
  tokens: UserTokens,
): Promise<TokenResponse | undefined> {
  const { client, proof } = authenticated;
  const { id: clientId, metadataUrl, claimNames } = client;
  const subject = { ...tokens, issuer: parts.issuer, clientId, metadataUrl, claimNames };
  const withGrantedClaims = givesGrantedClaims(rules, client);
  return mint(keySet, { ...tokens, rules, subject, alg, withGrantedClaims, proof }, now);
}

/**
 * Signs the three tokens of a response.
 * @returns undefined where the key of the refresh token was dropped, and its tokens with it
 */
export async function mint(keySet: KeySet, order: TokenOrder, now: number): Promise<TokenResponse | undefined> {
  const subject: Subject = {
    ...order.subject,
    picture: pictureUrl(order.subject.issuer, order.subject.accountId, order.subject.profile.picture),
  };
  const refreshKey = keySet.byKid('refresh', order.refreshToken.kid);
  if (refreshKey === undefined) return undefined;
  const { rules, scope } = order;
  const access = keySet.current('access').sign(accessClaims(subject, order, randomIdentifier(), now));
  const response: TokenResponse = {
    access_token: access,
    token_type: 'Bearer',
    expires_in: accessLifetime(subject.clientId),
    refresh_token: refreshKey.sign(refreshClaims(subject, order.refreshToken, rules)),
  };
  const scopes = storedScopes(scope);
  if (scopes.has('openid')) {
    const signIdToken = idTokenSigner(keySet, order, now);
    const context = { ...order, scopes, accessToken: access, random: randomIdentifier() };
    response.id_token = await signIdToken(idClaims(subject, context, now));
  }
  if (order.narrowed || rules.alwaysReturnsScope) response.scope = scope;
  return response;
}

/**
 * The algorithm of a client's ID tokens. If its registration leaves it out, the secret signs only where the client presented it and
 * gets no logout tokens, which have the same algorithm (OpenID Connect Back-Channel Logout 1.0 §2.6) and cannot be signed with it.
 * @param withSecret the default where the secret can sign; that of OpenID Connect Registration 1.0 §2 is RS256
 */
export function idTokenAlg(
  {
    client,
    proof,
  }: {
    readonly client: Pick<Client, 'idTokenSignedResponseAlg' | 'backchannelLogoutUri'>;
    readonly proof: Pick<ClientProof, 'kind'>;
  },
  withSecret: 'HS256' | 'RS256',
): IdTokenAlg {
  const { idTokenSignedResponseAlg: registered, backchannelLogoutUri } = client;
  return registered ?? (proof.kind === 'secret' && backchannelLogoutUri === null ? withSecret : 'RS256');
}

/** OpenID Connect Core 1.0 §10.1: without a `kid`, for the client's secret is the only key. */
const ID_TOKEN_HEADER = jsonSegment({ alg: 'HS256', typ: 'JWT' });

type SignIdToken = (claims: Readonly<Record<string, unknown>>) => string | Promise<string>;

/** The signer of a client's ID tokens. @throws where there is no key, which registration rules out */
function idTokenSigner(keySet: KeySet, { alg, proof }: Pick<TokenOrder, 'alg' | 'proof'>, now: number): SignIdToken {
  if (alg !== 'HS256') {
    const key = keySet.signer(alg, now);
    if (key === undefined) throw new Error(`no key signs ID tokens with ${alg}`);
    return (claims) => key.sign(claims, 'JWT');
  }
  // JW-08: without the presented secret nothing can sign, and no other key may take its place.
  if (proof.kind !== 'secret') throw new Error('an ID token under HS256 needs the secret of its client');
  // OpenID Connect Core 1.0 §10.1: the key is the octets of the client_secret, so any OIDC library can verify.
  return (claims) => signHs256(proof.secret, ID_TOKEN_HEADER, claims);
}
