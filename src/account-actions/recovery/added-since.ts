import type { Account } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { type FactorsUndone, removeFactorsSince } from '../../authenticators/factor-removal-store.ts';
import type { TakingBack } from '../../authenticators/rules/taking-back.ts';
import type { ClientsUndone } from '../../clients/disable.ts';
import { openInvitationsOfOperator } from '../../invitations/store.ts';
import { DAY } from '../../platform/clock.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { leaveUnconnectedGroups } from '../access/sourced-groups.ts';
import { endInvitationsSince } from '../accounts/handed-out.ts';
import { revokeAccessSince } from '../connections/connections.ts';
import { type EndedMakers, endAllMadeBy, madeBy, onlyMakers } from '../makers/made.ts';
import { canReceiveMail, type SecurityNoticeServices } from '../notices/notices.ts';
import { type GoesOn, goesOnSentences, NOTHING_UNDONE, undoneSentences } from '../notices/rules/undone-text.ts';
import { endMembershipSince } from '../organizations/organizations.ts';
import { deletionCancelledMail } from '../personal-data/mails.ts';

/** What changed of an account that its owner has again. */
export interface Undone extends FactorsUndone, ClientsUndone {
  /** How many apps lost their access. */
  readonly apps: number;
  /** How many admin keys and roles ended that were made with it. */
  readonly made: number;
  /** How many other providers were disabled, or let in again whom they let in before. */
  readonly upstreams: number;
  /** How many assignments to apps and memberships ended that were given with it. */
  readonly access: number;
  /** Whose rights as operators ended: for after the commit, see `finishEnding`. */
  readonly makers: EndedMakers;
  /** The organization that it left. */
  readonly left: string | undefined;
}

/**
 * Removes what was added to an account when it may have been in foreign hands, inside a unit of work of `makingDatabase` that holds its
 * lock and gives it a new generation: factors, the access of apps, the membership of an organization, and what was made with it as an operator.
 * @param account as it was saved in this unit of work
 * @param back.decidedSince since when decisions on apps are taken back, if that is earlier than the rest
 */
export function* removeAddedSince(
  account: Pick<Account, 'id' | 'updatedAt'>,
  back: TakingBack & { readonly decidedSince?: number | undefined },
  origin: Origin,
  now: number,
): Work<Undone> {
  const { id: accountId, updatedAt: at } = account;
  const { since } = back.span;
  const { decidedSince = since } = back;
  const factors = yield* removeFactorsSince(accountId, back, at);
  yield* leaveUnconnectedGroups(accountId, origin, now);
  const apps = yield* revokeAccessSince({ accountId, since: decidedSince }, origin, now);
  const left = yield* endMembershipSince({ accountId, since }, origin, now);
  return { ...factors, apps, left, ...(yield* endMadeSince(accountId, since, origin, now)) };
}

/**
 * Ends what was made with an account, or with what was made with it, at an instant or later: admin keys, roles, invitations, secrets of apps,
 * and the apps that were registered, which are disabled.
 */
function* endMadeSince(
  accountId: string,
  since: number,
  origin: Origin,
  now: number,
): Work<ClientsUndone & Pick<Undone, 'made' | 'makers' | 'upstreams' | 'access'>> {
  const { adminKeys, roles, upstreams, access, makers, clients } = yield* endAllMadeBy(accountId, {
    ...{ operator: undefined, origin, now, since },
    *alsoEnd(maker) {
      yield* endInvitationsSince(maker.id, maker.since, origin, now);
    },
  });
  const counts = { made: adminKeys.length + roles.length, upstreams: upstreams.length, access: access.length };
  return { ...counts, makers, ...clients };
}

/**
 * What a recovery does about what was made with an account: ends it where the account may have been in foreign hands.
 * @param isOwners whether the person has shown that the account was theirs all the time: then everything goes on, and they are told of it
 * @returns what the person is told
 */
export function* settleMadeSince(
  accountId: string,
  { since, at, isOwners }: { readonly since: number; readonly at: number; readonly isOwners: boolean },
  origin: Origin,
  now: number,
): Work<Pick<Undone, 'makers'> & { readonly told: readonly string[] }> {
  if (since >= at) return { makers: onlyMakers(), told: [] };
  if (isOwners) return { makers: onlyMakers(), told: goesOnSentences(yield* listMadeSince(accountId, since, now)) };
  const { makers, ...ended } = yield* endMadeSince(accountId, since, origin, now);
  return { makers, told: undoneSentences({ ...NOTHING_UNDONE, ...ended }) };
}

function* listMadeSince(accountId: string, since: number, now: number): Work<GoesOn> {
  const { adminKeys, roles, apps, upstreams, access } = yield* madeBy(accountId, now, since);
  const invitations = yield* openInvitationsOfOperator({ operatorId: accountId, since, now });
  return {
    made: adminKeys.length + roles.length,
    invitations: invitations.length,
    apps: apps.map(({ clientId }) => clientId),
    upstreams: upstreams.length,
    access: access.length,
  };
}

/** The values of an account that is kept: who takes it back does not want its deletion. */
export const NOT_DELETED = { deletionRequestedAt: null, deletionDueAt: null } as const;

/** How long the message about a deletion that was called off may wait for the mail server. */
const MESSAGE_LIFETIME = DAY;

/** Records that the deletion of an account is called off, and tells its owner, where one was asked for. The caller saves {@link NOT_DELETED}. */
export function* callOffDeletion(
  { mail, issuer }: Pick<SecurityNoticeServices, 'mail' | 'issuer'>,
  before: Pick<Account, 'id' | 'deletionDueAt'>,
  { username, email }: Account['profile'],
  origin: Origin,
  now: number,
): Work<void> {
  const { id: accountId } = before;
  if (before.deletionDueAt === null) return;
  yield* record({ at: now, type: 'account.deletion_cancelled', origin, accountId });
  if (!canReceiveMail(email)) return;
  const content = deletionCancelledMail(username, `${issuer}/login`);
  yield* mail.enqueue({ to: email, accountId, kind: 'deletion', content, expiresAt: now + MESSAGE_LIFETIME }, now);
}
