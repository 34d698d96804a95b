import { findAccount, takeAccountLock } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { enqueueSessionNotices } from '../../credentials/logout-notices.ts';
import { dropCodes, revokeFamiliesOf } from '../../credentials/revocation-store.ts';
import { releaseGroupsOfSource } from '../../groups/source-store.ts';
import { claim } from '../../limits/limits.ts';
import type { Clock } from '../../platform/clock.ts';
import { HOUR } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { finishingDatabase } from '../../platform/database/finishing.ts';
import { conflict } from '../../platform/failure.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { isExpired } from '../../sessions/sessions.ts';
import { removeSessions } from '../../sessions/store.ts';
import { recordUpstreamStatus, type UpstreamActor } from '../../upstreams/act-store.ts';
import { findIdentity, recordIdentityEnd } from '../../upstreams/identity-store.ts';
import { organizationsOfUpstream } from '../../upstreams/only-store.ts';
import type { UpstreamLogout } from '../../upstreams/rules/logout-token.ts';
import {
  accountsOfUpstream,
  forgetUpstreamSession,
  sessionsOfAccount,
  sessionsOfIdentity,
  sessionsOfUpstreamSid,
} from '../../upstreams/session-store.ts';
import { disabled, lockUpstream, removeUpstream, saveUpstream, type Upstream } from '../../upstreams/store.ts';
import { rememberEnd, rememberEndOfAll } from '../../upstreams/vouching.ts';
import { sourceOfUpstream } from '../access/sourced-groups.ts';
import { endRemovedSession } from '../sign-in/end-sessions.ts';
import { upstreamNotFound } from './upstreams.ts';

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
}

/** What ended of what people got through an upstream. */
export interface EndedThroughUpstream {
  users: number;
  sessions: number;
}

/** How many accounts are read at a time. */
const BATCH = 500;

/**
 * Disables an upstream: nobody signs in through it from then on, and sign-ins that are under way are refused. With `endSessions`,
 * everything ends that people were signed in to through it, tokens that outlive their session included. Each account is a unit of work,
 * with its event, so that no lock is held for long; if this is interrupted, it can be run again.
 * @throws {Failure} `not found`
 */
export async function disableUpstream(
  { database, clock, operator }: Parts & UpstreamActor,
  id: string,
  { endSessions }: { readonly endSessions: boolean },
  origin: Origin,
): Promise<{ readonly upstream: Upstream; readonly ended: EndedThroughUpstream }> {
  const now = clock();
  // A sign-in holds the row: it comes before this, and is found below, or after it, and is refused.
  const upstream = await database.commit(function* disable(): Work<Upstream> {
    const found = yield* lockUpstream({ id });
    if (found === undefined) throw upstreamNotFound(id);
    if (found.status === 'disabled') return found;
    const changed = disabled(found, now);
    yield* saveUpstream(changed);
    yield* recordUpstreamStatus({ operator }, found, changed);
    const details = { upstreamId: id, name: found.name, endSessions };
    yield* record({ at: now, type: 'upstream.disabled', origin, details });
    return changed;
  });
  if (!endSessions) return { upstream, ended: { users: 0, sessions: 0 } };
  return { upstream, ended: await endSessionsThrough({ database, clock }, upstream, origin) };
}

/** Ends everything that people were signed in to through an upstream that is disabled: see {@link disableUpstream}. */
export async function endSessionsThrough(
  { database, clock }: Parts,
  upstream: Upstream,
  origin: Origin,
): Promise<EndedThroughUpstream> {
  const ended: EndedThroughUpstream = { users: 0, sessions: 0 };
  for (let after = '0'; ; ) {
    const from = after;
    const accounts = await database.read(() =>
      accountsOfUpstream({ upstreamId: upstream.id, after: from, limit: BATCH }),
    );
    for (const accountId of accounts) {
      after = accountId;
      const sessions = await database.commit(() => endAllOf(accountId, upstream, origin, clock()));
      ended.users++;
      ended.sessions += sessions;
    }
    if (accounts.length < BATCH) return ended;
  }
}

/** Ends what an account was signed in to through an upstream. @returns how many sessions were alive */
function* endAllOf(accountId: string, { id, name }: Upstream, origin: Origin, now: number): Work<number> {
  yield* takeAccountLock({ id: accountId });
  const account = yield* findAccount({ id: accountId });
  if (account === undefined) return 0;
  let alive = 0;
  for (const { sid } of yield* sessionsOfAccount({ upstreamId: id, accountId })) {
    // In this order, as in endSessions: a unit that waits for the session's row may issue a code, and one that waits for the code a family.
    const removed = yield* removeSessions(accountId, { sid });
    yield* dropCodes({ accountId, sid });
    yield* enqueueSessionNotices(accountId, sid, now);
    yield* revokeFamiliesOf({ accountId, sid }, now);
    yield* forgetUpstreamSession({ accountId, sid });
    alive += removed.filter((one) => one.generation === account.generation && !isExpired(one, now)).length;
  }
  const details = { upstream: name, upstreamId: id, sessions: alive, by: 'operator' };
  yield* record({ at: now, type: 'upstream.sessions_ended', origin, accountId, details });
  return alive;
}

/**
 * Deletes an upstream that is disabled, with the identities that were connected through it and everything that people were signed in to
 * through it. That comes first: an interrupted deletion leaves an upstream that can be deleted. Its groups are maintained by operators.
 * @throws {Failure} `not found`, or `conflict` where it is active, or an organization names it
 */
export async function deleteUpstream({ database: own, clock }: Parts, id: string, origin: Origin): Promise<void> {
  const upstream = await own.commit(() => lockUnused(id));
  // It goes on where the session of the operator ends with the others.
  const database = finishingDatabase(own);
  await endSessionsThrough({ database, clock }, upstream, origin);
  await database.commit(function* remove(): Work<void> {
    const { name, generation } = yield* lockUnused(id);
    if (generation !== upstream.generation) throw conflict('This upstream was enabled meanwhile. Delete it again.');
    yield* releaseGroupsOfSource({ source: sourceOfUpstream(id) });
    yield* removeUpstream({ id });
    yield* record({ at: clock(), type: 'upstream.deleted', origin, details: { upstreamId: id, name } });
  });
}

/** Locks an upstream that may be deleted. @throws {Failure} */
function* lockUnused(id: string): Work<Upstream> {
  const upstream = yield* lockUpstream({ id });
  if (upstream === undefined) throw upstreamNotFound(id);
  if (upstream.status === 'active') throw conflict('This upstream is active. Disable it first.');
  const [organizationId] = yield* organizationsOfUpstream({ upstreamId: id });
  if (organizationId === undefined) return upstream;
  throw conflict(
    `The organization ${organizationId} lets its members in only through this upstream. Change that first.`,
  );
}

/** For how long a logout token is remembered: longer than one is accepted. */
const TOKEN_MEMORY = HOUR;

/**
 * Ends what an upstream says has ended: the sessions that began in its session, or all that began through the person's identity, with what
 * is bound to them. Tokens that may outlive a session live on (decisions §14). First the end is remembered, which waits for the sign-ins
 * that hold the upstream: those that come later see it, and the sessions of the others are there to be ended. So does an upstream that is
 * disabled: its sessions go on until somebody ends them, and it may still say that one is over.
 * @returns `repeated` for a token that was used before
 */
export async function endByUpstream(
  { database, clock }: Parts,
  upstreamId: string,
  logout: UpstreamLogout,
  origin: Origin,
): Promise<'ended' | 'repeated' | 'unknown'> {
  const now = clock();
  const upstream = await database.commit(() => rememberLogout(upstreamId, logout, now));
  if (upstream === undefined) return 'unknown';
  return database.commit(function* end() {
    if (!(yield* claim(`logout token ${upstreamId} ${logout.jti}`, TOKEN_MEMORY, now))) return 'repeated';
    const affected = yield* sessionsToEnd(upstreamId, logout);
    // Always in this order, so that no two units of work wait for each other's locks.
    const accountIds = [...new Set(affected.map(({ accountId }) => accountId))].sort();
    for (const id of accountIds) yield* takeAccountLock({ id });
    // Read again: one that was renewed meanwhile has another id.
    const found = yield* sessionsToEnd(upstreamId, logout);
    for (const accountId of accountIds) {
      const sids = found.filter((one) => one.accountId === accountId).map(({ sid }) => sid);
      yield* endBound(accountId, sids, upstream, origin, now);
    }
    return 'ended';
  });
}

function* rememberLogout(
  upstreamId: string,
  { issuer, sid, subject, issuedAt }: UpstreamLogout,
  now: number,
): Work<Upstream | undefined> {
  const upstream = yield* lockUpstream({ id: upstreamId });
  if (upstream === undefined) return undefined;
  if (sid !== null) yield* rememberEnd({ upstreamId, upstreamSid: sid }, now);
  else {
    const identity = subject === null ? undefined : yield* findIdentity({ upstreamId, issuer, subject });
    if (identity !== undefined) yield* recordIdentityEnd({ id: identity.id, at: issuedAt });
    else if (subject !== null) yield* rememberEndOfAll({ upstreamId, issuer, subject }, issuedAt, now);
  }
  return upstream;
}

function* sessionsToEnd(upstreamId: string, { issuer, sid, subject }: UpstreamLogout) {
  const identity = subject === null ? undefined : yield* findIdentity({ upstreamId, issuer, subject });
  if (sid === null) {
    return identity === undefined ? [] : yield* sessionsOfIdentity({ upstreamId, identityId: identity.id });
  }
  const found = yield* sessionsOfUpstreamSid({ upstreamId, upstreamSid: sid });
  // A token that names both is about this person's session (OpenID Connect Back-Channel Logout 1.0 §2.6). A subject that is not known here
  // keeps no session alive: Entra names people by another ID in these tokens, and the identity may have been disconnected since.
  return identity === undefined ? found : found.filter(({ accountId }) => accountId === identity.accountId);
}

/** Part of a unit of work that holds the lock of the account. */
function* endBound(
  accountId: string,
  sids: readonly string[],
  { id, name }: Upstream,
  origin: Origin,
  now: number,
): Work<void> {
  let alive = 0;
  for (const sid of sids) {
    for (const removed of yield* removeSessions(accountId, { sid })) {
      yield* endRemovedSession(removed, now);
      if (!isExpired(removed, now)) alive++;
    }
  }
  if (alive === 0) return;
  const details = { upstream: name, upstreamId: id, sessions: alive, by: 'upstream' };
  yield* record({ at: now, type: 'upstream.sessions_ended', origin, accountId, details });
}
