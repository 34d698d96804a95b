import type { HintAuthorization } from '../../token/id-token-hint.ts';

/** The path of the end session endpoint, below the base URL. */
export const END_SESSION_PATH = '/oidc/logout';

/** What an `id_token_hint` proves. */
export type LogoutHint =
  | { readonly kind: 'none' }
  /** Not an ID token of this server, or a modified one: nothing of the request that depends on it is used. */
  | { readonly kind: 'bad' }
  /** Signed with HS256, which only its client can verify: it names a client, as `client_id` does, and proves nothing. */
  | { readonly kind: 'unproven'; readonly clientId: string }
  | {
      readonly kind: 'proven';
      readonly clientId: string;
      readonly accountId: string;
      readonly sid: string;
      readonly authorization: HintAuthorization;
    };

/** The client of a request, as it is registered. */
export interface RegisteredLogoutClient {
  readonly status: string;
  readonly idTokenSignedResponseAlg: string | null;
  readonly postLogoutRedirectUris: readonly string[];
}

/** Why a request cannot redirect to a client. */
export type RedirectObstacle = 'hint' | 'other client' | 'client' | 'client missing' | 'address';

export interface EndSessionInput {
  readonly hint: LogoutHint;
  readonly clientId: string | undefined;
  /** The registration of {@link requestingClientId}; undefined where there is none. */
  readonly client: RegisteredLogoutClient | undefined;
  readonly redirectUri: string | undefined;
  /** The session of this browser; undefined where the visitor is not signed in. */
  readonly session: { readonly accountId: string; readonly sid: string } | undefined;
}

export type EndSessionStep =
  /** The hint is about this session: it ends without a question. */
  | { readonly kind: 'end'; readonly returnTo: string | undefined }
  /** The person confirms first (OpenID Connect RP-Initiated Logout 1.0 §2 and §6). */
  | { readonly kind: 'ask'; readonly returnTo: string | undefined; readonly obstacle: RedirectObstacle | undefined }
  /** The visitor is not signed in, and the hint proves which client asks: redirect to it. */
  | { readonly kind: 'return'; readonly returnTo: string }
  /** The visitor is not signed in: show a page, with a link to the client where it has a valid address. */
  | {
      readonly kind: 'signed out';
      readonly returnTo: string | undefined;
      readonly obstacle: RedirectObstacle | undefined;
    };

/** The client that a request names; undefined where it names none, or two. */
export function requestingClientId(hint: LogoutHint, clientId: string | undefined): string | undefined {
  if (hint.kind === 'none') return clientId;
  // §2: where both are sent, they must name the same client.
  if (hint.kind === 'bad' || (clientId !== undefined && clientId !== hint.clientId)) return undefined;
  return hint.clientId;
}

/** Decides on a request: first the client, then its address, then the session. */
export function endSessionStep(input: EndSessionInput): EndSessionStep {
  const { hint, session } = input;
  const { returnTo, obstacle } = checkRedirect(input);
  const proven = hint.kind === 'proven' && obstacle === undefined ? hint : undefined;
  if (session === undefined) {
    if (proven?.authorization === 'valid' && returnTo !== undefined) return { kind: 'return', returnTo };
    return { kind: 'signed out', returnTo, obstacle };
  }
  // Clients revoke their tokens before they sign a person out. That says nothing against the session.
  const isAuthorized = proven !== undefined && proven.authorization !== 'revoked';
  const isOwnSession = isAuthorized && proven.accountId === session.accountId && proven.sid === session.sid;
  return isOwnSession ? { kind: 'end', returnTo } : { kind: 'ask', returnTo, obstacle };
}

/**
 * Where the browser goes afterwards. §3: only to an address that is registered, character for character, for an identified
 * client; §4: a parameter that is not valid is ignored.
 */
function checkRedirect({ hint, clientId, client, redirectUri }: EndSessionInput): {
  readonly returnTo: string | undefined;
  readonly obstacle: RedirectObstacle | undefined;
} {
  const none = (obstacle: RedirectObstacle | undefined) => ({ returnTo: undefined, obstacle });
  const named = requestingClientId(hint, clientId);
  if (named === undefined) {
    if (hint.kind !== 'none') return none(hint.kind === 'bad' ? 'hint' : 'other client');
    return none(redirectUri === undefined ? undefined : 'client missing');
  }
  if (client === undefined || client.status !== 'active') return none('client');
  // A client that registered an asymmetric algorithm was issued no ID token with HS256.
  const { idTokenSignedResponseAlg: registered } = client;
  if (hint.kind === 'unproven' && registered !== null && registered !== 'HS256') return none('hint');
  if (redirectUri === undefined) return none(undefined);
  return client.postLogoutRedirectUris.includes(redirectUri)
    ? { returnTo: redirectUri, obstacle: undefined }
    : none('address');
}
