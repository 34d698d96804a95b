import { record } from '../audit/audit.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { conflict } from '../platform/failure.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { type ClientActor, recordClientAct } from './act-store.ts';
import { findBlockedHost, oneRegistrationAtATime } from './blocked-hosts.ts';
import { type ClientWithSecrets, clientNotFound } from './clients.ts';
import { disableClient } from './disable.ts';
import { type Client, findClient, liveSecrets, lockClient, saveClient } from './store.ts';

/**
 * Accepts a client that no operator registered, or withdraws that. An accepted one passes for a registered one: the consent page has no
 * warning, and remembers what was decided. One that registered itself openly, or that a developer by the policy registered, and that leads to a
 * domain that was blocked while it was accepted is disabled when that ends, as the blocking would have done.
 * @throws {Failure} `not found`, `conflict` for a client that an operator registered
 */
export function acceptClient(
  { database, clock, operator }: ClientActor & { readonly database: Database; readonly clock: Clock },
  id: string,
  isAccepted: boolean,
  origin: Origin,
): Promise<ClientWithSecrets> {
  const now = clock();
  return database.commit(function* accept(): Work<ClientWithSecrets> {
    // Before the client, as where a domain is blocked: one of the two comes first, and the other one sees what it did.
    if (!isAccepted) yield* oneRegistrationAtATime(now);
    const client = yield* lockClient({ id });
    if (client === undefined) throw clientNotFound(id);
    if (client.registeredBy === null) throw conflict('An operator registered this app: there is nothing to accept.');
    const secrets = yield* liveSecrets({ clientId: id, now });
    if ((client.acceptedAt !== null) === isAccepted) return { client, secrets };
    // An app that an operator has accepted is not removed for want of use.
    const unusedUntil = isAccepted ? null : client.unusedUntil;
    const saved = { ...client, acceptedAt: isAccepted ? now : null, unusedUntil, updatedAt: now };
    yield* saveClient(saved);
    if (isAccepted) yield* recordClientAct({ operator }, id, { kind: 'accepted' }, now);
    yield* record({ at: now, type: isAccepted ? 'client.accepted' : 'client.acceptance_ended', origin, clientId: id });
    if (isAccepted || !(yield* leadsToBlockedHost(saved))) return { client: saved, secrets };
    yield* disableClient(id, now, origin);
    return { client: (yield* findClient({ id })) ?? saved, secrets };
  });
}

/** An operator handed out the token with which an app registered. */
function* leadsToBlockedHost(client: Client): Work<boolean> {
  return client.registeredBy !== 'token' && (yield* findBlockedHost(client)) !== undefined;
}
