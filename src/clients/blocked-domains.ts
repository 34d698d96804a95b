import { record } from '../audit/audit.ts';
import type { Clock } from '../platform/clock.ts';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { canonicalListed } from '../platform/domain-name.ts';
import { invalid, notFound } from '../platform/failure.ts';
import type { Origin } from '../platform/validation/origin.ts';
import type { ClientActor } from './act-store.ts';
import {
  type BlockedDomain,
  findDomain,
  insertDomain,
  insertUnblocked,
  listDomains,
  removeDomain,
  removeUnblocked,
  unblockedBy,
} from './blocked-domain-store.ts';
import { hostsOf, oneRegistrationAtATime } from './blocked-hosts.ts';
import { disableClient } from './disable.ts';
import { hasHost } from './rules/metadata-document.ts';
import { LISTS_OF_STRANGERS } from './self-registration-store.ts';
import { listMetadataHosts, renewGenerationsAt } from './store.ts';

/** How many rows are read at a time. */
const PAGE = 1000;

/** The blocked domains: operators block few. */
export const listBlockedDomains = (): Work<readonly BlockedDomain[]> => listDomains({ after: '', limit: PAGE });

function checkedDomain(typed: string): string {
  const domain = canonicalListed(typed);
  if (domain === undefined) {
    throw invalid('domain must be a domain name such as app.example, or .example.com for everything below it as well.');
  }
  return domain;
}

interface Context extends ClientActor {
  readonly database: Database;
  readonly clock: Clock;
}

/**
 * Blocks a domain: its metadata documents are refused, and so are the apps of strangers that send people there, however they write it.
 * Everything that was issued to its clients is invalid from here on, also once the domain is no longer blocked.
 * @throws {Failure} `invalid`
 */
export function blockDomain(
  { database, clock, operator }: Context,
  typed: string,
  origin: Origin,
): Promise<BlockedDomain> {
  const domain = checkedDomain(typed);
  const now = clock();
  return database.commit(() => block({ domain, createdAt: now, blockedBy: operator?.id ?? null }, {}, origin, now));
}

/** Blocks a domain, inside a unit of work. */
function* block(
  wanted: BlockedDomain,
  why: { readonly putBack?: true },
  origin: Origin,
  now: number,
): Work<BlockedDomain> {
  const { domain } = wanted;
  yield* oneRegistrationAtATime(now);
  const added = yield* insertDomain(wanted);
  yield* removeUnblocked({ domain });
  yield* endAll(domain);
  yield* disableAppsOfStrangers(domain, now, origin);
  if (added === undefined) return (yield* findDomain({ domain })) ?? wanted;
  yield* record({ at: now, type: 'client.domain_blocked', origin, details: { domain, ...why } });
  return added;
}

/** Ends everything that was issued to the clients of a domain. */
function* endAll(domain: string): Work<void> {
  const generation = randomIdentifier();
  for (let after = ''; ; ) {
    const hosts = yield* listMetadataHosts({ after, limit: PAGE });
    for (const host of hosts) if (hasHost([domain], host)) yield* renewGenerationsAt({ host, generation });
    const last = hosts.at(-1);
    if (last === undefined || hosts.length < PAGE) return;
    after = last;
  }
}

/** Disables the apps that strangers registered and that send people to a domain, unless an operator has accepted them. */
function* disableAppsOfStrangers(domain: string, now: number, origin: Origin): Work<void> {
  for (const listAfter of Object.values(LISTS_OF_STRANGERS)) {
    for (let after = '0'; ; ) {
      const apps = yield* listAfter({ after, limit: PAGE });
      for (const app of apps) {
        const leadsThere = hostsOf(app).some((host) => hasHost([domain], host));
        if (leadsThere) yield* disableClient(app.id, now, origin);
      }
      const last = apps.at(-1);
      if (last === undefined || apps.length < PAGE) break;
      after = last.id;
    }
  }
}

/** Lets clients of a domain ask people again. What was issued to them before stays invalid. @throws {Failure} `not found` */
export async function unblockDomain(
  { database, clock, operator }: Context,
  typed: string,
  origin: Origin,
): Promise<void> {
  const domain = checkedDomain(typed);
  const now = clock();
  await database.commit(function* unblock(): Work<void> {
    const blocked = yield* removeDomain({ domain });
    if (blocked === undefined) throw notFound(`The domain ${domain} is not blocked.`);
    if (operator !== undefined) yield* insertUnblocked({ ...blocked, operatorId: operator.id, unblockedAt: now });
    yield* record({ at: now, type: 'client.domain_unblocked', origin, details: { domain } });
  });
}

/** An operator of whose unblocking is asked: what was done earlier than an instant stays. */
interface MakerOfDomains {
  readonly id: string;
  readonly since: number;
  readonly until: number;
}

/**
 * What operators unblocked last, as it was blocked before. Also by them: who blocked it and unblocked it again may have done so to have it
 * forgotten who had blocked it first.
 */
function* unblockedAmong(makers: readonly MakerOfDomains[]): Work<readonly BlockedDomain[]> {
  const found: BlockedDomain[] = [];
  for (const { id: operatorId, since, until } of makers) {
    found.push(...(yield* unblockedBy({ operatorId, since, until })));
  }
  return found.sort((one, other) => (one.domain < other.domain ? -1 : 1));
}

/** The domains that operators unblocked and nobody has blocked since. */
export function* domainsUnblockedBy(makers: readonly MakerOfDomains[]): Work<readonly string[]> {
  return (yield* unblockedAmong(makers)).map(({ domain }) => domain);
}

/**
 * Blocks the domains again that operators unblocked, inside a unit of work that has locked no client yet. What was issued meanwhile to
 * their clients ends, as where a domain is blocked for the first time.
 * @returns them
 */
export function* blockAgain(makers: readonly MakerOfDomains[], origin: Origin, now: number): Work<readonly string[]> {
  const unblocked = yield* unblockedAmong(makers);
  for (const before of unblocked) yield* block(before, { putBack: true }, origin, now);
  return unblocked.map(({ domain }) => domain);
}
