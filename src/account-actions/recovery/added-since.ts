import { isOffboarded } from '../../accounts/rules/may-act.ts';
import type { Account } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { type FactorsUndone, removeFactorsSince } from '../../authenticators/factor-removal-store.ts';
import type { TakingBack } from '../../authenticators/rules/taking-back.ts';
import type { ClientsUndone } from '../../clients/disable.ts';
import { openInvitationsOfOperator } from '../../invitations/store.ts';
import type { Sealer } from '../../keys/sealer.ts';
import { mailTexts } from '../../mail/messages.ts';
import type { Operator } from '../../operators/rights.ts';
import { DAY } from '../../platform/clock.ts';
import { pick } from '../../platform/database/columns.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { leaveUnconnectedGroups } from '../access/sourced-groups.ts';
import { endInvitationsOf } from '../accounts/handed-out.ts';
import { endRequestsOf } from '../accounts/waiting-requests.ts';
import { revokeAccessSince } from '../connections/connections.ts';
import { letGoOf } from '../makers/let-go.ts';
import { idsOfMade, isNothing, type Made, madeBy } from '../makers/list-made.ts';
import { type EndedMakers, endAllMadeBy, onlyMakers } from '../makers/made.ts';
import {
  canReceiveMail,
  firstUnanswered,
  type SecurityNoticeServices,
  UNTOLD,
  unansweredSince,
} from '../notices/notices.ts';
import { type GoesOn, goesOnSentences, NOTHING_UNDONE, undoneSentences } from '../notices/rules/undone-text.ts';
import { endMembershipSince } from '../organizations/organizations.ts';

/** What changed of an account that its owner has again. */
export interface Undone extends FactorsUndone, ClientsUndone {
  /** How many apps lost their access. */
  readonly apps: number;
  /** How many admin keys and roles ended that were made with it. */
  readonly made: number;
  /** How many other providers were disabled, or let in again whom they let in before. */
  readonly upstreams: number;
  /** Of how many apps, organizations and groups settings ended that were changed with it, and how many domains are blocked again. */
  readonly settings: number;
  /** The apps, organizations, groups and other providers with settings that stay, by their ids. */
  readonly leftSettings: readonly string[];
  /** How many assignments to apps and memberships ended that were given with it. */
  readonly access: number;
  /** How many roles, memberships and assignments of others that were raised with it are as they were before. */
  readonly rights: number;
  /** How many were taken away with it, or made less. */
  readonly lostRights: number;
  /** How many accounts were suspended that were created with it. */
  readonly suspended: number;
  /** The other accounts that were created or changed with it. */
  readonly changed: readonly string[];
  /** The accounts of other operators through which a part of what ended was made. */
  readonly through: readonly string[];
  /** Whose rights as operators ended: for after the commit, see `finishEnding`. */
  readonly makers: EndedMakers;
  /**
   * What goes on: what an operator who decided so could not end, and what another operator let go on; undefined where the person decided, or the
   * command line, and nobody let anything go on.
   */
  readonly goesOn: Made | undefined;
  /** The same, for the person who decided; undefined where nobody let anything go on. */
  readonly letGo: GoesOn | undefined;
  /** The organization that it left. */
  readonly left: string | undefined;
}

/**
 * When the first act was that nobody answered, and how long before it a recovery takes back what nobody is told of: {@link UNTOLD}, but not where
 * somebody only signed in, nor before the link of an operator.
 */
export function* unansweredSpan(
  sealer: Sealer,
  accountId: string,
  at: number,
): Work<readonly [since: number, untold: number]> {
  const first = yield* firstUnanswered(sealer, accountId, at);
  const saysNothing = first === undefined || first === 'new device' || first === 'recovery link made';
  return [yield* unansweredSince(sealer, accountId, at), saysNothing ? 0 : UNTOLD];
}

interface DecidedBack {
  readonly operator?: Operator | undefined;
  /** Whether that ends, too, which another operator let go on who took a role of the person away. */
  readonly endsLetGo?: boolean;
  readonly decidedSince?: number | undefined;
}

/**
 * Removes what was added to an account when it may have been in foreign hands, inside a unit of work of `makingDatabase` that holds its
 * lock and gives it a new generation: factors, the access of apps, the membership of an organization, and what was made with it as an operator.
 * @param account as it was saved in this unit of work
 * @param back.operator the operator who decides so, if it is none of the person's acts: what the operator may not end goes on
 * @param back.decidedSince since when that is taken back which nobody is told of, decisions on apps and what the person did to accounts as an
 *   operator: by default {@link UNTOLD} before the rest
 */
export function* removeAddedSince(
  account: Pick<Account, 'id' | 'updatedAt'>,
  back: TakingBack & DecidedBack,
  origin: Origin,
  now: number,
): Work<Undone> {
  const { id: accountId, updatedAt: at } = account;
  const { since } = back.span;
  const { decidedSince = since - UNTOLD } = back;
  const factors = yield* removeFactorsSince(accountId, back, at);
  yield* leaveUnconnectedGroups(accountId, origin, now);
  const apps = yield* revokeAccessSince({ accountId, since: decidedSince }, origin, now);
  const left = yield* endMembershipSince({ accountId, since }, origin, now);
  return {
    ...factors,
    apps,
    left,
    ...(yield* endMadeSince(accountId, { since, openedSince: decidedSince, ...back }, origin, now)),
  };
}

/**
 * Ends what was made with an account, or with what was made with it, at an instant or later: admin keys, roles, invitations, secrets of apps,
 * the apps that were registered, which are disabled, and the accounts that were created, which are suspended. What another operator let go on, who took a
 * role of the person away, goes on, and is told.
 */
function* endMadeSince(
  accountId: string,
  { since, openedSince, operator, endsLetGo = false }: Pick<SinceRecovery, 'since' | 'openedSince'> & DecidedBack,
  origin: Origin,
  now: number,
): Work<ClientsUndone & Omit<Undone, keyof FactorsUndone | keyof ClientsUndone | 'apps' | 'left'>> {
  const letGo = endsLetGo ? [] : yield* letGoOf(accountId, { since, openedSince, now, by: operator });
  const ended = yield* endAllMadeBy(accountId, {
    ...{ operator, origin, now, since, openedSince, letGo, sparesStronger: true },
    *alsoEnd(maker) {
      yield* endInvitationsOf(maker, origin, now);
      yield* endRequestsOf(maker, origin, now);
    },
  });
  const { adminKeys, roles, unblockedDomains, settings, upstreams, access, changedRights, accounts, through } = ended;
  const { makers, clients } = ended;
  const counts = {
    made: adminKeys.length + roles.length,
    upstreams: upstreams.length,
    access: access.length,
    rights: changedRights.filter(({ isWhole }) => isWhole).length,
    lostRights: changedRights.filter(({ isWhole }) => !isWhole).length,
  };
  const suspended = accounts.filter(({ ends }) => ends).length;
  const changed = accounts.filter(({ ends }) => !ends).map(({ accountId: id }) => id);
  const back = settings.filter(({ fields }) => fields.length > 0).length + unblockedDomains.length;
  const registered = clients.registered + settings.filter(({ disables }) => disables).length;
  const leftSettings = settings.filter((one) => one.left.length > 0).map(({ id }) => id);
  const isToldAll = operator === undefined && letGo.length === 0;
  const goesOn = isToldAll ? undefined : yield* madeBy(accountId, now, since, openedSince);
  const told = { accounts: new Set(changed), settings: new Set(leftSettings) };
  const opened = through.map(({ accountId: id }) => id);
  return {
    ...{ ...counts, settings: back, leftSettings, suspended, changed, through: opened, makers, goesOn },
    ...{ ...clients, registered },
    letGo: operator === undefined && goesOn !== undefined ? countMade(goesOn, told) : undefined,
  };
}

/** What was made, also through the accounts of others, as the person is told. @param told what the message says elsewhere */
function countMade(
  { through, ...made }: Made,
  told: { readonly accounts: ReadonlySet<string>; readonly settings: ReadonlySet<string> },
): GoesOn {
  const all = [made, ...through.map((one) => one.made)];
  const settings = all.flatMap((one) => one.settings).filter(({ id }) => !told.settings.has(id));
  const accountIds = [...all.flatMap(({ accounts }) => accounts), ...through].map(({ accountId }) => accountId);
  const count = (...names: readonly ('adminKeys' | 'roles' | 'upstreams' | 'access' | 'changedRights')[]): number =>
    names.flatMap((name) => all.map((one) => one[name].length)).reduce((sum, length) => sum + length, 0);
  return {
    made: count('adminKeys', 'roles'),
    invitations: 0,
    apps: [...new Set(all.flatMap(({ apps }) => apps.map(({ clientId }) => clientId)))],
    upstreams: count('upstreams'),
    settings: settings.length + all.flatMap(({ unblockedDomains }) => unblockedDomains).length,
    access: count('access'),
    rights: count('changedRights'),
    accounts: [...new Set(accountIds)].filter((id) => !told.accounts.has(id)),
  };
}

interface SinceRecovery {
  readonly since: number;
  readonly openedSince: number;
  readonly at: number;
  readonly isOwners: boolean;
  readonly operator: Operator | undefined;
}

/**
 * What a recovery does about what was made with an account: ends it where the account may have been in foreign hands.
 * @param openedSince since when what was done to accounts ends, of which nobody is told when it is done
 * @param isOwners whether the person has shown that the account was theirs all the time: then everything goes on, and they are told of it
 * @param operator whose link it was: what that operator may not end goes on; undefined for the command line, and for a recovery by mail
 * @returns what the person is told
 */
export function* settleMadeSince(
  accountId: string,
  { since, openedSince, at, isOwners, operator }: SinceRecovery,
  origin: Origin,
  now: number,
): Work<Pick<Undone, 'makers' | 'goesOn'> & { readonly told: readonly string[] }> {
  if (since >= at) return { makers: onlyMakers(), goesOn: undefined, told: [] };
  if (isOwners) {
    return {
      makers: onlyMakers(),
      goesOn: undefined,
      told: goesOnSentences(yield* listMadeSince(accountId, since, now)),
    };
  }
  const { makers, goesOn, ...ended } = yield* endMadeSince(accountId, { since, openedSince, operator }, origin, now);
  const left = operator === undefined ? [] : goesOnSentences(yield* listMadeSince(accountId, since, now));
  return { makers, goesOn, told: [...undoneSentences({ ...NOTHING_UNDONE, ...ended }), ...left] };
}

function* listMadeSince(accountId: string, since: number, now: number): Work<GoesOn> {
  const made = yield* madeBy(accountId, now, since);
  const invitations = yield* openInvitationsOfOperator({ operatorId: accountId, since, now });
  return { ...countMade(made, { accounts: new Set(), settings: new Set() }), invitations: invitations.length };
}

/** What an event says of what an operator could not end, and what another operator let go on. */
export const leftDetails = (undone: Pick<Undone, 'goesOn'> | undefined) =>
  undone?.goesOn === undefined || isNothing(undone.goesOn) ? {} : { left: idsOfMade(undone.goesOn) };

/** What changes in an account that its owner takes back: who does so does not want its deletion. What an operator decided holds. */
export const keptFromDeletion = (account: Account): Pick<Account, 'deletionRequestedAt' | 'deletionDueAt'> =>
  isOffboarded(account)
    ? pick(account, ['deletionRequestedAt', 'deletionDueAt'])
    : { deletionRequestedAt: null, deletionDueAt: null };

/** How long the message about a deletion that was called off may wait for the mail server. */
const MESSAGE_LIFETIME = DAY;

/** Records that a deletion is called off, and tells the owner; does nothing where none is. The caller saves {@link keptFromDeletion}. */
export function* callOffDeletion(
  { mail, issuer }: Pick<SecurityNoticeServices, 'mail' | 'issuer'>,
  before: Account,
  { username, email }: Account['profile'],
  why: 'recovered' | 'secured',
  origin: Origin,
  now: number,
): Work<void> {
  const { id: accountId } = before;
  if (before.deletionDueAt === null || isOffboarded(before)) return;
  yield* record({ at: now, type: 'account.deletion_cancelled', origin, accountId });
  if (!canReceiveMail(email)) return;
  const url = `${issuer}${why === 'secured' ? '/recover' : '/login'}`;
  const content = mailTexts.personalData.deletionCancelled[why]({ username, url });
  yield* mail.enqueue({ to: email, accountId, kind: 'deletion', content, expiresAt: now + MESSAGE_LIFETIME }, now);
}
