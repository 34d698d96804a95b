import { remainingScopes } from '../../claims/scopes.ts';
import { readClientToken } from '../../credentials/client-token-store.ts';
import { readFamily } from '../../credentials/standing-store.ts';
import { verifyIdToken } from '../../keys/id-tokens.ts';
import type { Keys } from '../../keys/keys.ts';
import { type SignedToken, verifyAnyToken } from '../../keys/tokens.ts';
import { type Clock, ClockBehind, SECOND } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { MESSAGES } from '../../verdict/refusals.ts';
import { judge, judgeClientToken, type Verdict } from '../../verdict/rules.ts';
import { audience, readAnyClaims, readIdClaims, type VerifiedClientToken, type VerifiedToken } from './rules/claims.ts';
import { rotation } from './rules/rotation.ts';

/** What becomes of a token that is presented now, and why. The token itself is no part of it. */
export interface Explanation {
  readonly verdict: 'accepted' | 'refused';
  /** The answer where it belongs: at UserInfo for an access token, at the token endpoint for a refresh token. */
  readonly answer: string;
  readonly reason: string;
  readonly remedy: string | null;
  readonly kind: string;
  readonly userId: string | null;
  readonly username: string | null;
  readonly clientId: string | null;
  readonly scope: string | null;
  readonly issuedAt: string | null;
  readonly expiresAt: string | null;
  readonly familyId: string | null;
}

interface Parts {
  readonly database: Pick<Database, 'read'>;
  readonly keys: Keys;
  readonly issuer: string;
  readonly clock: Clock;
}

const NOTHING_KNOWN = {
  userId: null,
  username: null,
  clientId: null,
  scope: null,
  issuedAt: null,
  expiresAt: null,
  familyId: null,
} as const;

const ANEW = 'Send the user through authorization again.';
const BEHIND = {
  reason: 'it was issued in the future, by the clock of this machine',
  remedy: 'Let all machines keep their time with NTP, and try again.',
} as const;
const INVALID = { access: '401 invalid_token', refresh: '400 invalid_grant' } as const;
const KINDS = { access: 'access token', refresh: 'refresh token' } as const;

/** Explains a token, by the verdict that every route goes by. It reads only: what it looks at is not used by it. */
export async function explainToken(parts: Parts, presented: string): Promise<Explanation> {
  try {
    return await explain(parts, presented);
  } catch (error) {
    if (!(error instanceof ClockBehind)) throw error;
    return { ...NOTHING_KNOWN, verdict: 'refused', answer: '503 temporarily_unavailable', kind: 'token', ...BEHIND };
  }
}

async function explain(parts: Parts, presented: string): Promise<Explanation> {
  const { keys, issuer, clock } = parts;
  const now = clock();
  const opened = await verifyAnyToken(keys, presented);
  if (opened === undefined) return explainForeign(keys, presented, issuer);
  const token = readAnyClaims(opened.claims, opened.kind, issuer, now);
  const refused = { verdict: 'refused', answer: INVALID[opened.kind], kind: KINDS[opened.kind] } as const;
  if (token === undefined) return { ...NOTHING_KNOWN, ...refused, ...whyUnread(opened, issuer, now) };

  const about = {
    kind: token.accountId === null ? 'access token of a client itself' : KINDS[opened.kind],
    userId: token.accountId,
    username: null,
    clientId: token.clientId,
    scope: token.accountId === null || token.scope === '' ? null : token.scope,
    issuedAt: iso(token.issuedAt),
    expiresAt: iso(token.expiresAt),
    familyId: token.accountId === null ? null : token.familyId,
  };
  const found =
    token.accountId === null ? await ofClient(parts, token, now) : await ofPerson(parts, opened, token, now);
  if (found === undefined) {
    const reason = 'it is not on record: the account, the app or the authorization was deleted, or has ended long ago';
    return { ...about, ...refused, kind: about.kind, reason, remedy: ANEW };
  }
  const { verdict, username, scope } = found;
  const known = { ...about, username, scope };
  if (verdict.kind === 'live') return { ...known, ...accepted(opened, token, issuer) };
  if (verdict.kind === 'invalid') {
    return { ...known, ...refused, kind: known.kind, reason: verdict.reason, remedy: ANEW };
  }
  const answer = `403 access_denied: ${MESSAGES[verdict.kind]}`;
  return { ...known, verdict: 'refused', answer, ...BARRED[verdict.kind] };
}

const BARRED = {
  banned: {
    reason: 'the account is banned',
    remedy: 'tessera user show says until when; tessera user unban lifts it.',
  },
  suspended: { reason: 'the account is suspended', remedy: 'tessera user reinstate lifts it.' },
  revoked: { reason: 'the person, or an operator, took the access of the app away', remedy: ANEW },
} as const;

function accepted(opened: SignedToken, token: VerifiedToken | VerifiedClientToken, issuer: string) {
  const place = opened.kind === 'refresh' ? 'the token endpoint' : 'UserInfo';
  if (token.audience.includes(audience(issuer, opened.kind))) {
    return {
      verdict: 'accepted',
      answer: `200 at ${place}`,
      reason: 'nothing speaks against it',
      remedy: null,
    } as const;
  }
  const reason = `it lives, and is meant for ${token.audience.join(', ')}`;
  return {
    verdict: 'accepted',
    answer: '401 invalid_token at UserInfo; active at introspection',
    reason,
    remedy: null,
  } as const;
}

interface Found {
  readonly verdict: Verdict;
  readonly username: string | null;
  /** What the token gives: what it says, without what the person has taken away since. */
  readonly scope: string | null;
}

async function ofClient({ database }: Parts, token: VerifiedClientToken, now: number): Promise<Found | undefined> {
  const found = await database.read(() => readClientToken(token));
  if (found === undefined) return undefined;
  const verdict = judgeClientToken(found.client, found, found.clientGeneration, now);
  return { verdict, username: null, scope: null };
}

async function ofPerson(
  { database }: Parts,
  opened: SignedToken,
  token: VerifiedToken,
  now: number,
): Promise<Found | undefined> {
  const found = await database.read(() => readFamily(token));
  if (found === undefined) return undefined;
  const known = {
    username: found.profile.username,
    scope: token.scope === '' ? null : remainingScopes(token.scope, found.withdrawn),
  };
  const verdict = judge(found.standing, found.inherited, now);
  if (verdict.kind !== 'live' || opened.kind === 'access') return { verdict, ...known };
  const { leaf, predecessorJti, rotatedAt } = found.family;
  const move = rotation({ leafJti: leaf.jti, predecessorJti, rotatedAt }, token.jti, now);
  const reason = 'it was used before: presented again it ends all tokens of its authorization';
  return { verdict: move === 'reuse' ? { kind: 'invalid', reason } : verdict, ...known };
}

const iso = (seconds: number): string => new Date(seconds * SECOND).toISOString();

function whyUnread({ claims }: SignedToken, issuer: string, now: number): { reason: string; remedy: string } {
  if (claims['iss'] !== issuer) {
    const reason = `it was issued by ${String(claims['iss'])}, and this service is ${issuer}`;
    return { reason, remedy: 'Give the command the base URL of the server: --base-url or TESSERA_BASE_URL.' };
  }
  const { exp } = claims;
  if (typeof exp === 'number' && exp * SECOND <= now) {
    return {
      reason: `it expired at ${iso(exp)}`,
      remedy: 'An access token is renewed by a refresh; after that: authorization.',
    };
  }
  return { reason: 'its claims are not those of a token of this version', remedy: ANEW };
}

/** What no key of ours for access and refresh tokens signed. */
async function explainForeign(keys: Keys, presented: string, issuer: string): Promise<Explanation> {
  const refused = { ...NOTHING_KNOWN, verdict: 'refused', answer: '401 invalid_token' } as const;
  const named = await verifyIdToken(keys, presented);
  if (named !== undefined) {
    const { accountId = null, clientId = null, familyId = null } = readIdClaims(named, issuer) ?? {};
    const about = { kind: 'ID token', userId: accountId, clientId, familyId };
    const reason = 'it tells an app who signed in, and opens nothing';
    return { ...refused, ...about, reason, remedy: 'Send the access token.' };
  }
  const header = headerOf(presented);
  if (header === undefined) {
    return {
      ...refused,
      kind: 'no token',
      reason: 'it does not have the form of a token',
      remedy: 'Send all of it, and nothing else.',
    };
  }
  const says = `its header says alg ${say(header['alg'])}, typ ${say(header['typ'])}, kid ${say(header['kid'])}`;
  const isIdToken = header['typ'] === 'JWT' && header['alg'] === 'HS256';
  return {
    ...refused,
    kind: isIdToken ? 'perhaps an ID token under HS256' : 'unknown',
    reason: isIdToken
      ? 'only the app with its secret can verify it; it opens nothing'
      : `no key of this service signed it, or that key was dropped or has ended; ${says}`,
    remedy: isIdToken ? 'Send the access token.' : 'Compare the kid with: tessera keys list',
  };
}

const say = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 64) : '-');

function headerOf(token: string): Readonly<Record<string, unknown>> | undefined {
  const segment = /^([A-Za-z0-9_-]{1,1024})\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/.exec(token)?.[1];
  if (segment === undefined) return undefined;
  try {
    const header: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString('utf8'));
    return typeof header === 'object' && header !== null ? (header as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
