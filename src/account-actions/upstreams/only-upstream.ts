import { findAccount, takeAccountLock } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { enqueueSessionNotices, enqueueSignInNotices } from '../../credentials/logout-notices.ts';
import {
  dropCodesOfSignIn,
  type PastSignIn,
  revokeFamiliesOfSignIn,
  signInsOfCodes,
  signInsOfFamilies,
} from '../../credentials/sign-in-store.ts';
import { keepSettingChange, type SettingActor } from '../../operators/setting-store.ts';
import { ORGANIZATION_SETTINGS } from '../../organizations/settings.ts';
import { findOrganization, listMembers, lockOrganization, organizationNotFound } from '../../organizations/store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { changeOf } from '../../platform/kept-changes.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { isExpired } from '../../sessions/sessions.ts';
import { listAccountSessions, removeSession } from '../../sessions/store.ts';
import {
  clearUpstreamOfOrganization,
  findUpstreamOfOrganization,
  setUpstreamOfOrganization,
} from '../../upstreams/only-store.ts';
import { cameThrough } from '../../upstreams/rules/came-through.ts';
import type { OnlyUpstreamRequest } from '../../upstreams/schema.ts';
import { listSignInsThere } from '../../upstreams/session-store.ts';
import { holdUpstream } from '../../upstreams/store.ts';
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
 * in. With `endSessions`, what members got in other sign-ins ends: each account by itself, so that it can be run again.
 * @throws {Failure} `not found`
 */
export async function requireUpstream(
  { database, clock, operator }: Parts & SettingActor,
  organizationId: string,
  { upstreamId, endSessions: ends = false }: OnlyUpstreamRequest,
  origin: Origin,
): Promise<OnlyUpstreamChange> {
  await database.commit(function* set(): Work<void> {
    yield* lockOrganization({ id: organizationId });
    if ((yield* findOrganization({ id: organizationId })) === undefined) throw organizationNotFound(organizationId);
    const now = clock();
    const before = { onlyUpstreamId: (yield* findUpstreamOfOrganization({ organizationId })) ?? null };
    if (!(yield* setOnlyUpstream(organizationId, upstreamId))) throw upstreamNotFound(upstreamId ?? '');
    const kept = changeOf(before, { onlyUpstreamId: upstreamId }, ['onlyUpstreamId'], now);
    yield* keepSettingChange({ operator }, { kind: 'organization', id: organizationId }, kept, ORGANIZATION_SETTINGS);
    const details = { organizationId, onlyUpstreamId: upstreamId };
    yield* record({ at: now, type: 'organization.updated', origin, details });
  });
  if (upstreamId === null || !ends) return { upstreamId, ended: { users: 0, sessions: 0 } };
  return { upstreamId, ended: await endSignInsElsewhere({ database, clock }, { organizationId, upstreamId }, origin) };
}

/** Part of a unit of work that holds the lock of the organization. @returns false where there is no such upstream */
export function* setOnlyUpstream(organizationId: string, upstreamId: string | null): Work<boolean> {
  if (upstreamId === null) yield* clearUpstreamOfOrganization({ organizationId });
  else if ((yield* holdUpstream({ id: upstreamId })) === undefined) return false;
  else yield* setUpstreamOfOrganization({ organizationId, upstreamId });
  return true;
}

/** Ends what the members of an organization got in sign-ins that did not come through a provider, each account by itself. */
async function endSignInsElsewhere(
  { database, clock }: Parts,
  { organizationId, upstreamId }: { readonly organizationId: string; readonly upstreamId: string },
  origin: Origin,
): Promise<OnlyUpstreamChange['ended']> {
  const ended = { users: 0, sessions: 0 };
  const members = await database.read(() => listMembers({ organizationId }));
  for (const { userId, role } of members) {
    if (role === 'OWNER') continue;
    const found = await database.commit(() => endOthers(userId, upstreamId, origin, clock()));
    if (found === undefined) continue;
    ended.users++;
    ended.sessions += found.sessions;
  }
  return ended;
}

/** How much of a member ended: undefined where there was nothing. */
type EndedOfMember = { readonly sessions: number } | undefined;

/**
 * Ends what a member got in sign-ins that did not come through the provider: sessions, codes and tokens, also those that outlive a session. It
 * is judged by the sign-in, not by the session: a person who signs in again in one browser continues the session.
 */
function* endOthers(accountId: string, upstreamId: string, origin: Origin, now: number): Work<EndedOfMember> {
  yield* takeAccountLock({ id: accountId });
  const account = yield* findAccount({ id: accountId });
  if (account === undefined) return undefined;
  const there = yield* listSignInsThere({ accountId });
  const isOther = (signIn: PastSignIn): boolean => !cameThrough(upstreamId, there, signIn);
  // In this order, as in endSessions: a unit that waits for the session's row may issue a code, and one that waits for the code a family.
  const removed = (yield* listAccountSessions({ accountId })).filter(isOther);
  for (const { hash } of removed) yield* removeSession({ hash });
  const codes = (yield* signInsOfCodes({ accountId })).filter(isOther);
  for (const signIn of codes) yield* dropCodesOfSignIn(accountId, signIn);
  const families = (yield* signInsOfFamilies({ accountId })).filter(isOther);
  const sids = new Set(removed.map(({ sid }) => sid));
  for (const sid of sids) yield* enqueueSessionNotices(accountId, sid, now);
  for (const signIn of families) {
    if (!sids.has(signIn.sid)) yield* enqueueSignInNotices(accountId, signIn, now);
    yield* revokeFamiliesOfSignIn(accountId, signIn, now);
  }
  const { generation } = account;
  const sessions = removed.filter((one) => one.generation === generation && !isExpired(one, now)).length;
  if (sessions + codes.length + families.length === 0) return undefined;
  const details = { onlyUpstreamId: upstreamId, sessions };
  yield* record({ at: now, type: 'session.ended', origin, accountId, details });
  return { sessions };
}
