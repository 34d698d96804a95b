import type { EndpointSet } from '../../../claims/endpoint-set.ts';
import type { Exchange } from '../exchange.ts';

/** The steps of a session, in order. */
export const STEPS = ['authorize', 'code', 'tokens', 'userinfo', 'refresh', 'revoke'] as const;
export type PlaygroundStep = (typeof STEPS)[number];

export type PlaygroundAction = 'tokens' | 'userinfo' | 'refresh' | 'revoke' | 'again';

/** The secrets of one authorization request. */
export interface AuthorizationAttempt {
  readonly state: string;
  readonly nonce: string;
  /** The PKCE code verifier: RFC 7636 §4.1. */
  readonly verifier: string;
}

/** The authorization response. */
export interface PlaygroundCallback {
  /** Request line and `Host` of the request that the browser made; its other headers are left out. */
  readonly request: string;
  readonly iss: string;
  readonly code: string | null;
  readonly error: string | null;
  readonly description: string | null;
}

/** The exchange that took the access away, and those right after it. */
export interface RevocationExchanges {
  readonly act: Exchange;
  readonly userinfo: Exchange;
  readonly refresh: Exchange;
}

/** A session's app and the exchanges so far. Stored sealed as JSON, so member names are part of the stored format. */
export interface PlaygroundSession {
  /** The set of endpoints that the developer chose. */
  readonly endpoints: EndpointSet;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly expiresAt: number;
  readonly attempt: AuthorizationAttempt;
  /** Who was signed in when the authorization response arrived. From then on only that account may see the session. */
  readonly accountId: string | null;
  readonly callback: PlaygroundCallback | null;
  readonly tokens: Exchange | null;
  /** The published keys, which the app reads to verify an ID token that is not signed with its secret. */
  readonly keySet: Exchange | null;
  readonly userinfo: Exchange | null;
  readonly refresh: Exchange | null;
  readonly revoke: RevocationExchanges | null;
}

const NO_EXCHANGES = {
  accountId: null,
  callback: null,
  tokens: null,
  keySet: null,
  userinfo: null,
  refresh: null,
  revoke: null,
};

export const newPlaygroundSession = (
  app: Pick<PlaygroundSession, 'endpoints' | 'clientId' | 'clientSecret' | 'expiresAt'>,
  attempt: AuthorizationAttempt,
): PlaygroundSession => ({
  ...app,
  attempt,
  ...NO_EXCHANGES,
});

/** The same app with a new authorization request. */
export const withNewAttempt = (session: PlaygroundSession, attempt: AuthorizationAttempt): PlaygroundSession => ({
  ...session,
  attempt,
  ...NO_EXCHANGES,
});

/** The steps that have something to show. */
export function reachedSteps(session: PlaygroundSession): readonly PlaygroundStep[] {
  const shown: Readonly<Record<PlaygroundStep, unknown>> = {
    authorize: true,
    code: session.callback,
    tokens: session.tokens,
    userinfo: session.userinfo,
    refresh: session.refresh,
    revoke: session.revoke,
  };
  return STEPS.filter((step) => shown[step] !== null);
}

/** The next action; null while the browser has to go to the authorization endpoint. */
export function nextAction(session: PlaygroundSession): PlaygroundAction | null {
  const { callback, tokens, userinfo, refresh, revoke } = session;
  if (callback === null) return null;
  if (callback.code === null || revoke !== null) return 'again';
  if (tokens === null) return 'tokens';
  if (responseStatus(tokens) !== 200) return 'again';
  if (userinfo === null) return 'userinfo';
  if (responseStatus(userinfo) !== 200) return 'again';
  if (refresh === null) return 'refresh';
  return responseStatus(refresh) === 200 ? 'revoke' : 'again';
}

/** Whether an authorization response answers this session's request: RFC 6749 §10.12, RFC 9207 §2.4. */
export const isResponseTo = (
  { attempt }: PlaygroundSession,
  response: { state?: string; iss?: string },
  issuer: string,
): boolean => response.state === attempt.state && response.iss === issuer;

/** The HTTP status of the response; 0 if it has none. */
export const responseStatus = ({ answer }: Exchange): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0);

/** The body of a response. */
export const bodyOf = ({ answer }: Exchange): string => answer.slice(answer.indexOf('\r\n\r\n') + 4);

/** The tokens of a token response. */
export interface ReceivedTokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
}

/** @returns undefined unless the exchange is a successful token request */
export function tokensIn(exchange: Exchange | null): ReceivedTokens | undefined {
  if (exchange === null || responseStatus(exchange) !== 200) return undefined;
  return JSON.parse(bodyOf(exchange)) as ReceivedTokens;
}

/** The tokens that the app received last. */
export const currentTokens = (session: PlaygroundSession): ReceivedTokens | undefined =>
  tokensIn(session.refresh) ?? tokensIn(session.tokens);
