import { oneAtATime } from '../limits/limits.ts';
import type { Work } from '../platform/database/database.ts';
import { findDomain } from './blocked-domain-store.ts';
import { domainsOf } from './rules/metadata-document.ts';
import { isClaimable } from './rules/redirect-uri.ts';

/**
 * Part of every unit of work that registers openly or blocks a domain: they come one after the other, so that no app of a blocked domain
 * remains, and no more unused apps than there may be. It precedes the lock of a client.
 */
export const oneRegistrationAtATime = (now: number): Work<void> => oneAtATime('registrations', now);

/** The hosts of the web that an app sends people to. */
export const redirectHosts = (uris: readonly string[]): readonly string[] => [
  ...new Set(uris.filter((uri) => !isClaimable(uri)).map((uri) => new URL(uri).hostname)),
];

/** Whether a host is blocked, by itself or by a domain above it. */
export function* isBlockedHost(host: string): Work<boolean> {
  for (const domain of domainsOf(host)) if ((yield* findDomain({ domain })) !== undefined) return true;
  return false;
}

/** The first blocked host that redirect URIs send people to; undefined where none is blocked. */
export function* findBlockedHost(uris: readonly string[]): Work<string | undefined> {
  for (const host of redirectHosts(uris)) if (yield* isBlockedHost(host)) return host;
  return undefined;
}
