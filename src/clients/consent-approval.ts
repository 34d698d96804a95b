import { behind } from '../admin-keys/live.ts';
import { record } from '../audit/audit.ts';
import { isRegisteredScope, SCOPES } from '../claims/permissions.ts';
import { findOrganization, organizationNotFound } from '../organizations/store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { conflict, invalid } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { type ClientActor, recordClientAct } from './act-store.ts';
import { type ClientWithSecrets, clientNotFound } from './clients.ts';
import type { ConsentApproval } from './rules/consent-approval.ts';
import { type Client, listApiScopes, liveSecrets, lockClient, saveClient } from './store.ts';

interface ApprovalContext {
  readonly database: Database;
  readonly clock: Clock;
}

interface ApprovalInput {
  /** By name; a scope of an API is approved at every API of which the client may request it. */
  readonly scopes: readonly string[];
  readonly organizationId: string | null;
}

/**
 * Approves scopes of a client with `consent: operator`: people are not asked for them, except those who declined one or took the access
 * away. Replaces the approval before.
 * @throws {Failure} `not found`, `conflict` for another client, `invalid` for a scope that the client may not request
 */
export async function approveConsent(
  { database, clock, operator }: ApprovalContext & ClientActor,
  clientId: string,
  { scopes, organizationId }: ApprovalInput,
  origin: Origin,
): Promise<ClientWithSecrets> {
  const now = clock();
  return database.commit(function* approve(): Work<ClientWithSecrets> {
    const client = yield* requireClient(clientId);
    if (client.consent !== 'operator') {
      throw conflict('The client asks each person for consent. Set consent to operator first.');
    }
    if (organizationId !== null && (yield* findOrganization({ id: organizationId })) === undefined) {
      throw organizationNotFound(organizationId);
    }
    // Decisions §12: never the app's own developer, by whichever of their keys.
    const { developerId } = client;
    if (operator && developerId !== null && (yield* behind(developerId)) === (yield* behind(operator.id))) {
      throw conflict('An app is approved by somebody else than its own developer.');
    }
    const registered = yield* listApiScopes({ clientId });
    const apiScopes = registered.filter(({ name }) => scopes.includes(name));
    for (const scope of scopes) {
      const isOfPerson = SCOPES.includes(scope) && isRegisteredScope(scope, client.scopes);
      if (!isOfPerson && !apiScopes.some(({ name }) => name === scope)) {
        throw invalid(`scopes must be scopes that the client may request; got ${scope}.`);
      }
    }
    const approval: ConsentApproval = {
      scopes: SCOPES.filter((scope) => scopes.includes(scope)),
      apiScopes: apiScopes.map(({ id, name, resource }) => ({ id, name, resource })),
      organizationId,
      approvedAt: now,
      approvedBy: origin.actor,
    };
    yield* recordClientAct({ operator }, clientId, { kind: 'approved' }, now);
    const details = { scopes, organizationId };
    yield* record({ at: now, type: 'client.consent_approved', origin, clientId, details });
    return yield* save({ ...client, consentApproval: approval, updatedAt: now }, now);
  });
}

/** Withdraws the approval: people are asked at their next authorization. What was issued goes on. @throws {Failure} `not found` */
export async function withdrawApproval(
  { database, clock }: ApprovalContext,
  clientId: string,
  origin: Origin,
): Promise<void> {
  const now = clock();
  await database.commit(function* withdraw(): Work<void> {
    const client = yield* requireClient(clientId);
    if (client.consentApproval === null) return;
    yield* record({ at: now, type: 'client.consent_approval_ended', origin, clientId });
    yield* save({ ...client, consentApproval: null, updatedAt: now }, now);
  });
}

function* requireClient(id: string): Work<Client> {
  const client = isSnowflake(id) ? yield* lockClient({ id }) : undefined;
  if (client === undefined) throw clientNotFound(id);
  return client;
}

function* save(client: Client, now: number): Work<ClientWithSecrets> {
  yield* saveClient(client);
  return { client, secrets: yield* liveSecrets({ clientId: client.id, now }) };
}
