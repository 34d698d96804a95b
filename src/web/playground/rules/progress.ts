import type { Exchange } from '../wire.ts';

/** The steps of a visit, in their order. */
export const STEPS = ['authorize', 'code', 'tokens', 'userinfo', 'refresh', 'revoke'] as const;
export type PlaygroundStep = (typeof STEPS)[number];

/** What a visitor can have done. */
export type PlaygroundAction = 'tokens' | 'userinfo' | 'refresh' | 'revoke' | 'again';

/** One authorization request: each has its own. */
export interface AuthorizationAttempt {
  readonly state: string;
  readonly nonce: string;
  /** The secret of PKCE, of which the request carries the digest. */
  readonly verifier: string;
}

/** The answer that the browser brought back. */
export interface Callback {
  /** As it came, without the headers that are the browser's own business. */
  readonly request: string;
  readonly iss: string;
  readonly code: string | null;
  readonly error: string | null;
  readonly description: string | null;
}

/** The end of the access, and what came right after it. */
export interface Revocation {
  readonly act: Exchange;
  readonly userinfo: Exchange;
  readonly refresh: Exchange;
}

/** Everything of a visit: an app of its own, and what was on the wire so far. */
export interface PlaygroundVisit {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly expiresAt: number;
  readonly attempt: AuthorizationAttempt;
  /** Who was signed in when the answer came: from then on the visit is theirs to see alone. */
  readonly accountId: string | null;
  readonly callback: Callback | null;
  readonly tokens: Exchange | null;
  readonly userinfo: Exchange | null;
  readonly refresh: Exchange | null;
  readonly revoke: Revocation | null;
}

const NOTHING_YET = { accountId: null, callback: null, tokens: null, userinfo: null, refresh: null, revoke: null };

export const newVisit = (
  app: Pick<PlaygroundVisit, 'clientId' | 'clientSecret' | 'expiresAt'>,
  attempt: AuthorizationAttempt,
): PlaygroundVisit => ({
  ...app,
  attempt,
  ...NOTHING_YET,
});

/** The same app sends the person once more. */
export const begunAgain = (visit: PlaygroundVisit, attempt: AuthorizationAttempt): PlaygroundVisit => ({
  ...visit,
  attempt,
  ...NOTHING_YET,
});

/** The steps that have something to show. */
export function reached(visit: PlaygroundVisit): readonly PlaygroundStep[] {
  const shown: Readonly<Record<PlaygroundStep, unknown>> = {
    authorize: true,
    code: visit.callback,
    tokens: visit.tokens,
    userinfo: visit.userinfo,
    refresh: visit.refresh,
    revoke: visit.revoke,
  };
  return STEPS.filter((step) => shown[step] !== null);
}

/** The one thing to do next; null is to go to the authorization endpoint, which only the browser can. */
export function nextAction(visit: PlaygroundVisit): PlaygroundAction | null {
  const { callback, tokens, userinfo, refresh, revoke } = visit;
  if (callback === null) return null;
  if (callback.code === null || revoke !== null) return 'again';
  if (tokens === null) return 'tokens';
  if (responseStatus(tokens) !== 200) return 'again';
  if (userinfo === null) return 'userinfo';
  if (responseStatus(userinfo) !== 200) return 'again';
  if (refresh === null) return 'refresh';
  return responseStatus(refresh) === 200 ? 'revoke' : 'again';
}

/** Whether an answer to an authorization request is one to this visit's own: RFC 6749 §10.12, RFC 9207 §2.4. */
export const isAnswerTo = (
  { attempt }: PlaygroundVisit,
  answer: { state?: string; iss?: string },
  issuer: string,
): boolean => answer.state === attempt.state && answer.iss === issuer;

/** The status of an answer; 0 where it has none. */
export const responseStatus = ({ answer }: Exchange): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0);

const bodyOf = (answer: string): string => answer.slice(answer.indexOf('\r\n\r\n') + 4);

/** The tokens of an answer of the token endpoint, by their names there. */
export interface ReceivedTokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
}

/** @returns undefined where the answer holds none */
export function tokensIn(exchange: Exchange | null): ReceivedTokens | undefined {
  if (exchange === null || responseStatus(exchange) !== 200) return undefined;
  return JSON.parse(bodyOf(exchange.answer)) as ReceivedTokens;
}

/** The tokens that the app holds: those of the last answer that had some. */
export const heldTokens = (visit: PlaygroundVisit): ReceivedTokens | undefined =>
  tokensIn(visit.refresh) ?? tokensIn(visit.tokens);
