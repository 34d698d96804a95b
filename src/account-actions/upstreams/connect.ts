import type { BrowserMark } from '../../accounts/known-browser-store.ts';
import type { Account } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { listFactors } from '../../authenticators/factor-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Limits } from '../../platform/config/limits.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { sessionDatabase } from '../../sessions/sessions.ts';
import type { Session } from '../../sessions/store.ts';
import { findIdentity, insertIdentity, listIdentities, removeIdentity } from '../../upstreams/identity-store.ts';
import { holdUpstream, type Upstream } from '../../upstreams/store.ts';
import { whyNotVouched } from '../../upstreams/vouching.ts';
import { leaveUnconnectedGroups } from '../access/sourced-groups.ts';
import { upstreamOriginOf, useUpstreamState } from '../authentication/upstream.ts';
import { canSpare, type WayInServices } from '../factors/last-way-in.ts';
import { accountTime } from '../notices/account-time.ts';
import { enqueueSecurityNotice, type SecurityNoticeServices } from '../notices/notices.ts';
import { deviceFacts } from '../notices/rules/notice-text.ts';
import { type Renewal, renewSession } from '../sign-in/renew-session.ts';
import { type JoiningPerson, newIdentity } from './join.ts';

/** A signed-in person who changes how they sign in. */
interface IdentityOwner {
  readonly account: Account;
  readonly session: Session;
  readonly browser: BrowserMark;
  readonly origin: Origin;
}

type ConnectServices = SecurityNoticeServices & { readonly database: Database; readonly clock: Clock };

/** How many identities an account may have. */
const MOST_IDENTITIES = 20;

/** Whether identities can be connected: only with a verified address, where addresses can be verified (decisions §11). */
export const mayConnect = ({ mail }: Pick<SecurityNoticeServices, 'mail'>, { profile }: Account): boolean =>
  profile.emailVerified || !mail.available;

export type ConnectResult =
  | { readonly kind: 'connected'; readonly upstream: Upstream }
  /** It is connected to this account, or to another one, which is not said of whom it is. */
  | { readonly kind: 'connected before' | 'another account' | 'too many' | 'begin again' };

const nameOf = (upstream: string): string => `signing in with “${upstream}”`;

/**
 * Connects an identity at an upstream to the account of a person who is signed in and has just proved who they are (decisions §14).
 * @throws {SessionEnded} where the session ended meanwhile
 */
export function connectIdentity(
  services: ConnectServices,
  { account, session, origin }: IdentityOwner,
  { upstreamId, generation, person, state }: Omit<JoiningPerson, 'at'>,
): Promise<ConnectResult> {
  const now = services.clock();
  const accountId = account.id;
  return sessionDatabase(services, session).commit(function* connect(): Work<ConnectResult> {
    const upstream = yield* holdUpstream({ id: upstreamId });
    if (upstream?.status !== 'active') return { kind: 'begin again' };
    const existing = yield* findIdentity({ upstreamId, issuer: person.issuer, subject: person.subject });
    if (existing !== undefined) {
      return { kind: existing.accountId === accountId ? 'connected before' : 'another account' };
    }
    if ((yield* listIdentities({ accountId })).length >= MOST_IDENTITIES) return { kind: 'too many' };
    const at = yield* accountTime(account, now);
    const identity = newIdentity(upstreamId, person, accountId, at);
    if (!(yield* useUpstreamState(state, now))) return { kind: 'begin again' };
    if (!(yield* insertIdentity(identity))) return { kind: 'another account' };
    if ((yield* whyNotVouched(upstreamOriginOf(identity, person, generation), now)) !== undefined) {
      yield* removeIdentity({ id: identity.id, accountId });
      return { kind: 'begin again' };
    }
    const details = { factor: 'upstream', name: upstream.name };
    yield* record({ at: now, type: 'account.factor_added', origin, accountId, details });
    const facts = { ...deviceFacts(session), what: nameOf(upstream.displayName) };
    yield* enqueueSecurityNotice(services, account, 'factor added', facts, now, at);
    return { kind: 'connected', upstream };
  });
}

/** Ends the unit of work in which an identity was to be removed. */
class NotDisconnected extends Error {
  readonly reason: 'last way' | 'unknown';
  constructor(reason: NotDisconnected['reason']) {
    super(reason);
    this.reason = reason;
  }
}

/**
 * Disconnects an identity: every session, code and token from before ends, and this browser continues in a new session.
 * @returns why it was not: it is the last way to sign in, or there is no such identity
 * @throws {SessionEnded} where the session ended meanwhile
 */
export async function disconnectIdentity(
  services: ConnectServices & WayInServices & { readonly limits: Limits },
  { account, session, browser, origin }: IdentityOwner,
  id: string,
): Promise<Renewal | NotDisconnected['reason']> {
  const accountId = account.id;
  const found = (await services.database.read(() => listIdentities({ accountId }))).find((one) => one.id === id);
  if (found === undefined) return 'unknown';
  const now = services.clock();
  try {
    return await renewSession(services, {
      account,
      session,
      browser,
      event: { type: 'account.factor_removed', origin, details: { factor: 'upstream', name: found.upstream } },
      *afterSave(saved): Work<void> {
        const factors = yield* listFactors(saved);
        if (!(yield* canSpare(services, saved, factors, { kind: 'identity', id })))
          throw new NotDisconnected('last way');
        if (!(yield* removeIdentity({ id, accountId }))) throw new NotDisconnected('unknown');
        yield* leaveUnconnectedGroups(accountId, origin, now);
        const facts = { ...deviceFacts(session), what: nameOf(found.upstream) };
        yield* enqueueSecurityNotice(services, saved, 'factor removed', facts, now, saved.updatedAt);
      },
    });
  } catch (error) {
    if (error instanceof NotDisconnected) return error.reason;
    throw error;
  }
}
