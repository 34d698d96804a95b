/** What an `id_token_hint` is worth. */
export type IdTokenHint =
  | { readonly kind: 'none' }
  /** Not an ID token of ours, or one that was changed: nothing of the request that rests on it is used. */
  | { readonly kind: 'bad' }
  /** One under HS256, which nobody but its client can verify: it says who asks, as `client_id` would, and proves nothing. */
  | { readonly kind: 'unproven'; readonly clientId: string }
  /** One that we signed. `stands`: access was not taken away since, and its tokens were not ended. */
  | {
      readonly kind: 'proven';
      readonly clientId: string;
      readonly accountId: string;
      readonly sid: string;
      readonly stands: boolean;
    };

/** The app that asks, as it is registered. */
export interface RegisteredLogoutClient {
  readonly status: string;
  readonly idTokenSignedResponseAlg: string;
  readonly postLogoutRedirectUris: readonly string[];
}

/** Why a request to sign out leads back to no app, for its developer. */
export type RedirectObstacle = 'hint' | 'client' | 'client missing' | 'address';

export interface EndSessionInput {
  readonly hint: IdTokenHint;
  readonly clientId: string | undefined;
  /** The registration of {@link requestingClientId}; undefined where there is none. */
  readonly client: RegisteredLogoutClient | undefined;
  readonly redirectUri: string | undefined;
  /** Who is signed in in this browser; undefined is nobody. */
  readonly session: { readonly accountId: string; readonly sid: string } | undefined;
}

export type EndSessionStep =
  /** The app has shown that it asks for this very session: it ends without a question. */
  | { readonly kind: 'end'; readonly returnTo: string | undefined }
  /** The person decides first (OpenID Connect RP-Initiated Logout 1.0 §2 and §6). */
  | { readonly kind: 'ask'; readonly returnTo: string | undefined; readonly obstacle: RedirectObstacle | undefined }
  /** Nobody is signed in, and the app has shown who it is. */
  | { readonly kind: 'return'; readonly returnTo: string }
  /** Nobody is signed in; the way back is offered, not taken. */
  | { readonly kind: 'nobody'; readonly returnTo: string | undefined; readonly obstacle: RedirectObstacle | undefined };

/** Whose request this is; undefined where nobody says so, or what says so contradicts itself. */
export function requestingClientId(hint: IdTokenHint, clientId: string | undefined): string | undefined {
  if (hint.kind === 'none') return clientId;
  // §2: where both are there, they must name the same client.
  if (hint.kind === 'bad' || (clientId !== undefined && clientId !== hint.clientId)) return undefined;
  return hint.clientId;
}

/** What a request to sign out leads to. The order is that of the trust: who asks, where to go afterwards, and whom it is about. */
export function endSessionStep(situation: EndSessionInput): EndSessionStep {
  const { hint, session } = situation;
  const { returnTo, obstacle } = wayBack(situation);
  const proven = hint.kind === 'proven' && hint.stands && obstacle === undefined ? hint : undefined;
  if (session === undefined) {
    if (proven !== undefined && returnTo !== undefined) return { kind: 'return', returnTo };
    return { kind: 'nobody', returnTo, obstacle };
  }
  const own = proven?.accountId === session.accountId && proven.sid === session.sid;
  return own ? { kind: 'end', returnTo } : { kind: 'ask', returnTo, obstacle };
}

/**
 * Where the browser goes afterwards. §3: only to an address that is registered, character for character, for the client that
 * is known to ask; §4: what does not fit is not used.
 */
function wayBack({ hint, clientId, client, redirectUri }: EndSessionInput): {
  readonly returnTo: string | undefined;
  readonly obstacle: RedirectObstacle | undefined;
} {
  const none = (obstacle: RedirectObstacle | undefined) => ({ returnTo: undefined, obstacle });
  const named = requestingClientId(hint, clientId);
  if (named === undefined) {
    if (hint.kind !== 'none') return none('hint');
    return none(redirectUri === undefined ? undefined : 'client missing');
  }
  if (client === undefined || client.status !== 'active') return none('client');
  // A hint under the secret of a client whose ID tokens we sign ourselves is not one that we issued.
  if (hint.kind === 'unproven' && client.idTokenSignedResponseAlg !== 'HS256') return none('hint');
  if (redirectUri === undefined) return none(undefined);
  return client.postLogoutRedirectUris.includes(redirectUri)
    ? { returnTo: redirectUri, obstacle: undefined }
    : none('address');
}
