import { record } from '../../audit/audit.ts';
import { lockClientToken, revokeClientToken } from '../../credentials/client-token-store.ts';
import { lockFamily, REVOKED_BY_CLIENT, revokeLockedFamily } from '../../credentials/token-family-store.ts';
import { type KeySet, requireVersion, withCurrentKeys } from '../../keys/keys.ts';
import { verifyAnyToken } from '../../keys/tokens.ts';
import type { Work } from '../../platform/database/database.ts';
import type { OAuthError } from '../../platform/oauth-error.ts';
import type { AuthenticatedClient } from '../client-authentication/authenticate.ts';
import { countRequest, type TokenServices } from './grant.ts';
import { tokenFault } from './misuse.ts';
import { type NothingRevoked, nothingRevoked } from './refusals/revocation.ts';
import { recordRefusal, refuseRequest } from './refuse.ts';
import { readAnyClaims, type VerifiedClientToken, type VerifiedToken } from './rules/claims.ts';

/**
 * RFC 7009 §2: revokes a token of the client, and with it every token of its family. When this returns, no node accepts any of
 * them. A token that is unknown, expired or revoked already is no error (§2.2).
 * @returns what the operator is told where the text is no token that could be revoked
 * @throws {OAuthError} `rate_limit_exceeded`, or `invalid_grant` for a token of another client
 */
export const revokeToken = (
  parts: TokenServices,
  authenticated: AuthenticatedClient,
  presented: string,
): Promise<NothingRevoked | undefined> =>
  withCurrentKeys(parts.keys, async () => {
    const now = parts.clock();
    const signed = await verifyAnyToken(parts.keys, presented);
    const token = signed && readAnyClaims(signed.claims, signed.kind, parts.issuer, now);
    const verified = token && { token, keySet: signed.keySet };
    const refused = await parts.database.commit(() => revoke(parts, authenticated, verified, now));
    if (refused !== undefined) return await recordRefusal(parts, refused);
    if (token !== undefined) return undefined;
    const fault = await tokenFault(parts.keys, signed?.kind ?? 'refresh', presented, {
      signed,
      issuer: parts.issuer,
      now,
    });
    return fault.reason === 'expired' ? undefined : nothingRevoked(fault);
  });

function* revoke(
  parts: TokenServices,
  authenticated: AuthenticatedClient,
  verified: { readonly token: VerifiedToken | VerifiedClientToken; readonly keySet: KeySet } | undefined,
  now: number,
): Work<OAuthError | undefined> {
  const { client, origin } = authenticated;
  const limited = yield* countRequest(parts, authenticated, now);
  if (limited !== undefined) return limited;
  if (verified === undefined) return undefined;

  const { token, keySet } = verified;
  const { accountId } = token;
  const details = accountId === null ? {} : { familyId: token.familyId };
  const event = { at: now, origin, clientId: client.id, accountId, details };
  if (token.clientId !== client.id) {
    // §2.1: the request is refused. Only what the token itself says decides that, not whether it is still valid.
    const issuedTo = token.clientId;
    return yield* refuseRequest(authenticated, now, 'revocation of a token of another client', {
      accountId,
      ...details,
      issuedTo,
    });
  }
  const found = yield* lockToken(token);
  if (found === undefined) return undefined;
  requireVersion(keySet, found.keyVersion);
  if (found.deadAt !== null) return undefined;
  if (token.accountId === null) yield* revokeClientToken({ jti: token.jti, now });
  else yield* revokeLockedFamily({ familyId: token.familyId, reason: REVOKED_BY_CLIENT, now });
  yield* record({ ...event, type: 'token.revoked' });
  return undefined;
}

/** The row that a token depends on, locked; undefined where there is none. */
function* lockToken(token: VerifiedToken | VerifiedClientToken) {
  if (token.accountId === null) return yield* lockClientToken(token);
  const found = yield* lockFamily(token);
  return found && { keyVersion: found.keyVersion, deadAt: found.state.family?.deadAt ?? null };
}
