import { record } from '../audit/audit.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { conflict } from '../platform/failure.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { type ClientWithSecrets, clientNotFound } from './clients.ts';
import { liveSecrets, lockClient, saveClient } from './store.ts';

/**
 * Accepts a client that no operator registered, or withdraws that. An accepted one passes for a registered one: the consent page has no
 * warning, and remembers what was decided.
 * @throws {Failure} `not found`, `conflict` for a client that an operator registered
 */
export function acceptClient(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  id: string,
  isAccepted: boolean,
  origin: Origin,
): Promise<ClientWithSecrets> {
  const now = clock();
  return database.commit(function* accept(): Work<ClientWithSecrets> {
    const client = yield* lockClient({ id });
    if (client === undefined) throw clientNotFound(id);
    if (client.registeredBy === null) throw conflict('An operator registered this app: there is nothing to accept.');
    const secrets = yield* liveSecrets({ clientId: id, now });
    if ((client.acceptedAt !== null) === isAccepted) return { client, secrets };
    // An app that an operator has accepted is not removed for want of use.
    const unusedUntil = isAccepted ? null : client.unusedUntil;
    const saved = { ...client, acceptedAt: isAccepted ? now : null, unusedUntil, updatedAt: now };
    yield* saveClient(saved);
    yield* record({ at: now, type: isAccepted ? 'client.accepted' : 'client.acceptance_ended', origin, clientId: id });
    return { client: saved, secrets };
  });
}
