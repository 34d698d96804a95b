import { record } from '../audit/audit.ts';
import type { Clock } from '../platform/clock.ts';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { asciiDomain } from '../platform/domain-name.ts';
import { invalid, notFound } from '../platform/failure.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { type BlockedDomain, findDomain, insertDomain, listDomains, removeDomain } from './blocked-domain-store.ts';
import { disableClient } from './disable.ts';
import { domainsOf, hasHost } from './rules/metadata-document.ts';
import { oneRegistrationAtATime, redirectHosts } from './self-registration.ts';
import { listSelfRegistered } from './self-registration-store.ts';
import { listMetadataHosts, renewGenerationsAt } from './store.ts';

/** How many rows are read at a time. */
const PAGE = 1000;

/** The blocked domains: operators block few. */
export const listBlockedDomains = (): Work<readonly BlockedDomain[]> => listDomains({ after: '', limit: PAGE });

/** Whether a host is blocked, by itself or by a domain above it. */
export function* isBlockedHost(host: string): Work<boolean> {
  for (const domain of domainsOf(host)) if ((yield* findDomain({ domain })) !== undefined) return true;
  return false;
}

/** A domain as it is stored: in lower case and ASCII, perhaps with a dot in front. */
function checkedDomain(typed: string): string {
  const name = typed.replace(/^\./, '').toLowerCase();
  const domain = name === 'localhost' ? name : asciiDomain(name);
  if (domain === undefined) {
    throw invalid('domain must be a domain name such as app.example, or .example.com for everything below it as well.');
  }
  return typed.startsWith('.') ? `.${domain}` : domain;
}

interface Context {
  readonly database: Database;
  readonly clock: Clock;
}

/**
 * Blocks a domain: its metadata documents are refused, and so are apps that register themselves and send people there. Everything that was
 * issued to its clients is invalid from here on, also once the domain is no longer blocked.
 * @throws {Failure} `invalid`
 */
export function blockDomain({ database, clock }: Context, typed: string, origin: Origin): Promise<BlockedDomain> {
  const domain = checkedDomain(typed);
  const now = clock();
  return database.commit(function* block(): Work<BlockedDomain> {
    yield* oneRegistrationAtATime(now);
    const added = yield* insertDomain({ domain, now });
    yield* endAll(domain);
    yield* disableSelfRegistered(domain, now, origin);
    if (added !== undefined) {
      yield* record({ at: now, type: 'client.domain_blocked', origin, details: { domain } });
      return added;
    }
    return (yield* findDomain({ domain })) ?? { domain, createdAt: now };
  });
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

/** Disables the apps that registered themselves and send people to a domain, unless an operator has accepted them. */
function* disableSelfRegistered(domain: string, now: number, origin: Origin): Work<void> {
  for (let after = '0'; ; ) {
    const apps = yield* listSelfRegistered({ after, limit: PAGE });
    for (const { id, redirectUris } of apps) {
      if (redirectHosts(redirectUris).some((host) => hasHost([domain], host))) yield* disableClient(id, now, origin);
    }
    const last = apps.at(-1);
    if (last === undefined || apps.length < PAGE) return;
    after = last.id;
  }
}

/** Lets clients of a domain ask people again. What was issued to them before stays invalid. @throws {Failure} `not found` */
export async function unblockDomain({ database, clock }: Context, typed: string, origin: Origin): Promise<void> {
  const domain = checkedDomain(typed);
  const now = clock();
  await database.commit(function* unblock(): Work<void> {
    if (!(yield* removeDomain({ domain }))) throw notFound(`The domain ${domain} is not blocked.`);
    yield* record({ at: now, type: 'client.domain_unblocked', origin, details: { domain } });
  });
}
