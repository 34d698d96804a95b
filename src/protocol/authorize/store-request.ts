import { findClient } from '../../clients/store.ts';
import { ofNetwork, take, takeRolling } from '../../limits/limits.ts';
import type { Limits } from '../../limits/settings.ts';
import { HOUR } from '../../platform/clock.ts';
import { digest, randomSecret } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { addressBucket, networkBucket } from '../../platform/validation/origin.ts';
import { insertInteraction, type NewInteraction } from '../../sessions/interaction-store.ts';
import { type AuthorizationServices, CLIENT_GONE, type ClientGone } from './authorization.ts';
import { refuseByRedirect } from './rules/refusals.ts';
import {
  type AuthorizationRequest,
  type RedirectedError,
  recordedId,
  type StoredRequest,
  storedRequest,
} from './rules/request.ts';

export const INTERACTION_LIFETIME = HOUR;

/** The handle of a request that is stored now. */
export interface StoredHandle {
  readonly kind: 'stored';
  readonly handle: string;
}

/**
 * Stores a request until the person has answered. Anyone can start requests, and each is stored for an hour: so the number that
 * one address starts in a minute is limited, and the bytes that it holds at a time.
 */
export async function storeRequest(
  { database, clock, limits }: AuthorizationServices,
  request: AuthorizationRequest,
  browserHash: string,
  origin: Origin,
): Promise<StoredHandle | ClientGone | RedirectedError> {
  const handle = randomSecret();
  const now = clock();
  const interaction = {
    hash: digest(handle),
    browserHash,
    clientId: recordedId(request.clientId),
    stored: storedRequest(request),
    now,
    expiresAt: now + INTERACTION_LIFETIME,
  };
  const refusal = await database.commit(() => insertLimited(interaction, limits, origin));
  return refusal ?? { kind: 'stored', handle };
}

const TOO_MANY_PENDING = refuseByRedirect('too many sign-ins begun');
const TOO_MUCH_PENDING = refuseByRedirect('too much room for sign-ins');

/** Inserts a request within the limits of its address, or gives the refusal. */
function* insertLimited(
  interaction: NewInteraction & { readonly stored: StoredRequest },
  limits: Limits,
  origin: Origin,
): Work<ClientGone | RedirectedError | undefined> {
  const { clientId, stored, now } = interaction;
  const address = addressBucket(origin.address);
  const event = { origin, clientId };
  const count = { name: 'pendingAddress', ...event } as const;
  if ((yield* take(`pending ${address}`, limits.pendingAddress, now, count)) > 0) return TOO_MANY_PENDING;
  // The row refers to the client, which may have been deleted since the request was checked.
  if (clientId !== null && (yield* findClient({ id: clientId })) === undefined) return CLIENT_GONE;
  const bytes = { name: 'pendingBytesAddress', ...event } as const;
  const bucket = `pending-bytes ${address}`;
  if ((yield* takeRolling(bucket, limits.pendingBytesAddress, stored.size, now, bytes)) > 0) return TOO_MUCH_PENDING;
  const network = networkBucket(origin.address);
  if (network !== undefined) {
    const wait = yield* takeRolling(
      `pending-bytes ${network}`,
      ofNetwork(limits.pendingBytesAddress),
      stored.size,
      now,
      bytes,
    );
    if (wait > 0) return TOO_MUCH_PENDING;
  }
  yield* insertInteraction(interaction);
  return undefined;
}
