import { expand, type Timeline } from '../platform/database/migrations/kinds.ts';
import type { MigrationOptions } from '../platform/database/migrations/migrate.ts';
import { accountTables } from './0001-accounts.ts';
import { clientTables } from './0002-clients.ts';
import { organizationTables } from './0003-organizations.ts';
import { signInTables } from './0004-sign-in.ts';
import { tokenTables } from './0005-tokens.ts';
import { serviceTables } from './0006-service.ts';
import { mailTables } from './0007-mail.ts';
import { replacedValues } from './0008-replaced-values.ts';
import { operators } from './0009-operators.ts';
import { knownBrowserIndexes, knownBrowsers } from './0010-known-browsers.ts';
import { devices } from './0011-devices.ts';
import { secretIndexes } from './0012-secret-indexes.ts';
import { unregisteredClients } from './0013-unregistered-clients.ts';
import { setupLink } from './0014-setup-link.ts';
import { registration } from './0015-registration.ts';
import { upstreams } from './0016-upstreams.ts';
import { idempotency } from './0017-idempotency.ts';
import { upstreamKinds } from './0018-upstream-kinds.ts';
import { invitationOperators } from './0019-invitation-operators.ts';
import { lastNetworks } from './0020-last-networks.ts';
import { upstreamDomains } from './0021-upstream-domains.ts';
import { membershipMakers } from './0022-membership-makers.ts';
import { organizationUpstream } from './0023-organization-upstream.ts';
import { clientActs } from './0024-client-acts.ts';
import { eventCounts } from './0025-event-counts.ts';
import { upstreamClaims } from './0026-upstream-claims.ts';
import { makerIndexes, makerRecords } from './0027-maker-records.ts';
import { upstreamGeneration } from './0028-upstream-generation.ts';
import { bulkActs } from './0029-bulk-acts.ts';
import { upstreamPictures } from './0030-upstream-pictures.ts';
import { accountActs } from './0031-account-acts.ts';
import { givenRights } from './0032-given-rights.ts';
import { settingChanges } from './0033-setting-changes.ts';
import { endedFactors } from './0034-ended-factors.ts';
import { accountOpenings } from './0035-account-openings.ts';
import { unblockedDomains } from './0036-unblocked-domains.ts';
import { scopeRequests } from './0037-scope-requests.ts';
import { upstreamEffects } from './0038-upstream-effects.ts';
import { narrowedClients } from './0039-narrowed-clients.ts';
import { rightChanges } from './0040-right-changes.ts';
import { resourceMarks } from './0041-resource-marks.ts';
import { providerOpenings } from './0042-provider-openings.ts';
import { statusChanges } from './0043-status-changes.ts';
import { rightHolders } from './0044-right-holders.ts';

/** The schema of version 0.2.0, with a migration for each group of tables. A released migration is never edited. */
const BASELINE: Timeline = {
  '0001-accounts': expand(accountTables),
  '0002-clients': expand(clientTables),
  '0003-organizations': expand(organizationTables),
  '0004-sign-in': expand(signInTables),
  '0005-tokens': expand(tokenTables),
  '0006-service': expand(serviceTables),
  '0007-mail': expand(mailTables),
};

/**
 * The timeline of this version. A change is a new entry at the end, which says whether the version before can run on its result: see
 * docs/reference/versions.md.
 */
export const timeline: Timeline = {
  ...BASELINE,
  '0008-replaced-values': expand(replacedValues),
  '0009-operators': expand(operators),
  '0010-known-browsers': expand(knownBrowsers),
  '0010-known-browsers-indexes': knownBrowserIndexes,
  '0011-devices': expand(devices),
  '0012-secret-indexes': secretIndexes,
  '0013-unregistered-clients': expand(unregisteredClients),
  '0014-setup-link': expand(setupLink),
  '0015-registration': expand(registration),
  '0016-upstreams': expand(upstreams),
  '0017-idempotency': expand(idempotency),
  '0018-upstream-kinds': expand(upstreamKinds),
  '0019-invitation-operators': expand(invitationOperators),
  '0020-last-networks': expand(lastNetworks),
  '0021-upstream-domains': expand(upstreamDomains),
  '0022-membership-makers': expand(membershipMakers),
  '0023-organization-upstream': expand(organizationUpstream),
  '0024-client-acts': expand(clientActs),
  '0025-event-counts': expand(eventCounts),
  '0026-upstream-claims': expand(upstreamClaims),
  '0027-maker-records': expand(makerRecords),
  '0027-maker-records-indexes': makerIndexes,
  '0028-upstream-generation': expand(upstreamGeneration),
  '0029-bulk-acts': expand(bulkActs),
  '0030-upstream-pictures': expand(upstreamPictures),
  '0031-account-acts': expand(accountActs),
  '0032-given-rights': expand(givenRights),
  '0033-setting-changes': expand(settingChanges),
  '0034-ended-factors': expand(endedFactors),
  '0035-account-openings': expand(accountOpenings),
  '0036-unblocked-domains': expand(unblockedDomains),
  '0037-scope-requests': expand(scopeRequests),
  '0038-upstream-effects': expand(upstreamEffects),
  '0039-narrowed-clients': expand(narrowedClients),
  '0040-right-changes': expand(rightChanges),
  '0041-resource-marks': expand(resourceMarks),
  '0042-provider-openings': expand(providerOpenings),
  '0043-status-changes': expand(statusChanges),
  '0044-right-holders': rightHolders,
};

/** A database is migrated to the schema of this version. */
export const toCurrentSchema: MigrationOptions = { steps: timeline };
