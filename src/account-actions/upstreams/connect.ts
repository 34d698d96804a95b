import type { Account } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { listFactors } from '../../authenticators/factor-store.ts';
import type { Limits } from '../../limits/settings.ts';
import { mailTexts } from '../../mail/messages.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { sessionDatabase } from '../../sessions/sessions.ts';
import { findIdentity, insertIdentity, listIdentities, removeIdentity } from '../../upstreams/identity-store.ts';
import { holdUpstream, type Upstream } from '../../upstreams/store.ts';
import { whyNotVouched } from '../../upstreams/vouching.ts';
import { leaveUnconnectedGroups } from '../access/sourced-groups.ts';
import { recordProviderOpening } from '../accounts/openings.ts';
import { upstreamOriginOf, useUpstreamState } from '../authentication/upstream.ts';
import { canSpare, type WayInServices } from '../factors/last-way-in.ts';
import { accountTime } from '../notices/account-time.ts';
import { enqueueSecurityNotice, type SecurityNoticeServices } from '../notices/notices.ts';
import { deviceFacts } from '../notices/rules/notice-text.ts';
import { type ActingOwner, type Renewal, renewSession, secureInSession } from '../sign-in/renew-session.ts';
import { type JoiningPerson, newIdentity } from './join.ts';

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

/**
 * Connects an identity at an upstream to the account of a person who is signed in and has just proved who they are (decisions §14).
 * @throws {SessionEnded} where the session ended meanwhile
 */
export function connectIdentity(
  services: ConnectServices,
  { account, session, origin }: ActingOwner,
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
    yield* recordProviderOpening(upstream, accountId, 'connected', now);
    const details = { factor: 'upstream', name: upstream.name };
    yield* record({ at: now, type: 'account.factor_added', origin, accountId, details });
    const facts = { ...deviceFacts(session), what: mailTexts.noticeTexts.things.provider(upstream.displayName) };
    yield* enqueueSecurityNotice(services, account, 'factor added', facts, now, at);
    return { kind: 'connected', upstream };
  });
}

/**
 * Disconnects an identity: every session, code and token from before ends, and this browser continues in a new session.
 * @returns why it was not: it is the last way to sign in, or there is no such identity
 * @throws {SessionEnded} where the session ended meanwhile
 */
export function disconnectIdentity(
  services: ConnectServices & WayInServices & { readonly limits: Limits },
  owner: ActingOwner,
  id: string,
): Promise<Renewal | 'last way' | 'unknown'> {
  const { session, origin } = owner;
  const accountId = owner.account.id;
  return secureInSession(services, owner, function* disconnect(securing): Work<Renewal | 'last way' | 'unknown'> {
    const { account, now } = securing;
    const found = (yield* listIdentities({ accountId })).find((one) => one.id === id);
    if (found === undefined) return 'unknown';
    const factors = yield* listFactors(account);
    if (!(yield* canSpare(services, account, factors, { kind: 'identity', id }))) return 'last way';
    const renewal = yield* renewSession(services, owner, securing);
    const { account: changed } = renewal;
    yield* removeIdentity({ id, accountId });
    yield* leaveUnconnectedGroups(accountId, origin, now);
    const facts = { ...deviceFacts(session), what: mailTexts.noticeTexts.things.provider(found.upstream) };
    yield* enqueueSecurityNotice(services, changed, 'factor removed', facts, now, changed.updatedAt);
    const details = { factor: 'upstream', name: found.upstream };
    yield* record({ at: now, type: 'account.factor_removed', origin, accountId, details });
    return renewal;
  });
}
