import type { AuditEvent } from '../../audit/audit.ts';
import { verifyIdToken } from '../../keys/id-tokens.ts';
import type { Keys } from '../../keys/keys.ts';
import { type SignedToken, TOKEN_KINDS, type TokenKind } from '../../keys/tokens.ts';
import { readAnyClaims, readIdClaims } from './rules/claims.ts';

/** RFC 7515 §7.1: three parts, of which the signature is empty for the algorithm `none`. */
const TOKEN_FORM = /^([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/;

/** The part of an audit event that describes a misused token. */
export type TokenMisuse = Pick<AuditEvent, 'type' | 'accountId' | 'clientId' | 'details'>;

/**
 * LG-03: whether a refused token may be part of an attack: one of another kind, for another audience, or forged.
 * @param expected the kind that the endpoint accepts
 * @param context.signed the token, where it is of the expected kind
 * @returns undefined for an expired token, and for what is not in the form of a token
 */
export async function tokenMisuse(
  keys: Keys,
  expected: TokenKind,
  token: string,
  { signed, issuer, now }: { readonly signed: SignedToken | undefined; readonly issuer: string; readonly now: number },
): Promise<TokenMisuse | undefined> {
  const header = TOKEN_FORM.exec(token)?.[1];
  if (header === undefined) return undefined;
  if (signed !== undefined) {
    const read = readAnyClaims(signed.claims, signed.kind, issuer, now);
    const reason = read?.accountId === null ? 'the token of a client itself' : 'a token for another place';
    return (
      read && { type: 'token.wrong_kind', accountId: read.accountId, clientId: read.clientId, details: { reason } }
    );
  }
  for (const kind of TOKEN_KINDS) {
    const claims = kind === expected ? undefined : keys.keySet().byHeader(kind, header)?.verify(token);
    const read = claims && readAnyClaims(claims, kind, issuer, now);
    if (claims === undefined) continue;
    const details = { reason: kind === 'refresh' ? 'a refresh token' : 'an access token' };
    return { type: 'token.wrong_kind', accountId: read?.accountId ?? null, clientId: read?.clientId ?? null, details };
  }
  const named = await verifyIdToken(keys, token);
  if (named !== undefined) {
    const { accountId = null, clientId = null } = readIdClaims(named, issuer) ?? {};
    return { type: 'token.wrong_kind', accountId, clientId, details: { reason: 'an ID token' } };
  }
  return { type: 'token.forged', details: { reason: 'no key of ours signed it' } };
}
