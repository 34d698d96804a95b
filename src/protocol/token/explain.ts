import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { ENDPOINT_RULES, type EndpointRules } from '../../claims/endpoint-set.ts';
import { liveScope } from '../../claims/rules/api-scopes.ts';
import { readClientToken } from '../../credentials/client-token-store.ts';
import { readFamily } from '../../credentials/token-family-store.ts';
import { verifyIdToken } from '../../keys/id-tokens.ts';
import type { Keys } from '../../keys/keys.ts';
import { type SignedToken, verifyAnyToken } from '../../keys/tokens.ts';
import { type Clock, ClockBehind, SECOND } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { explainEnding, FAMILY_ENDED } from '../../traces/rules/ended-family.ts';
import { judge, judgeClientToken, MESSAGES, type Verdict } from '../../verdict/rules.ts';
import { readLiveScopes } from './introspection.ts';
import {
  ownAudiences,
  readAnyClaims,
  readIdClaims,
  type VerifiedClientToken,
  type VerifiedToken,
} from './rules/claims.ts';
import { rotation } from './rules/refresh.ts';

/** How a token would be answered now, and why. It does not contain the token. */
export interface Explanation {
  readonly verdict: 'accepted' | 'refused';
  /** The answer of UserInfo to an access token, or of the token endpoint to a refresh token. */
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

interface ExplainParts {
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

const AGAIN = 'Send the user through authorization again.';
const BEHIND = {
  reason: 'it was issued in the future, by the clock of this machine',
  remedy: 'Let all machines keep their time with NTP, and try again.',
} as const;
const INVALID = { access: '401 invalid_token', refresh: '400 invalid_grant' } as const;
const KINDS = { access: 'access token', refresh: 'refresh token' } as const;

/** Explains a token, by the same verdict as on every route. It only reads: a refresh token is not used up. */
export async function explainToken(parts: ExplainParts, presented: string): Promise<Explanation> {
  try {
    return await explain(parts, presented);
  } catch (error) {
    if (!(error instanceof ClockBehind)) throw error;
    return { ...NOTHING_KNOWN, verdict: 'refused', answer: '503 temporarily_unavailable', kind: 'token', ...BEHIND };
  }
}

async function explain(parts: ExplainParts, presented: string): Promise<Explanation> {
  const { keys, issuer, clock } = parts;
  const now = clock();
  const signed = await verifyAnyToken(keys, presented);
  if (signed === undefined) return explainUnverified(keys, presented, issuer);
  const token = readAnyClaims(signed.claims, signed.kind, issuer, now);
  const refused = { verdict: 'refused', answer: INVALID[signed.kind], kind: KINDS[signed.kind] } as const;
  if (token === undefined) return { ...NOTHING_KNOWN, ...refused, ...whyUnread(signed, issuer, now) };

  const about = {
    kind: token.accountId === null ? 'access token of a client itself' : KINDS[signed.kind],
    userId: token.accountId,
    username: null,
    clientId: token.clientId,
    scope: token.scope === '' ? null : token.scope,
    issuedAt: iso(token.issuedAt),
    expiresAt: iso(token.expiresAt),
    familyId: token.accountId === null ? null : token.familyId,
  };
  const found =
    token.accountId === null ? await judgeOfClient(parts, token, now) : await judgeOfAccount(parts, signed, token, now);
  if (found === undefined) {
    const reason = 'it is not on record: the account, the app or the authorization was deleted, or has ended long ago';
    return { ...about, ...refused, kind: about.kind, reason, remedy: AGAIN };
  }
  const { verdict, username, scope, rules, ending } = found;
  const known = { ...about, username, scope };
  if (verdict.kind === 'live') return { ...known, ...accepted(signed, token, issuer, rules) };
  if (verdict.kind === 'invalid') {
    const { reason } = verdict;
    const why = { reason: ending?.received ?? reason, remedy: ending?.remedy ?? AGAIN };
    return { ...known, ...refused, kind: known.kind, ...why };
  }
  const error = rules?.invalidGrantInsteadOf403 ? INVALID[signed.kind] : '403 access_denied';
  const answer = `${error}: ${MESSAGES[verdict.kind]}`;
  return { ...known, verdict: 'refused', answer, ...BARRED[verdict.kind] };
}

const BARRED = {
  banned: {
    reason: 'the account is banned',
    remedy: 'tessera user show says until when; tessera user unban lifts it.',
  },
  suspended: { reason: 'the account is suspended', remedy: 'tessera user reinstate lifts it.' },
  revoked: { reason: 'the user, or an operator, revoked the access of the app', remedy: AGAIN },
} as const;

/** The endpoints that accept a token: the UserInfo endpoint of OIDC accepts access tokens of both sets. */
const endpointsOf = ({ kind }: SignedToken, { tokenPath, userinfoPath }: EndpointRules): string =>
  kind === 'refresh' ? tokenPath : [...new Set([userinfoPath, ENDPOINT_RULES.oidc.userinfoPath])].join(' and ');

function accepted(
  signed: SignedToken,
  token: VerifiedToken | VerifiedClientToken,
  issuer: string,
  rules: EndpointRules | null,
) {
  const place = signed.kind === 'refresh' ? 'the token endpoint' : 'UserInfo';
  if (ownAudiences(issuer, signed.kind).some((own) => token.audience.includes(own))) {
    return {
      verdict: 'accepted',
      answer: `200 at ${place}`,
      reason: `accepted${rules === null ? '' : ` at ${endpointsOf(signed, rules)}`}`,
      remedy: null,
    } as const;
  }
  const reason = `valid, but its audience is ${token.audience.join(', ')}`;
  return {
    verdict: 'accepted',
    answer: '401 invalid_token at UserInfo; active at introspection',
    reason,
    remedy: null,
  } as const;
}

interface JudgedToken {
  readonly verdict: Verdict;
  readonly username: string | null;
  /** The scopes of the token, without those that the user withdrew since. */
  readonly scope: string | null;
  /** Of the set of endpoints that it was issued on; null for a token that a client got for itself. */
  readonly rules: EndpointRules | null;
  /** What ended its token family, where something did. */
  readonly ending?: ReturnType<typeof explainEnding>;
}

async function judgeOfClient(
  { database }: ExplainParts,
  token: VerifiedClientToken,
  now: number,
): Promise<JudgedToken | undefined> {
  return database.read(function* read(): Work<JudgedToken | undefined> {
    const found = yield* readClientToken(token);
    if (found === undefined) return undefined;
    const verdict = judgeClientToken(found.client, found, found.clientGeneration, now);
    const scope = liveScope(yield* readLiveScopes('access', token, found.scopes, new Set()));
    return { verdict, username: null, scope: scope === '' ? null : scope, rules: null };
  });
}

async function judgeOfAccount(
  { database }: ExplainParts,
  signed: SignedToken,
  token: VerifiedToken,
  now: number,
): Promise<JudgedToken | undefined> {
  const read = await database.read(function* readScopes() {
    const found = yield* readFamily(token);
    if (found === undefined) return undefined;
    return { found, scopes: yield* readLiveScopes('access', token, found.family.scopes, found.withdrawn) };
  });
  if (read === undefined) return undefined;
  const { found, scopes } = read;
  const known = {
    rules: ENDPOINT_RULES[found.endpointSet],
    username: found.profile.username,
    scope: token.scope === '' ? null : liveScope(scopes),
  };
  const verdict = judge(found.state, found.inherited, now);
  const deadAt = found.state.family?.deadAt ?? null;
  if (verdict.kind === 'invalid' && verdict.reason === FAMILY_ENDED && deadAt !== null) {
    return {
      verdict,
      ...known,
      ending: explainEnding(found.family.deadReason, { at: new Date(deadAt).toISOString() }),
    };
  }
  if (verdict.kind !== 'live' || signed.kind === 'access') return { verdict, ...known };
  const { currentToken, predecessorJti, rotatedAt } = found.family;
  const move = rotation({ currentJti: currentToken.jti, predecessorJti, rotatedAt }, token.jti, now);
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
  return { reason: 'its claims are not those of a token of this version', remedy: AGAIN };
}

/** Explains a token that no key for access and refresh tokens verifies. */
async function explainUnverified(keys: Keys, presented: string, issuer: string): Promise<Explanation> {
  const refused = { ...NOTHING_KNOWN, verdict: 'refused', answer: '401 invalid_token' } as const;
  const named = await verifyIdToken(keys, presented);
  if (named !== undefined) {
    const { accountId = null, clientId = null, familyId = null } = readIdClaims(named, issuer) ?? {};
    const about = { kind: 'ID token', userId: accountId, clientId, familyId };
    return { ...refused, ...about, reason: ID_TOKEN, remedy: 'Send the access token.' };
  }
  const header = headerOf(presented);
  if (header === undefined) {
    return {
      ...refused,
      kind: 'no token',
      reason: 'This is not a Tessera token: it is not a JWT.',
      remedy: 'Send all of it, and nothing else.',
    };
  }
  const says = `its header says alg ${say(header['alg'])}, typ ${say(header['typ'])}, kid ${say(header['kid'])}`;
  const isIdToken = header['typ'] === 'JWT' && header['alg'] === 'HS256';
  return {
    ...refused,
    kind: isIdToken ? 'perhaps an ID token under HS256' : 'unknown',
    reason: isIdToken
      ? `Perhaps an ID token, which only the app can verify, with its secret. ${ID_TOKEN}`
      : `Unknown signing key: it is not one of this service, or was dropped or has ended; ${says}`,
    remedy: isIdToken ? 'Send the access token.' : 'Compare the kid with: tessera keys list',
  };
}

const ID_TOKEN = 'This is an ID token. It identifies the user to your app and cannot be used to call APIs.';

const say = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 64) : '-');

function headerOf(token: string): Readonly<Record<string, unknown>> | undefined {
  // The signature may be missing.
  if (!/^[A-Za-z0-9_-]{1,1024}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/.test(token)) return undefined;
  try {
    return { ...decodeProtectedHeader(token) };
  } catch {
    return undefined;
  }
}
