import { remainingScopes } from '../../claims/scopes.ts';
import { type AuthenticatedClient, invalidClient } from '../../clients/authentication/authenticate.ts';
import { isOwnAddress } from '../../clients/resources.ts';
import type { Client } from '../../clients/store.ts';
import { readClientToken } from '../../credentials/client-token-store.ts';
import { type FamilyRecord, readFamily } from '../../credentials/standing-store.ts';
import { type TokenKind, verifyAnyToken } from '../../keys/tokens.ts';
import type { Work } from '../../platform/database/database.ts';
import { judge, judgeClientToken } from '../../verdict/rules.ts';
import type { TokenParts } from './parts.ts';
import { audienceClaim, readAnyClaims, type VerifiedClientToken, type VerifiedToken } from './rules/claims.ts';
import { rotation } from './rules/rotation.ts';

/** RFC 7662 §2.2. Of a token that is not active nothing else is said. */
export type Introspection = { readonly active: false } | ({ readonly active: true } & Described);

interface Described {
  /** Absent for a client's own token, which carries none. */
  readonly scope?: string;
  readonly client_id: string;
  readonly username?: string;
  /** Only of an access token: a refresh token opens nothing. */
  readonly token_type?: 'Bearer';
  readonly exp: number;
  readonly iat: number;
  readonly sub: string;
  readonly aud: string | readonly string[];
  readonly iss: string;
  readonly jti: string;
}

const INACTIVE: Introspection = { active: false };

/**
 * RFC 7662: whether a token would be accepted at this moment, by the verdict that every route goes by. A client may ask about
 * its own tokens, a resource server about access tokens for it; what it is told of any other is what it is told of rubbish.
 * @throws {OAuthError} `invalid_client` for a client that has not proved who it is (§2.1)
 */
export async function introspect(
  { keys, clock, database, issuer, recordThrottled }: TokenParts,
  { client, proof, origin }: AuthenticatedClient,
  presented: string,
): Promise<Introspection> {
  if (proof.kind === 'public')
    throw invalidClient('only a client with a secret or a key of its own may ask about tokens.');
  for (;;) {
    const now = clock();
    const opened = await verifyAnyToken(keys, presented);
    const token = opened && readAnyClaims(opened.claims, opened.kind, issuer, now);
    if (opened === undefined || token === undefined) return INACTIVE;
    const own = token.clientId === client.id;
    if (!own && !isFor(client, opened.kind, token, issuer)) {
      const { accountId } = token;
      const details = { reason: 'asked about' };
      const about = { clientId: client.id, accountId, details };
      await recordThrottled({ at: now, type: 'token.foreign_client', outcome: 'failure', origin, ...about });
      return INACTIVE;
    }
    const found = await database.read(() =>
      token.accountId === null ? lookUp(token, now) : lookUpFamily(opened.kind, token, now),
    );
    if (found === undefined) return INACTIVE;
    if (found.keyVersion !== opened.keySet.version) {
      // The key set changed since this process read it: the token's key may have been dropped.
      await keys.refresh(found.keyVersion);
      continue;
    }
    if (found.said === undefined) return INACTIVE;
    return {
      active: true,
      client_id: token.clientId,
      ...found.said,
      ...(own && found.username !== undefined && { username: found.username }),
      ...(opened.kind === 'access' && { token_type: 'Bearer' }),
      exp: token.expiresAt,
      iat: token.issuedAt,
      aud: audienceClaim(token.audience) ?? '',
      iss: issuer,
      jti: token.jti,
    };
  }
}

/** RFC 8707 §3: whether an access token is for this client, as the resource that it is registered as. */
function isFor({ resource }: Client, kind: TokenKind, { audience }: Pick<VerifiedToken, 'audience'>, issuer: string) {
  return resource !== null && !isOwnAddress(resource, issuer) && kind === 'access' && audience.includes(resource);
}

/** What is on record about a token. */
interface Found {
  readonly keyVersion: string;
  /** What may be said of it beyond its claims; undefined where the verdict is against it. */
  readonly said: Pick<Described, 'scope' | 'sub'> | undefined;
  readonly username?: string;
}

function* lookUpFamily(kind: TokenKind, token: VerifiedToken, now: number): Work<Found | undefined> {
  const found = yield* readFamily(token);
  if (found === undefined) return undefined;
  const { keyVersion, profile, withdrawn, family } = found;
  const scope = kind === 'access' ? remainingScopes(token.scope, withdrawn) : family.scopes;
  const said = { scope, sub: token.accountId };
  return { keyVersion, username: profile.username, said: isLive(kind, token.jti, found, now) ? said : undefined };
}

function isLive(kind: TokenKind, jti: string, found: FamilyRecord, now: number): boolean {
  if (judge(found.standing, found.inherited, now).kind !== 'live') return false;
  if (kind === 'access') return true;
  const { leaf, predecessorJti, rotatedAt } = found.family;
  return rotation({ leafJti: leaf.jti, predecessorJti, rotatedAt }, jti, now) !== 'reuse';
}

function* lookUp(token: VerifiedClientToken, now: number): Work<Found | undefined> {
  const found = yield* readClientToken(token);
  if (found === undefined) return undefined;
  const { keyVersion, client, clientGeneration } = found;
  const live = judgeClientToken(client, found, clientGeneration, now).kind === 'live';
  return { keyVersion, said: live ? { sub: token.clientId } : undefined };
}
