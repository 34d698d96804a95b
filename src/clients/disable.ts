import { record } from '../audit/audit.ts';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import type { Work } from '../platform/database/database.ts';
import type { Origin } from '../platform/validation/origin.ts';
import * as store from './store.ts';

/**
 * Part of a unit of work: disables a client, which ends what was issued to it for good, and with what it managed its own registration. Does
 * nothing where it is disabled.
 */
export function* disableClient(id: string, now: number, origin: Origin): Work<void> {
  const client = yield* store.lockClient({ id });
  if (client === undefined || client.status === 'disabled') return;
  const generation = randomIdentifier();
  yield* store.saveClient({ ...client, status: 'disabled', registrationHash: null, generation, updatedAt: now });
  yield* record({ at: now, type: 'client.disabled', origin, clientId: id, details: { fields: ['status'] } });
}

/** Disables the clients that an operator registered as a developer at an instant or later, inside a unit of work. @returns how many */
export function* disableClientsOf(developerId: string, since: number, origin: Origin, now: number): Work<number> {
  const ids = yield* store.clientsMadeBy({ developerId, since });
  for (const id of ids) yield* disableClient(id, now, origin);
  return ids.length;
}
