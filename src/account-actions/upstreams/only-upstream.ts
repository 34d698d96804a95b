import { findAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { findOrganization, listMembers, lockOrganization, organizationNotFound } from '../../organizations/store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { listSessions } from '../../sessions/list.ts';
import {
  clearUpstreamOfOrganization,
  findUpstreamOfOrganization,
  latestUpstreamOfSession,
  setUpstreamOfOrganization,
} from '../../upstreams/only-store.ts';
import type { OnlyUpstreamRequest } from '../../upstreams/schema.ts';
import { holdUpstream } from '../../upstreams/store.ts';
import { endSessions } from '../sign-in/end-sessions.ts';
import { upstreamNotFound } from './upstreams.ts';

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
}

/** What an organization requires, and what ended because of it. */
export interface OnlyUpstreamChange {
  readonly upstreamId: string | null;
  readonly ended: { users: number; sessions: number };
}

/** The provider that an organization names. @throws {Failure} `not found` */
export const readOnlyUpstream = (database: Database, organizationId: string): Promise<string | null> =>
  database.read(function* read(): Work<string | null> {
    if ((yield* findOrganization({ id: organizationId })) === undefined) throw organizationNotFound(organizationId);
    return (yield* findUpstreamOfOrganization({ organizationId })) ?? null;
  });

/**
 * Sets through which provider alone the members of an organization use its apps: from the next code that is issued. Owners keep a local way
 * in. With `endSessions`, what members are signed in to ends where it did not begin there: each account by itself, so that it can be run again.
 * @throws {Failure} `not found`
 */
export async function requireUpstream(
  services: Parts,
  organizationId: string,
  { upstreamId, endSessions: ends = false }: OnlyUpstreamRequest,
  origin: Origin,
): Promise<OnlyUpstreamChange> {
  const { database, clock } = services;
  await database.commit(function* set(): Work<void> {
    yield* lockOrganization({ id: organizationId });
    if ((yield* findOrganization({ id: organizationId })) === undefined) throw organizationNotFound(organizationId);
    if (upstreamId === null) yield* clearUpstreamOfOrganization({ organizationId });
    else {
      if ((yield* holdUpstream({ id: upstreamId })) === undefined) throw upstreamNotFound(upstreamId);
      yield* setUpstreamOfOrganization({ organizationId, upstreamId });
    }
    const details = { organizationId, onlyUpstreamId: upstreamId };
    yield* record({ at: clock(), type: 'organization.updated', origin, details });
  });
  const ended = { users: 0, sessions: 0 };
  if (upstreamId === null || !ends) return { upstreamId, ended };
  const members = await database.read(() => listMembers({ organizationId }));
  for (const { userId, role } of members) {
    if (role === 'OWNER') continue;
    const sessions = await endOtherSessions(services, userId, upstreamId, origin);
    if (sessions > 0) ended.users++;
    ended.sessions += sessions;
  }
  return { upstreamId, ended };
}

/** Ends what a member is signed in to, but for sessions that began at the provider. @returns how many sessions were alive */
async function endOtherSessions(
  services: Parts,
  accountId: string,
  upstreamId: string,
  origin: Origin,
): Promise<number> {
  const { database } = services;
  const account = await database.read(() => findAccount({ id: accountId }));
  if (account === undefined) return 0;
  const sessions = await listSessions(services, account);
  const kept = new Set<string>();
  for (const { sid, amr } of sessions) {
    const latest = await database.read(() => latestUpstreamOfSession({ accountId, sid }));
    if (latest === upstreamId && amr.includes('upstream')) kept.add(sid);
  }
  if (kept.size === 0) return (await endSessions(services, account, { except: '' }, origin)).sessions.length;
  const others = sessions.filter(({ sid }) => !kept.has(sid));
  for (const { sid } of others) await endSessions(services, account, { sid }, origin);
  return others.length;
}
