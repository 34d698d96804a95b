import type { AuditEvent } from '../../audit/audit.ts';
import { verifyIdToken } from '../../keys/id-tokens.ts';
import type { Keys } from '../../keys/keys.ts';
import { type SignedToken, TOKEN_KINDS, type TokenKind } from '../../keys/tokens.ts';
import { readAnyClaims, readIdClaims } from './rules/claims.ts';

/** Three parts, the last of which may be empty: the form of a token, whatever algorithm it names (RFC 7515 §7.1). */
const TOKEN_FORM = /^([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/;

export type Misuse = Pick<AuditEvent, 'type' | 'accountId' | 'clientId' | 'details'>;

/**
 * What an attack may have to do with a token that was refused (LG-03), for its event. One that has merely expired, and what
 * does not look like a token, are none.
 * @param opened the token, where it is of the kind that belongs there
 */
export async function misuseOf(
  keys: Keys,
  belongs: TokenKind,
  token: string,
  { opened, issuer, now }: { readonly opened: SignedToken | undefined; readonly issuer: string; readonly now: number },
): Promise<Misuse | undefined> {
  const header = TOKEN_FORM.exec(token)?.[1];
  if (header === undefined) return undefined;
  if (opened !== undefined) {
    const read = readAnyClaims(opened.claims, opened.kind, issuer, now);
    const reason = read?.accountId === null ? 'the token of a client itself' : 'a token for another place';
    return (
      read && { type: 'token.wrong_kind', accountId: read.accountId, clientId: read.clientId, details: { reason } }
    );
  }
  for (const kind of TOKEN_KINDS) {
    const claims = kind === belongs ? undefined : keys.keySet().byHeader(kind, header)?.verify(token);
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
