import type { Dialect } from 'kysely';
import { contract } from './0001-contract.ts';
import { standardClients } from './0002-standard-clients.ts';
import { clientTokens } from './0003-client-tokens.ts';
import { clientAssertions } from './0004-client-assertions.ts';
import { requestedClaims } from './0005-requested-claims.ts';
import { logout } from './0006-logout.ts';
import { clientOrigins } from './0007-client-origins.ts';
import { resources } from './0008-resources.ts';
import { addPictures } from './0009-pictures.ts';
import { sessionDevices } from './0010-session-devices.ts';
import { addPlayground } from './0011-playground.ts';
import { fewerIndexes } from './0012-fewer-indexes.ts';
import { revokedByGrant } from './0013-revoked-by-grant.ts';
import { pendingState } from './0014-pending-state.ts';
import { withdrawnScopes } from './0015-withdrawn-scopes.ts';
import { personalDetails } from './0016-personal-details.ts';
import { consentRevocations } from './0017-consent-revocations.ts';
import { sessionAuthentication } from './0018-session-authentication.ts';
import { clientContacts } from './0019-client-contacts.ts';
import { type MigrationDialect, type MigrationProgress, migrateAlong } from './migrate.ts';

/** What the two databases spell differently in a table definition. */
export interface ColumnTypes {
  /** A 64-bit integer. */
  readonly int: string;
  /** A 64-bit primary key that the database numbers itself, never giving a number twice. */
  readonly serial: string;
  /** Octets of any length. */
  readonly bytes: string;
  /** Table options after the closing parenthesis. */
  readonly options: string;
  /** Whether a table must be made anew to lose a constraint. */
  readonly rebuilds: boolean;
}

/** The steps that lead from an empty database to a version's schema, in their order. */
export type Timeline = Readonly<Record<string, (types: ColumnTypes) => readonly string[]>>;

/** The one timeline. A migration that has landed is never edited; the next change is a new entry at the end. */
export const timeline: Timeline = {
  '0001-contract': contract,
  '0002-standard-clients': standardClients,
  '0003-client-tokens': clientTokens,
  '0004-client-assertions': clientAssertions,
  '0005-requested-claims': requestedClaims,
  '0006-logout': logout,
  '0007-client-origins': clientOrigins,
  '0008-resources': resources,
  '0009-pictures': addPictures,
  '0010-session-devices': sessionDevices,
  '0011-playground': addPlayground,
  '0012-fewer-indexes': fewerIndexes,
  '0013-revoked-by-grant': revokedByGrant,
  '0014-pending-state': pendingState,
  '0015-withdrawn-scopes': withdrawnScopes,
  '0016-personal-details': personalDetails,
  '0017-consent-revocations': consentRevocations,
  '0018-session-authentication': sessionAuthentication,
  '0019-client-contacts': clientContacts,
};

export { NewerDatabase } from './position.ts';

export interface MigrationOptions {
  readonly progress?: MigrationProgress | undefined;
  readonly steps?: Timeline | undefined;
}

/**
 * Brings a database to the current schema, and answers the names of the steps that it ran. All of them hold together or
 * none does. Of many processes that come at the same time one runs them, and the others wait and find nothing to do.
 * @throws {NewerDatabase} when a later version migrated it already
 * @throws {MigrationFailed} when a step fails
 */
export const migrate = (
  dialect: Dialect,
  kind: MigrationDialect,
  { progress = {}, steps = timeline }: MigrationOptions = {},
): Promise<readonly string[]> => migrateAlong(steps, dialect, kind, progress);
