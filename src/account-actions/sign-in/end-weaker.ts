import { findAccount, listAccountIds, takeAccountLock } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { clientNotFound } from '../../clients/clients.ts';
import { findClient } from '../../clients/store.ts';
import { enqueueSessionNotices } from '../../credentials/logout-notices.ts';
import { dropCodes, revokeFamiliesOf } from '../../credentials/revocation-store.ts';
import {
  dropWeakerCodes,
  dropWeakerCodesOfApp,
  findWeakerCode,
  findWeakerCodeOfApp,
  findWeakerFamily,
  findWeakerFamilyOfApp,
  listGrantHolders,
  revokeWeakerFamilies,
  revokeWeakerFamiliesOfApp,
} from '../../credentials/weaker-store.ts';
import { findOrganization, listMembers, organizationNotFound } from '../../organizations/store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { isExpired } from '../../sessions/sessions.ts';
import { findWeakerSession, removeWeakerSessions } from '../../sessions/store.ts';

/** Of whom a second factor is required. */
export type Required =
  | { readonly organizationId: string }
  | { readonly clientId: string }
  | { readonly everyone: true };

/** What was ended. */
export interface EndedAccess {
  /** How many people it was of. */
  users: number;
  sessions: number;
  /** Authorizations of apps, each with all of its tokens. */
  authorizations: number;
}

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
}

/**
 * Ends the sessions, codes and tokens of people who used no second factor, where one has been required since. For an app, sessions go on:
 * they are raised at the next authorization. Each account is ended in a separate unit of work, with its event, so that no lock is held for
 * long; if this is interrupted, it can be run again.
 *
 * The requirement must be set before. A unit that issues a code reads it in the statement that locks the session, and in that which locks
 * the client. What is removed here waits for these locks, and then finds the code; a session that begins later is read with the requirement.
 * @throws {Failure} `not found`
 */
export async function endWeakerAccess(
  { database, clock }: Parts,
  required: Required,
  origin: Origin,
): Promise<EndedAccess> {
  const clientId = 'clientId' in required ? required.clientId : undefined;
  const total: EndedAccess = { users: 0, sessions: 0, authorizations: 0 };
  for await (const accountId of accountsOf(database, required)) {
    if (!(await database.read(() => hasWeakerAccess(accountId, clientId)))) continue;
    const ended = await database.commit(() => endOf(accountId, clientId, origin, clock()));
    if (ended === undefined) continue;
    total.users++;
    total.sessions += ended.sessions;
    total.authorizations += ended.authorizations;
  }
  return total;
}

/** How many accounts are read at a time. */
const BATCH = 500;

async function* accountsOf(database: Database, required: Required): AsyncGenerator<string> {
  if ('organizationId' in required) {
    const { organizationId } = required;
    const members = await database.read(function* read() {
      if ((yield* findOrganization({ id: organizationId })) === undefined) throw organizationNotFound(organizationId);
      return yield* listMembers({ organizationId });
    });
    for (const { userId } of members) yield userId;
    return;
  }
  const clientId = 'clientId' in required ? required.clientId : undefined;
  if (clientId !== undefined && (await database.read(() => findClient({ id: clientId }))) === undefined) {
    throw clientNotFound(clientId);
  }
  for (let after = '0'; ; ) {
    const from = after;
    const part = await database.read(function* read(): Work<readonly { id: string; accountId: string }[]> {
      const page = { after: from, limit: BATCH };
      if (clientId !== undefined) return yield* listGrantHolders({ clientId, ...page });
      return (yield* listAccountIds(page)).map(({ id }) => ({ id, accountId: id }));
    });
    for (const { id, accountId } of part) {
      after = id;
      yield accountId;
    }
    if (part.length < BATCH) return;
  }
}

function* hasWeakerAccess(accountId: string, clientId: string | undefined): Work<boolean> {
  if (clientId === undefined) {
    const has = [findWeakerSession, findWeakerCode, findWeakerFamily];
    for (const find of has) if ((yield* find({ accountId })) !== undefined) return true;
    return false;
  }
  const ofApp = { accountId, clientId };
  return (yield* findWeakerCodeOfApp(ofApp)) !== undefined || (yield* findWeakerFamilyOfApp(ofApp)) !== undefined;
}

/** Ends what one account has of it; undefined where there is nothing left. */
function* endOf(
  accountId: string,
  clientId: string | undefined,
  origin: Origin,
  now: number,
): Work<Omit<EndedAccess, 'users'> | undefined> {
  yield* takeAccountLock({ id: accountId });
  const account = yield* findAccount({ id: accountId });
  if (account === undefined) return undefined;
  // In this order, as in endSessions: a unit that waits for the session's row may issue a code, and one that waits for the code a family.
  let sessions = 0;
  if (clientId === undefined) {
    for (const session of yield* removeWeakerSessions({ accountId })) {
      // The apps of an earlier generation were notified when that ended.
      if (session.generation !== account.generation || isExpired(session, now)) continue;
      sessions++;
      const { sid } = session;
      yield* dropCodes({ accountId, sid });
      yield* enqueueSessionNotices(accountId, sid, now);
      yield* revokeFamiliesOf({ accountId, sid }, now);
    }
  }
  const codes = yield* clientId === undefined
    ? dropWeakerCodes({ accountId })
    : dropWeakerCodesOfApp({ accountId, clientId });
  const families = yield* clientId === undefined
    ? revokeWeakerFamilies({ accountId, now })
    : revokeWeakerFamiliesOfApp({ accountId, clientId, now });
  const authorizations = codes.length + families.length;
  if (sessions + authorizations === 0) return undefined;
  const details = { sessions, authorizations };
  yield* record({
    at: now,
    type: 'account.weaker_access_ended',
    origin,
    accountId,
    details,
    ...(clientId !== undefined && { clientId }),
  });
  return { sessions, authorizations };
}
