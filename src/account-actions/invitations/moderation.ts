import { emailKey } from '../../accounts/rules/profile.ts';
import { type Invitation, openInvitationsTo } from '../../invitations/store.ts';
import { takeWithin } from '../../limits/limits.ts';
import { holds, INSTALLATION, type Operator } from '../../operators/rights.ts';
import { DAY } from '../../platform/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import { conflict, Failure } from '../../platform/failure.ts';

/** How many open invitations to an organization one of its own operators has. */
const MOST_OPEN = 500;
/** How many an organization makes in a day, with all its operators and keys, also where it revokes them; and how many of these are messages. */
const MOST_IN_DAY = { count: 1000, windowMs: DAY };
const MOST_MESSAGES = { count: 500, windowMs: DAY };
/** How often an organization invites one address, also where it revokes the invitations: each may be a message. */
const MOST_TO_ADDRESS = { count: 5, windowMs: DAY };

/**
 * Who holds a role of one organization alone neither fills the tables nor the mailbox of a stranger. It holds the lock of those who hand
 * something out, so that they are counted one after the other.
 * @throws {Failure} `conflict`, `limited`
 */
export function* requireModerate(
  operator: Operator,
  { organizationId, adminKeyId, operatorId, email }: Invitation,
  now: number,
): Work<void> {
  if (organizationId === null || holds(operator, 'invitations.manage', INSTALLATION)) return;
  const maker = { organizationId, adminKeyId, operatorId };
  if ((yield* openInvitationsTo({ ...maker, now, limit: MOST_OPEN })).length === MOST_OPEN) {
    throw conflict(
      `${MOST_OPEN} of your invitations to this organization are open. Revoke those that nobody needs, or wait until they are used or expire.`,
    );
  }
  if (!(yield* takeWithin(`invitations of ${organizationId}`, MOST_IN_DAY, now))) {
    throw tooMany(
      `This organization has made ${MOST_IN_DAY.count} invitations within a day. Make others in a day, or ask an operator of the whole installation.`,
    );
  }
  if (email === null) return;
  if (!(yield* takeWithin(`invitations by mail of ${organizationId}`, MOST_MESSAGES, now))) {
    throw tooMany(
      `This organization has invited ${MOST_MESSAGES.count} people by mail within a day. Invite others in a day, or ask an operator of the whole installation.`,
    );
  }
  const bucket = `invitations of ${organizationId} to ${digest(emailKey(email))}`;
  if (yield* takeWithin(bucket, MOST_TO_ADDRESS, now)) return;
  throw tooMany(
    `This organization has invited this address ${MOST_TO_ADDRESS.count} times within a day. Ask the person to open the message that was sent, or invite them again in a day.`,
  );
}

const tooMany = (message: string): Failure => new Failure('limited', message, { retryAfter: DAY / 1000 });
