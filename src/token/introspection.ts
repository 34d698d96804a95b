import { type AuthenticatedClient, invalidClient } from '../clients/authentication.ts';
import { openAnyToken } from '../keys/open-token.ts';
import type { TokenKind } from '../keys/token-key.ts';
import { judge } from '../verdict/rules.ts';
import { type FamilyRecord, readFamily } from '../verdict/store.ts';
import type { TokenParts } from './parts.ts';
import { readIssued, type VerifiedToken } from './rules/claims.ts';
import { rotation } from './rules/rotation.ts';

/** RFC 7662 §2.2. Of a token that is not active nothing else is said. */
export type Introspection =
  | { readonly active: false }
  | {
      readonly active: true;
      readonly scope: string;
      readonly client_id: string;
      readonly username: string;
      /** Only of an access token: a refresh token opens nothing. */
      readonly token_type?: 'Bearer';
      readonly exp: number;
      readonly iat: number;
      readonly sub: string;
      readonly aud: string | readonly string[];
      readonly iss: string;
      readonly jti: string;
    };

const INACTIVE: Introspection = { active: false };

/**
 * RFC 7662: whether a token would be accepted at this moment, by the verdict that every route goes by. A client may ask about
 * its own tokens; what it is told of any other is what it is told of rubbish.
 * @throws {OAuthError} `invalid_client` for a client that has not proved who it is (§2.1)
 */
export async function introspect(
  { keys, clock, database, issuer }: TokenParts,
  { client, proof }: AuthenticatedClient,
  presented: string,
): Promise<Introspection> {
  if (proof.kind === 'public') throw invalidClient(false);
  for (;;) {
    const now = clock();
    const opened = await openAnyToken(keys, presented);
    const token = opened && readIssued(opened.claims, opened.kind, issuer, now);
    if (opened === undefined || token === undefined || token.clientId !== client.id) return INACTIVE;
    const found = await database.read(() => readFamily(token));
    if (found === undefined) return INACTIVE;
    if (found.keyVersion !== opened.ring.version) {
      // The key set changed since this process read it: the token's key may have been dropped.
      await keys.refresh(found.keyVersion);
      continue;
    }
    if (!isLive(opened.kind, token, found, now)) return INACTIVE;
    return describe(opened.kind, token, found, issuer);
  }
}

function isLive(kind: TokenKind, { jti }: VerifiedToken, found: FamilyRecord, now: number): boolean {
  if (judge(found.standing, found.inherited, now).kind !== 'live') return false;
  if (kind === 'access') return true;
  const { leaf, predecessorJti, rotatedAt } = found.family;
  return rotation({ leafJti: leaf.jti, predecessorJti, rotatedAt }, jti, now) !== 'reuse';
}

function describe(kind: TokenKind, token: VerifiedToken, found: FamilyRecord, issuer: string): Introspection {
  const [first = '', ...more] = token.audience;
  return {
    active: true,
    scope: kind === 'access' ? token.scope : found.family.scopes,
    client_id: token.clientId,
    username: found.profile.username,
    ...(kind === 'access' && { token_type: 'Bearer' }),
    exp: token.expiresAt,
    iat: token.issuedAt,
    sub: token.accountId,
    aud: more.length === 0 ? first : token.audience,
    iss: issuer,
    jti: token.jti,
  };
}
