import { oneAtATime } from '../limits/limits.ts';
import type { Work } from '../platform/database/database.ts';
import { hostOf } from '../platform/domain-name.ts';
import { findDomain } from './blocked-domain-store.ts';
import { domainsOf } from './rules/metadata-document.ts';
import { isClaimable } from './rules/redirect-uri.ts';
import type { Client } from './store.ts';

/**
 * Part of every unit of work that registers openly or blocks a domain: they come one after the other, so that no app of a blocked domain
 * remains, and no more unused apps than there may be. It precedes the lock of a client.
 */
export const oneRegistrationAtATime = (now: number): Work<void> => oneAtATime('registrations', now);

/** Where an app sends people. */
export type Destinations = Pick<Client, 'redirectUris' | 'postLogoutRedirectUris'>;

/** The hosts of the web that an app sends people to. */
export const hostsOf = ({ redirectUris, postLogoutRedirectUris }: Destinations): readonly string[] => {
  const uris = [...redirectUris, ...postLogoutRedirectUris];
  return [...new Set(uris.filter((uri) => !isClaimable(uri)).map(hostOf))];
};

/** Whether a host is blocked, by itself or by a domain above it. */
export function* isBlockedHost(host: string): Work<boolean> {
  for (const domain of domainsOf(host)) if ((yield* findDomain({ domain })) !== undefined) return true;
  return false;
}

/** The first blocked host that an app sends people to; undefined where none is blocked. */
export function* findBlockedHost(app: Destinations): Work<string | undefined> {
  for (const host of hostsOf(app)) if (yield* isBlockedHost(host)) return host;
  return undefined;
}
