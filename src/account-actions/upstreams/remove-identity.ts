import { type AccountActor, recordAccountAct } from '../../accounts/act-store.ts';
import { record } from '../../audit/audit.ts';
import { listFactors } from '../../authenticators/factor-store.ts';
import { mailTexts } from '../../mail/messages.ts';
import type { Clock } from '../../platform/clock.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { conflict } from '../../platform/failure.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { isExpired } from '../../sessions/sessions.ts';
import { listAccountSessions } from '../../sessions/store.ts';
import { type ConnectedIdentity, listIdentities, removeIdentity } from '../../upstreams/identity-store.ts';
import { leaveUnconnectedGroups } from '../access/sourced-groups.ts';
import { lockToChange, saveChange } from '../accounts/accounts.ts';
import { canSpare, type WayInServices } from '../factors/last-way-in.ts';
import { accountTime } from '../notices/account-time.ts';
import { enqueueSecurityNotice, type SecurityNoticeServices } from '../notices/notices.ts';

type RemovalServices = SecurityNoticeServices &
  WayInServices &
  AccountActor & { readonly database: Database; readonly clock: Clock };

/** An identity that an operator removed, and what ended with it. */
export interface RemovedIdentity {
  readonly identity: ConnectedIdentity;
  /** How many browsers were signed in to the account. */
  readonly sessions: number;
}

/**
 * Removes an identity that a person connected, as an operator. As with a factor, every session, code and token of the account from before
 * ends: a new way in may have been set up in one that began through it. The person is told by mail.
 * @returns undefined where the person has no such identity
 * @throws {Failure} `not found`, or `conflict` where it is the last way into the account
 */
export function removeIdentityOf(
  services: RemovalServices,
  accountId: string,
  identityId: string,
  origin: Origin,
): Promise<RemovedIdentity | undefined> {
  const now = services.clock();
  return services.database.commit(function* remove(): Work<RemovedIdentity | undefined> {
    const account = yield* lockToChange(accountId);
    const identity = (yield* listIdentities({ accountId })).find(({ id }) => id === identityId);
    if (identity === undefined) return undefined;
    const factors = yield* listFactors(account);
    if (!(yield* canSpare(services, account, factors, { kind: 'identity', id: identityId }))) {
      throw conflict(
        'Without it there would be no way into this account. An admin can make a recovery link: who uses it gets a password, and every connected provider is removed.',
      );
    }
    const alive = (yield* listAccountSessions({ accountId })).filter(
      (session) => session.generation === account.generation && !isExpired(session, now),
    );
    const at = yield* accountTime(account, now);
    const changed = yield* saveChange(account, { generation: randomIdentifier() }, at, now);
    yield* removeIdentity({ id: identityId, accountId });
    yield* leaveUnconnectedGroups(accountId, origin, now);
    const facts = { what: mailTexts.noticeTexts.things.provider(identity.upstream), byOperator: true };
    yield* enqueueSecurityNotice(services, changed, 'factor removed', facts, now, changed.updatedAt);
    yield* recordAccountAct(services, accountId, 'factor removed', now);
    const details = { factor: 'upstream', name: identity.upstream };
    yield* record({ at: now, type: 'account.factor_removed', origin, accountId, details });
    return { identity, sessions: alive.length };
  });
}
