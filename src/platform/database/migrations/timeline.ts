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
import { faces } from './0020-faces.ts';
import { traces } from './0021-traces.ts';
import { defaultAlgorithm } from './0022-default-algorithm.ts';
import { usedAlgorithms } from './0023-used-algorithms.ts';
import { codesOfSessions } from './0024-codes-of-sessions.ts';
import { people } from './0025-people.ts';
import { mail } from './0026-mail.ts';
import { personalData } from './0027-personal-data.ts';
import { invitations } from './0028-invitations.ts';
import { policies } from './0031-policies.ts';
import { previousAddresses } from './0032-previous-addresses.ts';
import { addRecovery } from './0033-recovery.ts';
import { ownData } from './0034-own-data.ts';
import { organizationPolicies } from './0035-organization-policies.ts';
import { requestRetries } from './0037-request-retries.ts';
import { schemaVersions } from './0038-schema-versions.ts';
import { retention } from './0039-retention.ts';
import { knownServer } from './0040-known-server.ts';
import { reviewTimes } from './0041-review-times.ts';
import { retentionIndexes } from './0042-retention-indexes.ts';
import { passwordSetAt } from './0043-password-set-at.ts';
import { mailLaneIndexes, mailLanes } from './0044-mail-lanes.ts';
import { makers } from './0047-makers.ts';
import { makerIndexes } from './0048-maker-indexes.ts';
import { asciiDomains } from './0050-ascii-domains.ts';
import { familyPathIndexes, groups } from './0052-groups.ts';
import { leftOutClaims } from './0054-left-out-claims.ts';
import { proofs } from './0055-proofs.ts';
import { apiScopes } from './0056-api-scopes.ts';
import { operatorConsent } from './0057-operator-consent.ts';
import { takenAddresses } from './0058-taken-addresses.ts';
import type { Migration, Statements } from './kinds.ts';
import { type MigrationDialect, type MigrationProgress, migrateAlong } from './migrate.ts';

/** The differences between the two databases in table definitions. */
export interface ColumnTypes {
  /** A 64-bit integer. */
  readonly int: string;
  /** A 64-bit primary key that the database generates without reusing a number. */
  readonly serial: string;
  /** Bytes of any length. */
  readonly bytes: string;
  /** Table options after the closing parenthesis. */
  readonly options: string;
  /** Whether a table must be recreated to remove a constraint. */
  readonly rebuilds: boolean;
  /** The current time in milliseconds, as an expression. */
  readonly now: string;
}

/** The migrations from an empty database to the schema of a version, in their order. */
export type Timeline = Readonly<Record<string, Migration>>;

const initial = (migrations: Readonly<Record<string, Statements>>): Timeline =>
  Object.fromEntries(Object.entries(migrations).map(([name, statements]) => [name, { kind: 'initial', statements }]));

/** The migrations of version 0.1.0. A released migration is never edited. */
const FIRST_RELEASE = initial({
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
  '0020-faces': faces,
  '0021-traces': traces,
  '0022-default-algorithm': defaultAlgorithm,
  '0023-used-algorithms': usedAlgorithms,
  '0024-codes-of-sessions': codesOfSessions,
  '0025-people': people,
  '0026-mail': mail,
  '0027-personal-data': personalData,
  '0028-invitations': invitations,
  '0031-policies': policies,
  '0032-previous-addresses': previousAddresses,
  '0033-recovery': addRecovery,
  '0034-own-data': ownData,
  '0035-organization-policies': organizationPolicies,
  '0037-request-retries': requestRetries,
});

/** The migrations since. Each says whether the version before can run on its result: see docs/reference/versions.md. */
const LATER: Readonly<Record<string, Exclude<Migration, { readonly kind: 'initial' }>>> = {
  '0038-schema-versions': { kind: 'expand', statements: schemaVersions },
  '0039-retention': { kind: 'expand', statements: retention },
  '0040-known-server': { kind: 'expand', statements: knownServer },
  '0041-review-times': reviewTimes,
  '0042-retention-indexes': retentionIndexes,
  '0043-password-set-at': { kind: 'expand', statements: passwordSetAt },
  '0044-mail-lanes': { kind: 'expand', statements: mailLanes },
  '0044-mail-lanes-indexes': mailLaneIndexes,
  '0047-makers': { kind: 'expand', statements: makers },
  '0048-maker-indexes': makerIndexes,
  '0050-ascii-domains': asciiDomains,
  '0052-groups': { kind: 'expand', statements: groups },
  '0053-family-path-indexes': familyPathIndexes,
  '0054-left-out-claims': { kind: 'expand', statements: leftOutClaims },
  '0055-proofs': { kind: 'expand', statements: proofs },
  '0056-api-scopes': { kind: 'expand', statements: apiScopes },
  '0057-operator-consent': { kind: 'expand', statements: operatorConsent },
  '0058-taken-addresses': { kind: 'expand', statements: takenAddresses },
};

/** The timeline of this version. A change is a new entry at the end. */
export const timeline: Timeline = { ...FIRST_RELEASE, ...LATER };

export { NewerDatabase } from './position.ts';

export interface MigrationOptions {
  readonly progress?: MigrationProgress | undefined;
  readonly steps?: Timeline | undefined;
}

/**
 * Migrates a database to the current schema. Pending migrations commit together, apart from those that add indexes or change many rows:
 * these are interrupted anywhere without a loss, and the next run continues them. Of several processes that start at the same time, one
 * migrates at a time. Another may take over between two batches, and each returns when all migrations are complete.
 * @returns the names of the migrations that it ran
 * @throws {NewerDatabase} when the schema needs a later version
 * @throws {MigrationFailed} when a migration fails
 */
export const migrate = (
  dialect: Dialect,
  kind: MigrationDialect,
  { progress = {}, steps = timeline }: MigrationOptions = {},
): Promise<readonly string[]> => migrateAlong(steps, dialect, kind, progress);
