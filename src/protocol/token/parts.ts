import type { RecordThrottled } from '../../audit/throttle.ts';
import type { AuthenticatedClient } from '../../clients/authentication/authenticate.ts';
import type { ClientKeys } from '../../clients/authentication/client-keys.ts';
import type { Keys } from '../../keys/keys.ts';
import { take } from '../../limits/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Limits } from '../../platform/config/limits.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Parameters } from '../../platform/http/parameters.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { addressBucket } from '../../platform/validation/ip-address.ts';
import type { AccessTokenResponse, TokenResponse } from './mint.ts';

/**
 * A grant in two steps: the parameters are looked at first, which may refuse them; what comes back then exchanges what
 * they present. So every authenticated request is counted, whichever step ends it.
 */
export type GrantHandler = (
  parameters: Parameters,
) => (parts: TokenParts, authenticated: AuthenticatedClient) => Promise<AccessTokenResponse & Partial<TokenResponse>>;

/**
 * Counts a token request of a client; answers the seconds to wait where there were too many. Anybody can speak in the name of
 * a public client: so that nobody uses up its count, each address has one of its own.
 */
export function countRequest(
  { limits }: TokenParts,
  { client, proof, origin }: AuthenticatedClient,
  now: number,
): Work<number> {
  const from = proof.kind === 'public' ? ` ${addressBucket(origin.address ?? '')}` : '';
  return take(`token ${client.id}${from}`, limits.token, now, { name: 'token', origin, clientId: client.id });
}

/** What the token endpoint works with. */
export interface TokenParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly keys: Keys;
  readonly issuer: string;
  readonly limits: Limits;
  readonly clientKeys: ClientKeys;
  readonly recordThrottled: RecordThrottled;
}
