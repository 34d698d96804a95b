import { record } from '../audit/audit.ts';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import type { Work } from '../platform/database/database.ts';
import type { Origin } from '../platform/validation/origin.ts';
import {
  type ClientActKind,
  clientActsSince,
  type MakerOfClients,
  recordStatusAct,
  removeApprovalAct,
  wasActiveBefore,
} from './act-store.ts';
import { endSecretNow } from './secrets.ts';
import * as store from './store.ts';

/**
 * Part of a unit of work: disables a client, which ends what was issued to it for good, and with what it managed its own registration.
 * @returns false where it is disabled already
 */
export function* disableClient(id: string, now: number, origin: Origin): Work<boolean> {
  const client = yield* store.lockClient({ id });
  if (client === undefined) return false;
  // Nobody enables it again because it was they who had disabled it.
  yield* recordStatusAct({ operator: undefined }, id, 'disabled', now);
  if (client.status === 'disabled') return false;
  const generation = randomIdentifier();
  yield* store.saveClient({ ...client, status: 'disabled', registrationHash: null, generation, updatedAt: now });
  yield* record({ at: now, type: 'client.disabled', origin, clientId: id, details: { fields: ['status'] } });
  return true;
}

/** An app, and what an operator did to it that still counts. */
export interface TouchedClient {
  readonly clientId: string;
  readonly name: string;
  readonly acts: readonly ClientActKind[];
}

/** What operators did to active clients, as far as it still counts, by client. */
export function* clientsTouchedBy(makers: readonly MakerOfClients[], now: number): Work<readonly TouchedClient[]> {
  const touched = new Map<
    string,
    { readonly clientId: string; readonly name: string; readonly acts: ClientActKind[] }
  >();
  for (const { id: operatorId, since, until, goesOn } of makers) {
    for (const { clientId, kind, secretId } of yield* clientActsSince({ operatorId, since, until })) {
      const client = yield* store.findClient({ id: clientId });
      if (client === undefined || client.status === 'disabled' || goesOn(kind, client)) continue;
      if (kind === 'enabled' && (yield* wasActiveBefore(makers, client))) continue;
      const counts =
        kind === 'secret'
          ? (yield* store.liveSecrets({ clientId, now })).some(({ id }) => id === secretId)
          : kind !== 'accepted' || client.acceptedAt !== null;
      if (!counts) continue;
      const known = touched.get(clientId);
      if (known === undefined) touched.set(clientId, { clientId, name: client.name, acts: [kind] });
      else if (!known.acts.includes(kind)) known.acts.push(kind);
    }
  }
  return [...touched.values()];
}

/** What ended of what operators did to apps. */
export interface ClientsUndone {
  /** How many apps were disabled that were registered, accepted or enabled, */
  readonly registered: number;
  /** and how many secrets of other apps ended that were added. */
  readonly secrets: number;
}

/** A secret that ended, with which its client may have got tokens for itself. */
export interface EndedSecret {
  readonly clientId: string;
  readonly addedAt: number;
}

/**
 * Ends what operators did to clients, inside a unit of work: the clients that they registered or accepted are disabled, as are those that they
 * enabled and that were not active before, the secrets that they added end, and so does all that was issued to clients that they approved.
 * The caller ends the tokens that clients got for themselves with the secrets (`endClientTokens`).
 */
export function* endClientActs(
  makers: readonly MakerOfClients[],
  origin: Origin,
  now: number,
): Work<ClientsUndone & { readonly endedSecrets: readonly EndedSecret[] }> {
  let registered = 0;
  const endedSecrets: EndedSecret[] = [];
  const disabled = new Set<string>();
  for (const { id: operatorId, since, until, goesOn } of makers) {
    // An app is made before anything else is done to it.
    for (const { clientId, kind, secretId, actedAt: addedAt } of yield* clientActsSince({ operatorId, since, until })) {
      const client = yield* store.findClient({ id: clientId });
      if (client === undefined || goesOn(kind, client)) continue;
      if (kind === 'enabled' && (yield* wasActiveBefore(makers, client))) continue;
      if (kind === 'registered' || kind === 'accepted' || kind === 'enabled') {
        disabled.add(clientId);
        if (yield* disableClient(clientId, now, origin)) registered++;
      } else if (kind === 'secret' && secretId !== null) {
        const isEnded = yield* endSecret(clientId, secretId, origin, now);
        if (isEnded && !disabled.has(clientId)) endedSecrets.push({ clientId, addedAt });
      } else if (kind === 'approved') yield* endApproval(clientId, operatorId, origin, now);
    }
  }
  return { registered, secrets: endedSecrets.length, endedSecrets };
}

function* endSecret(clientId: string, secretId: string, origin: Origin, now: number): Work<boolean> {
  yield* store.lockClient({ id: clientId });
  if (!(yield* store.liveSecrets({ clientId, now })).some(({ id }) => id === secretId)) return false;
  yield* endSecretNow(clientId, secretId, now, origin);
  return true;
}

/**
 * Ends what was issued while an operator's approval counted, inside a unit of work, and withdraws it: people are asked at their next
 * authorization.
 */
function* endApproval(clientId: string, operatorId: string, origin: Origin, now: number): Work<void> {
  const client = yield* store.lockClient({ id: clientId });
  if (client === undefined) return;
  yield* removeApprovalAct({ operatorId, clientId });
  // Another operator may have approved it since.
  const isTheirs = client.consentApproval?.approvedBy.id === operatorId;
  const ended = { generation: randomIdentifier(), consentEpoch: randomIdentifier(), updatedAt: now };
  yield* store.saveClient({ ...client, ...ended, ...(isTheirs && { consentApproval: null }) });
  if (isTheirs) yield* record({ at: now, type: 'client.consent_approval_ended', origin, clientId });
}
