import { findAccount, takeAccountLock } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { ENDPOINT_SETS } from '../../claims/endpoint-set.ts';
import { isApiScopeId, MEMBER_SCOPES, namesOfResources, type SwitchedScope } from '../../claims/permissions.ts';
import { clientNotFound } from '../../clients/clients.ts';
import { formerEndpointsRecord, formerNames } from '../../clients/former-endpoints.ts';
import { type DescribedScope, describeApiScopes, findResourceServers } from '../../clients/resources.ts';
import { findClient, listApiScopes } from '../../clients/store.ts';
import { takeScopesAway } from '../../consent/decision.ts';
import { type Connection, mergeGrants } from '../../consent/rules/merge-grants.ts';
import * as store from '../../consent/store.ts';
import { enqueueGrantNotices } from '../../credentials/logout-notices.ts';
import { readFamilyStates } from '../../credentials/revocation-store.ts';
import { CLOCK_SKEW, type Clock, iso, isoOrNull } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { Id, Instant, nullableField } from '../../platform/http/operation.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import * as Type from '../../platform/validation/type.ts';
import {
  type CredentialState,
  type FamilyState,
  type RevocationSummary,
  summarizeRevocation,
} from '../../verdict/rules.ts';
import { userNotFound } from '../accounts/accounts.ts';

interface ConnectionServices {
  readonly database: Database;
  readonly clock: Clock;
}

/**
 * Revokes a client's access, at both sets of endpoints: its codes and tokens for this person are refused from the next request on, for
 * good. A
 * consent form that was open is shown again, also where the client had no access yet.
 *
 * The account's lock makes this and every decision of a consent page come one after the other. A grant that does not exist yet
 * has no row to lock.
 * @returns whether it had any
 */
export async function revokeAccess(
  { database, clock }: ConnectionServices,
  accountId: string,
  clientId: string,
  origin: Origin,
): Promise<boolean> {
  const now = clock();
  return database.commit(function* revoke(): Work<boolean> {
    yield* takeAccountLock({ id: accountId });
    return yield* revokeClient({ accountId, clientId, origin, now });
  });
}

/** {@link revokeAccess} of every client that has access when this commits: of all of them, or, where the commit fails, of none. */
export function revokeEveryAccess(
  { database, clock }: ConnectionServices,
  accountId: string,
  origin: Origin,
): Promise<void> {
  const now = clock();
  return database.commit(function* revoke(): Work<void> {
    yield* takeAccountLock({ id: accountId });
    const clients = new Set((yield* store.listConnectedGrants({ accountId })).map(({ clientId }) => clientId));
    for (const clientId of clients) yield* revokeClient({ accountId, clientId, origin, now });
  });
}

interface Revocation {
  readonly accountId: string;
  readonly clientId: string;
  readonly origin: Origin;
  readonly now: number;
}

/** Revokes the access of a client, with the account's lock held. @returns whether it had any */
function* revokeClient({ accountId, clientId, origin, now }: Revocation): Work<boolean> {
  if ((yield* findClient({ id: clientId })) === undefined) return false;
  const grantIds = yield* store.revokeGrants({ accountId, clientId, now });
  yield* enqueueGrantNotices(accountId, grantIds, now);
  for (const grantId of grantIds) {
    yield* record({ at: now, type: 'consent.revoked', origin, accountId, clientId, details: { grantId } });
  }
  return grantIds.length > 0;
}

/**
 * Takes single scopes away from a client, at both sets of endpoints: UserInfo, introspection and the next refresh answer without them from
 * the next request on. It has to ask again to get them back.
 * @param off those of the scopes that a person can switch off
 * @returns whether it had any of them
 */
export async function narrowAccess(
  { database, clock }: ConnectionServices,
  {
    accountId,
    clientId,
    off,
  }: { readonly accountId: string; readonly clientId: string; readonly off: readonly SwitchedScope[] },
  origin: Origin,
): Promise<boolean> {
  const now = clock();
  return database.commit(function* narrow(): Work<boolean> {
    yield* takeAccountLock({ id: accountId });
    const client = yield* findClient({ id: clientId });
    if (client === undefined) return false;
    // What a person is in an app that is open to assigned people only cannot be switched off.
    const isFixed = (scope: SwitchedScope) =>
      client.access === 'assigned' && (MEMBER_SCOPES as readonly string[]).includes(scope);
    const scopes = new Set(off.filter((scope) => !isFixed(scope)));
    const grantIds = yield* takeScopesAway(yield* store.lockGrants({ accountId, clientId }), scopes, now);
    for (const grantId of grantIds) {
      const details = { grantId, scopes: [...scopes].join(' ') };
      yield* record({ at: now, type: 'consent.narrowed', origin, accountId, clientId, details });
    }
    return grantIds.length > 0;
  });
}

/**
 * Revokes every client's access, inside a unit of work that holds the account's lock and gives it a new generation, for which the apps
 * are notified.
 */
export function* revokeAllAccess(accountId: string, origin: Origin, now: number): Work<void> {
  yield* revokeAccessSince({ accountId, since: 0 }, origin, now);
}

/**
 * {@link revokeAllAccess} for the clients on whose access was decided at an instant or later, in the consent page of another person
 * perhaps. A node whose clock is behind may have dated a decision a little before that.
 * @returns how many apps lost their access
 */
export function* revokeAccessSince(
  { accountId, since }: { readonly accountId: string; readonly since: number },
  origin: Origin,
  now: number,
): Work<number> {
  let apps = 0;
  for (const clientId of yield* store.listClientsDecidedSince({ accountId, since: since - CLOCK_SKEW })) {
    const grants = yield* store.revokeGrants({ accountId, clientId, now });
    if (grants.length > 0) apps++;
    for (const grantId of grants) {
      yield* record({ at: now, type: 'consent.revoked', origin, accountId, clientId, details: { grantId } });
    }
  }
  return apps;
}

/** {@link revokeAccess}, for an operator. @throws {Failure} `not found` for an unknown user or client */
export async function revokeAccessOf(
  services: ConnectionServices,
  accountId: string,
  clientId: string,
  origin: Origin,
): Promise<void> {
  await services.database.read(function* check(): Work<void> {
    if ((yield* findAccount({ id: accountId })) === undefined) throw userNotFound(accountId);
    if ((yield* findClient({ id: clientId })) === undefined) throw clientNotFound(clientId);
  });
  await revokeAccess(services, accountId, clientId, origin);
}

/** Access that was revoked, with a summary of what that ended. */
export interface RevokedAccess extends RevocationSummary {
  readonly app: string;
  readonly at: number;
}

/**
 * Reads what the last revocation of a client's access ended; undefined where there was none, or the person has consented again
 * since.
 */
export function revokedAccess(
  { database, clock }: ConnectionServices,
  accountId: string,
  clientId: string,
): Promise<RevokedAccess | undefined> {
  return database.read(function* read(): Work<RevokedAccess | undefined> {
    const revoked = yield* store.findRevokedGrants({ accountId, clientId });
    const [last] = revoked;
    if (last === undefined || (yield* store.findGrants({ accountId, clientId })).length > 0) return undefined;
    const found: FamilyState[] = [];
    for (const { id } of revoked) found.push(...(yield* readFamilyStates({ grantId: id })));
    const before = (state: CredentialState): CredentialState => ({ ...state, grant: { revokedAt: null } });
    return { app: last.app, at: last.revokedAt, ...summarizeRevocation(found, before, clock()) };
  });
}

/** A client that has access, with the names of the resource servers where it may act for the person, and as what. */
export interface ListedConnection extends Omit<Connection, 'resources'> {
  readonly resources: readonly ConnectedResource[];
}

interface ConnectedResource {
  readonly name: string;
  readonly resource: string;
  /** Its scopes that the person allowed. */
  readonly scopes: readonly DescribedScope[];
  readonly declined: readonly DescribedScope[];
}

/** The resource servers of a connection, with the scopes that are still registered. */
function* readResources({ clientId, scopes, declined, resources }: Connection, language: string) {
  const ofApis = [...scopes, ...declined].some(isApiScopeId)
    ? yield* describeApiScopes(yield* listApiScopes({ clientId }), language)
    : [];
  const servers = yield* findResourceServers(namesOfResources(resources) ?? []);
  return servers
    .filter(({ marked }) => resources.includes(marked))
    .map(({ name, resource }): ConnectedResource => {
      const own = ofApis.filter((scope) => scope.resource === resource);
      return {
        name,
        resource,
        scopes: own.filter(({ id }) => scopes.includes(id)),
        declined: own.filter(({ id }) => declined.includes(id)),
      };
    });
}

/**
 * The clients that have access to a person's data, all or a page of them.
 * @param language of the words for scopes of APIs
 */
export const connectionsOf = (
  { database }: Pick<ConnectionServices, 'database'>,
  accountId: string,
  { skip, limit }: { readonly skip: number; readonly limit: number } = { skip: 0, limit: Number.MAX_SAFE_INTEGER },
  language = 'en',
): Promise<ListedConnection[]> =>
  database.read(function* list(): Work<ListedConnection[]> {
    const found: ListedConnection[] = [];
    for (const connection of mergeGrants(yield* store.listConnectedGrants({ accountId })).slice(skip, skip + limit)) {
      found.push({ ...connection, resources: yield* readResources(connection, language) });
    }
    return found;
  });

/** A client that has access, as operators see it: the shape of {@link connectionView}. */
export const ConnectionRecord = Type.Object(
  {
    clientId: Id,
    name: Type.String(),
    owner: nullableField(Type.String()),
    homepageUrl: nullableField(Type.String()),
    endpoints: Type.Array(Type.Unsafe<string>({ enum: ENDPOINT_SETS }), {
      about: 'Endpoints that it uses: v2 for /api/v2/oauth, oidc for /oidc.',
    }),
    faces: formerEndpointsRecord,
    scopes: Type.Array(Type.String(), { about: 'Scopes that the user allowed.' }),
    declinedScopes: Type.Array(Type.String(), { about: 'Scopes that the user was asked for and did not allow.' }),
    resources: Type.Array(
      Type.Object({
        name: Type.String(),
        resource: Type.String(),
        scopes: Type.Array(Type.String(), { about: 'Scopes of it that the user allowed.' }),
        declinedScopes: Type.Array(Type.String(), { about: 'Scopes of it that the user did not allow.' }),
      }),
      { about: 'Resource servers that the app may access for the user.' },
    ),
    decidedBy: Type.Unsafe<string>({
      enum: ['person', 'operator'],
      about: 'Who allowed it: the user, or an operator for everyone who uses the app.',
    }),
    connectedAt: Instant,
    lastUsedAt: nullableField(Instant, 'When it last got tokens; null where it never did.'),
    lastNetwork: nullableField(
      Type.String(),
      'From which network that was, for a public client, which runs on a device of the user; null for others, and where it is not known.',
    ),
  },
  { title: 'Connection' },
);

export const connectionView = (connection: ListedConnection) => ({
  clientId: connection.clientId,
  name: connection.name,
  owner: connection.owner,
  homepageUrl: connection.homepageUrl,
  endpoints: connection.endpoints,
  faces: formerNames(connection.endpoints),
  scopes: connection.scopes.filter((scope) => !isApiScopeId(scope)),
  declinedScopes: connection.declined.filter((scope) => !isApiScopeId(scope)),
  resources: connection.resources.map(({ name, resource, scopes, declined }) => ({
    name,
    resource,
    scopes: scopes.map((scope) => scope.name),
    declinedScopes: declined.map((scope) => scope.name),
  })),
  decidedBy: connection.decidedBy,
  connectedAt: iso(connection.connectedAt),
  lastUsedAt: isoOrNull(connection.lastUsedAt),
  lastNetwork: connection.lastNetwork,
});
