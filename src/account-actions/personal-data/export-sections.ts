import { type Assignment, assignmentsOfPerson } from '../../access/store.ts';
import { listPreviousAddresses } from '../../accounts/previous-address-store.ts';
import type { Account } from '../../accounts/store.ts';
import { accountView } from '../../accounts/view.ts';
import { type Activity, isByOperator } from '../../audit/activity-store.ts';
import { listFactors } from '../../authenticators/factor-store.ts';
import { listPasskeys } from '../../authenticators/passkey-store.ts';
import { countRecoveryCodes } from '../../authenticators/recovery-code-store.ts';
import { requiresRecoveryCode } from '../../authenticators/recovery-setting-store.ts';
import { listTrustedBrowsers } from '../../authenticators/trusted-browser-store.ts';
import { groupClaim } from '../../claims/rules/member-claims.ts';
import { findClient } from '../../clients/store.ts';
import { type GroupOfPerson, listGroupsOfPerson } from '../../groups/store.ts';
import { findMembership } from '../../organizations/store.ts';
import { type Clock, iso, isoOrNull } from '../../platform/clock.ts';
import { pick } from '../../platform/database/columns.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { addressBucket, networkOf } from '../../platform/validation/origin.ts';
import { listSessions, sessionView } from '../../sessions/list.ts';
import { listIdentities } from '../../upstreams/identity-store.ts';
import { connectionsOf, connectionView } from '../connections/connections.ts';

interface SectionServices {
  readonly database: Database;
  readonly clock: Clock;
}

/** More apps than a person connects; the export says where it leaves some out. */
const MAX_APPS = 500;

/** The parts of an export before the activity, by their names in the file. What is a secret, or about an operator, is in none. */
export const EXPORT_SECTIONS: readonly {
  readonly name: string;
  readonly read: (services: SectionServices, account: Account) => Promise<unknown>;
}[] = [
  { name: 'account', read: readAccount },
  { name: 'signIn', read: readSignIn },
  { name: 'browsers', read: readBrowsers },
  { name: 'apps', read: readApps },
];

const NOT_EXPORTED = ['status', 'ban', 'suspension', 'deletion', 'hasPassword'] as const;

function readAccount({ database, clock }: SectionServices, account: Account): Promise<unknown> {
  const now = clock();
  const view = accountView(account, now);
  const shown = (Object.keys(view) as (keyof typeof view)[]).filter(
    (name) => !(NOT_EXPORTED as readonly string[]).includes(name),
  );
  return database.read(function* read(): Work<unknown> {
    const membership = yield* findMembership({ accountId: account.id });
    const groups = yield* allGroups(account.id);
    const assignments = yield* assignmentsOfPerson({ accountId: account.id });
    const previous = yield* listPreviousAddresses({ accountId: account.id, now });
    return {
      ...pick(view, shown),
      previousAddresses: previous.map(({ email, changedAt }) => ({ email, changedAt: iso(changedAt) })),
      organization: membership === undefined ? null : pick(membership, ['name', 'domain', 'role']),
      groups: groups.map((group) => ({ name: groupClaim(group), addedAt: iso(group.addedAt) })),
      assignments: yield* describeAssignments(assignments),
    };
  });
}

const GROUPS_AT_ONCE = 500;

function* allGroups(accountId: string): Work<readonly GroupOfPerson[]> {
  const found: GroupOfPerson[] = [];
  for (let after = '0'; ; ) {
    const page: readonly GroupOfPerson[] = yield* listGroupsOfPerson({ accountId, after, limit: GROUPS_AT_ONCE });
    found.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < GROUPS_AT_ONCE) return found;
    after = last.id;
  }
}

/** The apps that the person is assigned to, beside what groups and organizations give. */
function* describeAssignments(assignments: readonly Assignment[]): Work<unknown> {
  const described: object[] = [];
  for (const { clientId, role, createdAt } of assignments) {
    const app = (yield* findClient({ id: clientId }))?.name ?? null;
    described.push({ clientId, app, role, assignedAt: iso(createdAt) });
  }
  return described;
}

/** What the person has set up to prove who they are, without what it proves it with. */
function readSignIn({ database }: SectionServices, account: Account): Promise<unknown> {
  const accountId = account.id;
  return database.read(function* read(): Work<unknown> {
    const totp = (yield* listFactors(account)).find(({ kind }) => kind === 'totp');
    const codes = yield* countRecoveryCodes({ accountId });
    const passkeys = yield* listPasskeys({ accountId });
    const identities = yield* listIdentities({ accountId });
    return {
      password: account.passwordHash !== null,
      authenticatorApp: totp === undefined ? null : { setUpAt: iso(totp.createdAt) },
      recoveryCodes: { created: codes?.issued ?? 0, unused: codes?.left ?? 0 },
      recoveryByMailAsksForCode: yield* requiresRecoveryCode(accountId),
      otherProviders: identities.map(({ upstream, label, createdAt, lastUsedAt }) => ({
        provider: upstream,
        knownAs: label,
        connectedAt: iso(createdAt),
        lastUsedAt: isoOrNull(lastUsedAt),
      })),
      passkeys: passkeys.map(({ name, createdAt, lastUsedAt, backedUp }) => ({
        name,
        createdAt: iso(createdAt),
        lastUsedAt: isoOrNull(lastUsedAt),
        synced: backedUp,
      })),
    };
  });
}

async function readBrowsers(services: SectionServices, account: Account): Promise<unknown> {
  const { database, clock } = services;
  const { id: accountId, generation } = account;
  const now = clock();
  const sessions = await listSessions(services, account);
  const trusted = await database.read(() => listTrustedBrowsers({ accountId, generation, now }));
  return {
    signedIn: sessions.map(sessionView),
    trusted: trusted.map(({ browser, system, network, createdAt, expiresAt }) => ({
      browser,
      system,
      network,
      createdAt: iso(createdAt),
      expiresAt: iso(expiresAt),
    })),
  };
}

async function readApps(services: SectionServices, { id }: Account): Promise<unknown> {
  const found = await connectionsOf(services, id, { skip: 0, limit: MAX_APPS + 1 });
  return { complete: found.length <= MAX_APPS, connected: found.slice(0, MAX_APPS).map(connectionView) };
}

/** What an event says beside its type. Reasons that operators gave are not in it. */
const SHOWN_DETAILS = [
  'browser',
  'system',
  'method',
  'methods',
  'fields',
  'factor',
  'name',
  'scopes',
  'declined',
  'role',
  'group',
  'report',
  'file',
];

const OF_A_BROWSER: readonly string[] = ['browser', 'system'];

/**
 * An event of the activity, as it is exported. Of those who failed to sign in, the network alone: the address may be another person's.
 * Of operators neither.
 */
export function activityView({ at, type, actor, app, address, details }: Activity) {
  const byOperator = isByOperator({ actor, details });
  const hidden = byOperator ? OF_A_BROWSER : [];
  const shown = Object.entries(details).filter(([name]) => SHOWN_DETAILS.includes(name) && !hidden.includes(name));
  return {
    at: iso(at),
    type,
    // An operator may be a person who signed in.
    by: byOperator && actor === 'user' ? 'admin' : actor,
    ...(app !== null && { app }),
    ...(address !== null && actor === 'user' && !byOperator && { address }),
    ...(address !== null && actor === 'anonymous' && { network: networkOf(addressBucket(address)) }),
    ...Object.fromEntries(shown),
  };
}
