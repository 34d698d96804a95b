import { record } from '../../audit/audit.ts';
import type { AuthenticatedClient } from '../../clients/authentication/authenticate.ts';
import { killClientToken, lockClientToken } from '../../credentials/client-token-store.ts';
import { killFamily } from '../../credentials/family-store.ts';
import { lockFamily } from '../../credentials/standing-store.ts';
import { type SignedToken, verifyAnyToken } from '../../keys/tokens.ts';
import type { Work } from '../../platform/database/database.ts';
import { invalidGrant, rateLimited } from '../../platform/oauth-error.ts';
import { countRequest, type TokenParts } from './parts.ts';
import { readAnyClaims, type VerifiedClientToken, type VerifiedToken } from './rules/claims.ts';

type Outcome =
  | { readonly kind: 'limited'; readonly seconds: number }
  | { readonly kind: 'other keys'; readonly version: string }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'ended' };

/**
 * RFC 7009 §2: ends a token of the client, and with it every token of its family. When this returns none of them works any
 * more, on any node. A token that is unknown, expired or dead already needs no ending, and is no error (§2.2).
 * @throws {OAuthError} `invalid_grant` for a token of another client, `rate_limit_exceeded`
 */
export async function revokeToken(
  parts: TokenParts,
  authenticated: AuthenticatedClient,
  presented: string,
): Promise<void> {
  for (;;) {
    const now = parts.clock();
    const opened = await verifyAnyToken(parts.keys, presented);
    const token = opened && readAnyClaims(opened.claims, opened.kind, parts.issuer, now);
    const outcome = await parts.database.commit(() => end(parts, authenticated, { opened, token, now }));
    switch (outcome.kind) {
      case 'limited':
        throw rateLimited(outcome.seconds);
      case 'other keys':
        await parts.keys.refresh(outcome.version);
        continue;
      case 'foreign':
        // §2.1: the request is refused. It is the token itself that names its client; whether it still lives stays untold.
        throw invalidGrant('The token was issued to another client.', 'of another client');
      case 'ended':
        return;
    }
  }
}

interface Attempt {
  readonly opened: SignedToken | undefined;
  readonly token: VerifiedToken | VerifiedClientToken | undefined;
  readonly now: number;
}

function* end(parts: TokenParts, authenticated: AuthenticatedClient, attempt: Attempt): Work<Outcome> {
  const { client, origin } = authenticated;
  const { opened, token, now } = attempt;
  const seconds = yield* countRequest(parts, authenticated, now);
  if (seconds > 0) return { kind: 'limited', seconds };
  if (opened === undefined || token === undefined) return { kind: 'ended' };

  const { accountId } = token;
  const details = accountId === null ? {} : { familyId: token.familyId };
  const event = { at: now, origin, clientId: client.id, accountId, details };
  if (token.clientId !== client.id) {
    yield* record({ ...event, type: 'token.foreign_client', outcome: 'failure' });
    return { kind: 'foreign' };
  }
  const found = yield* lockStanding(token);
  if (found === undefined) return { kind: 'ended' };
  if (found.keyVersion !== opened.keySet.version) return { kind: 'other keys', version: found.keyVersion };
  if (found.deadAt !== null) return { kind: 'ended' };
  if (token.accountId === null) yield* killClientToken({ jti: token.jti, now });
  else yield* killFamily(token.familyId, 'token revoked', now);
  yield* record({ ...event, type: 'token.revoked' });
  return { kind: 'ended' };
}

/** What stands behind a token, locked; undefined where it is not on record. */
function* lockStanding(token: VerifiedToken | VerifiedClientToken) {
  if (token.accountId === null) return yield* lockClientToken(token);
  const found = yield* lockFamily(token);
  return found && { keyVersion: found.keyVersion, deadAt: found.standing.family?.deadAt ?? null };
}
