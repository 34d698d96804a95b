import * as Type from 'typebox/type';
import { findAccount } from '../accounts/store.ts';
import { findClient } from '../clients/store.ts';
import type { Clock } from '../clock.ts';
import type { Database, Work } from '../database/database.ts';
import { type Origin, record } from '../events/audit.ts';
import { Id, Instant, orNull } from '../http/operation.ts';
import { announceAccessEnd } from '../logout/announce.ts';
import { notFound } from '../oauth-error.ts';
import type { Connection } from './store.ts';
import * as store from './store.ts';

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
}

/**
 * Takes an app's access away: its codes and tokens for this person answer 403 from the next request on, for ever.
 * Harmless where it has none.
 */
export async function revokeAccess(
  { database, clock }: Parts,
  accountId: string,
  clientId: string,
  origin: Origin,
): Promise<boolean> {
  const now = clock();
  return database.commit(function* revoke(): Work<boolean> {
    const grantId = yield* store.revokeGrant(accountId, clientId, now);
    if (grantId === undefined) return false;
    yield* announceAccessEnd(accountId, grantId, now);
    yield* record({ at: now, type: 'consent.revoked', origin, accountId, clientId, details: { grantId } });
    return true;
  });
}

/** {@link revokeAccess}, for an operator. @throws {OAuthError} `not_found` for an unknown user or client */
export async function revokeAccessOf(parts: Parts, accountId: string, clientId: string, origin: Origin): Promise<void> {
  await parts.database.read(function* check(): Work<void> {
    if ((yield* findAccount(accountId)) === undefined) throw notFound(`There is no user with the id ${accountId}.`);
    if ((yield* findClient(clientId)) === undefined) throw notFound(`There is no client with the id ${clientId}.`);
  });
  await revokeAccess(parts, accountId, clientId, origin);
}

/** The apps that have access to a person's data. */
export const connectionsOf = ({ database }: Pick<Parts, 'database'>, accountId: string): Promise<Connection[]> =>
  database.read(() => store.listConnections(accountId));

/** An app that has access, as operators see it: the shape of {@link connectionView}. */
export const ConnectionRecord = Type.Object(
  {
    clientId: Id,
    name: Type.String(),
    owner: orNull(Type.String()),
    homepageUrl: orNull(Type.String()),
    scopes: Type.Array(Type.String(), { about: 'What the person allowed.' }),
    connectedAt: Instant,
    lastUsedAt: orNull(Instant, 'When it last got tokens; null where it never did.'),
  },
  { title: 'Connection' },
);

export const connectionView = (connection: Connection) => ({
  clientId: connection.clientId,
  name: connection.name,
  owner: connection.owner,
  homepageUrl: connection.homepageUrl,
  scopes: connection.scopes,
  connectedAt: new Date(connection.connectedAt).toISOString(),
  lastUsedAt: connection.lastUsedAt === null ? null : new Date(connection.lastUsedAt).toISOString(),
});
