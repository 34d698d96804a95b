import { liveGrantsOf } from '../../access/operator-grant-store.ts';
import { recordAccountAct } from '../../accounts/act-store.ts';
import { mayAct } from '../../accounts/rules/may-act.ts';
import { type Account, findAccount, lockAccount } from '../../accounts/store.ts';
import { type HandsOut, holdHandingKey, makingDatabase } from '../../admin-keys/hand-out.ts';
import { behind, holdAdminKey, isAdminKeyLive } from '../../admin-keys/live.ts';
import { lockMaking } from '../../admin-keys/store.ts';
import { record } from '../../audit/audit.ts';
import type { Invitation } from '../../invitations/store.ts';
import * as store from '../../invitations/store.ts';
import { endOperatorLinks } from '../../mail/challenges.ts';
import type { Mailer } from '../../mail/mail.ts';
import { mailTexts } from '../../mail/messages.ts';
import { upsertMember } from '../../organizations/member-store.ts';
import { findMembership, findOrganization, organizationNotFound, type Role } from '../../organizations/store.ts';
import { type Clock, DAY, iso, isoOrNull } from '../../platform/clock.ts';
import { digest, isSecretForm, randomSecret } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { canonicalEmail } from '../../platform/domain-name.ts';
import { conflict, type Failure, invalid, noneWithId } from '../../platform/failure.ts';
import { Id, Instant, nullableField } from '../../platform/http/operation.ts';
import { type Ids, isSnowflake } from '../../platform/ids/ids.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import * as Type from '../../platform/validation/type.ts';
import { type SessionServices, sessionDatabase } from '../../sessions/sessions.ts';
import type { Session } from '../../sessions/store.ts';
import { accountTime } from '../notices/account-time.ts';
import { enqueueSecurityNotice, type SecurityNoticeServices } from '../notices/notices.ts';
import { deviceFacts } from '../notices/rules/notice-text.ts';
import { type ActingOperator, grantOfMembership, requireGivable } from '../operators/grants.ts';
import { mayInviteTo, requireOwnName, requireRevocable } from '../operators/open-invitations.ts';
import { requireModerate } from './moderation.ts';
import { type JoinObstacle, obstacleToJoining } from './obstacles.ts';
import { mayGive, mayInvite } from './rules.ts';

const ROLES = ['OWNER', 'ADMIN', 'MEMBER'] as const;
const DEFAULT_DAYS = 7;

export const CreateInvitationRequest = Type.Object(
  {
    email: Type.Optional(
      Type.String({
        maxLength: 254,
        format: 'email',
        about: 'Binds the invitation to this address. With mail, the link is sent there.',
        description: 'an email address such as ada@example.com',
      }),
    ),
    organizationId: Type.Optional(Type.String({ about: 'The organization to join.', description: 'an ID' })),
    role: Type.Optional(
      Type.Unsafe<Role>({
        enum: ROLES,
        about: 'The role in the organization. Without an email address: MEMBER at most.',
        description: `one of ${ROLES.join(', ')}`,
      }),
    ),
    inviterId: Type.Optional(
      Type.String({
        about:
          'The OWNER or ADMIN of the organization in whose name it is, and who must still be one on acceptance. A role of an organization names nobody but the person who made the key.',
        description: 'an ID',
      }),
    ),
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 90, about: 'Default 7.', description: 'a whole number from 1 to 90' }),
    ),
  },
  { additionalProperties: false, description: 'an object', title: 'CreateInvitationRequest' },
);
export type CreateInvitationRequest = Type.Static<typeof CreateInvitationRequest>;

/** An invitation in the admin API, as made by `invitationView`. */
export const InvitationRecord = Type.Object(
  {
    id: Id,
    email: nullableField(Type.String(), 'Null for an open link.'),
    organizationId: nullableField(Id),
    role: nullableField(Type.String()),
    inviterId: nullableField(Id, 'Null where an operator invites.'),
    createdAt: Instant,
    expiresAt: Instant,
    usedAt: nullableField(Instant),
    usedBy: nullableField(Id),
    link: Type.Optional(
      Type.String({ about: 'The link, only in the answer that creates it; absent where it was mailed.' }),
    ),
  },
  { title: 'Invitation' },
);

export const invitationView = (invitation: Invitation) => ({
  id: invitation.id,
  email: invitation.email,
  organizationId: invitation.organizationId,
  role: invitation.role,
  inviterId: invitation.inviterId,
  createdAt: iso(invitation.createdAt),
  expiresAt: iso(invitation.expiresAt),
  usedAt: isoOrNull(invitation.usedAt),
  usedBy: invitation.usedBy,
});

export const invitationNotFound = (id: string): Failure =>
  noneWithId('open invitation', id, { command: 'invite list', path: 'invitations' });

interface InvitationsContext {
  readonly database: Database;
  readonly clock: Clock;
}

/**
 * Creates an invitation. With an address and mail, its link is sent there and shown to nobody, so that it proves the address.
 * @returns the invitation, and its link unless that was mailed
 * @throws {Failure} `invalid`, `not found`, `conflict` where the inviter has no right to invite, or `insufficient permission` where the
 *   operator may not give the role
 */
export async function createInvitation(
  context: InvitationsContext &
    ActingOperator &
    HandsOut & {
      readonly ids: Ids;
      /** The operator who invites as a person: it ends with their role. */
      readonly operatorId?: string;
      readonly mail: Mailer;
      readonly issuer: string;
    },
  input: CreateInvitationRequest,
  origin: Origin,
): Promise<{ readonly invitation: Invitation; readonly link: string | undefined }> {
  const { database, clock, ids, mail, issuer, adminKeyId, operator, operatorId = null } = context;
  const { organizationId = null, role = null, inviterId = null, days = DEFAULT_DAYS } = input;
  const email = input.email === undefined ? null : canonicalEmail(input.email);
  if (organizationId === null && (role !== null || inviterId !== null)) {
    throw invalid('organizationId is missing: a role and an inviter belong to an organization.');
  }
  if (!mayGive(email, role)) {
    throw invalid(`role must be MEMBER without an email address, since anyone may use the link; got ${role}.`);
  }
  for (const [field, id] of Object.entries({ organizationId, inviterId })) {
    if (id !== null && !isSnowflake(id)) throw invalid(`${field} must be an ID, as the admin API gives it.`);
  }
  const grant = organizationId === null ? undefined : grantOfMembership(organizationId, role);
  const now = clock();
  const secret = randomSecret();
  const link = `${issuer}/invitation?link=${secret}`;
  const mailed = email !== null && mail.available;
  const expiresAt = now + days * DAY;
  const invitation: Invitation = {
    ...{ id: await ids.next(), hash: digest(secret), email, mailed, organizationId, role, inviterId, adminKeyId },
    ...{ operatorId, createdAt: now, expiresAt, usedAt: null, usedBy: null },
  };
  await database.commit(function* create(): Work<void> {
    requireGivable(operator, grant);
    yield* requireOwnName(operator, inviterId);
    yield* holdHandingKey(context, now);
    const organization = organizationId === null ? undefined : yield* findOrganization({ id: organizationId });
    if (organizationId !== null && organization === undefined) {
      throw organizationNotFound(organizationId);
    }
    if (!(yield* hasRight(invitation, now))) {
      throw conflict(
        'inviterId must be an active OWNER or ADMIN of the organization, whose role is not below the invited.',
      );
    }
    if (operator !== undefined) yield* requireModerate(operator, invitation, now);
    yield* store.insertInvitation(invitation);
    if (email !== null && mailed) {
      const content = mailTexts.invitations.invited({
        organization: organization?.name,
        url: link,
        days,
        host: new URL(issuer).host,
      });
      yield* mail.enqueue(
        { to: email, accountId: null, kind: 'invitation', content, expiresAt, restsOn: invitation.hash },
        now,
      );
    }
    const details = { invitationId: invitation.id, organizationId, role };
    yield* record({ at: now, type: 'invitation.created', origin, details });
  });
  return { invitation, link: mailed ? undefined : link };
}

/**
 * Revokes an invitation that was not used.
 * @throws {Failure} `not found`, or `insufficient permission` for an invitation to more than the operator's own role
 */
export async function revokeInvitation(
  { database, clock, operator }: InvitationsContext & ActingOperator,
  id: string,
  origin: Origin,
): Promise<void> {
  const now = clock();
  await database.commit(function* revoke(): Work<void> {
    const invitation = yield* store.findInvitation({ id });
    if (invitation !== undefined) requireRevocable(operator, invitation);
    if (!(yield* store.removeInvitation({ id }))) throw invitationNotFound(id);
    yield* record({ at: now, type: 'invitation.revoked', origin, details: { invitationId: id } });
  });
}

/** Whether the operator who invited as a person still may. */
function* mayStillInvite(invitation: Invitation, now: number): Work<boolean> {
  const { operatorId } = invitation;
  if (operatorId === null) return true;
  const account = yield* findAccount({ id: operatorId });
  if (account === undefined || !mayAct(account, now)) return false;
  return mayInviteTo({ id: operatorId, grants: yield* liveGrantsOf(operatorId, now) }, invitation);
}

/** Whether the inviter still has the right to invite, locked until the unit of work ends. */
function* hasRight(invitation: Invitation, now: number): Work<boolean> {
  const { inviterId, organizationId, role, adminKeyId } = invitation;
  if (!(yield* mayStillInvite(invitation, now))) return false;
  if (adminKeyId !== null && !(yield* holdAdminKey(adminKeyId, now))) return false;
  if (inviterId === null) return true;
  const inviter = yield* lockAccount({ id: inviterId });
  if (inviter === undefined || !mayAct(inviter, now)) return false;
  const member = yield* store.lockMemberRole({ accountId: inviterId, organizationId: organizationId ?? '0' });
  return member !== undefined && mayInvite(member.role, role);
}

/** An invitation that can still be accepted, with what its person is told of it. */
export interface OpenInvitation {
  readonly invitation: Invitation;
  readonly organization: { readonly name: string; readonly domain: string } | undefined;
  /** The name of the member who invites; undefined for an operator. */
  readonly inviter: string | undefined;
  /** Whether somebody else invites in the name of the member. */
  readonly isInName: boolean;
}

/**
 * Finds the invitation of a link; undefined where it is unknown, revoked, used, expired or of an admin key that has ended. Changes
 * nothing.
 */
export function* findOpenInvitation(link: string, now: number): Work<OpenInvitation | undefined> {
  if (!isSecretForm(link)) return undefined;
  const invitation = yield* store.findInvitationByHash({ hash: digest(link) });
  if (invitation === undefined || invitation.usedAt !== null || invitation.expiresAt <= now) return undefined;
  const { organizationId, adminKeyId, inviterId } = invitation;
  if (adminKeyId !== null && !(yield* isAdminKeyLive(adminKeyId, now))) return undefined;
  if (!(yield* mayStillInvite(invitation, now))) return undefined;
  const organization = organizationId === null ? undefined : yield* findOrganization({ id: organizationId });
  const inviter = inviterId === null ? undefined : yield* findAccount({ id: inviterId });
  const isInName = adminKeyId === null || (yield* behind(adminKeyId)) !== inviterId;
  return { invitation, organization, inviter: inviter?.profile.displayName, isInName };
}

/** The name of the organization that a person joined by this link before; undefined where somebody else used it, or nobody. */
export function* findJoined(link: string, accountId: string): Work<string | undefined> {
  const invitation = isSecretForm(link) ? yield* store.findInvitationByHash({ hash: digest(link) }) : undefined;
  if (invitation === undefined || invitation.usedBy !== accountId || invitation.organizationId === null)
    return undefined;
  const membership = yield* findMembership({ accountId });
  return membership?.id === invitation.organizationId ? membership.name : undefined;
}

/**
 * Declines an invitation, which ends it. Everybody who has the link may: it was sent to one address. A link that anyone may use is not
 * declined, or a stranger could end it for the others.
 * @returns whether there was an invitation to decline
 */
export async function declineInvitation(
  { database, clock }: InvitationsContext,
  link: string,
  origin: Origin,
): Promise<boolean> {
  const now = clock();
  return database.commit(function* decline(): Work<boolean> {
    const open = yield* findOpenInvitation(link, now);
    if (open === undefined || open.invitation.email === null) return false;
    const { id, organizationId } = open.invitation;
    if (!(yield* store.removeInvitation({ id }))) return false;
    yield* record({ at: now, type: 'invitation.declined', origin, details: { invitationId: id, organizationId } });
    return true;
  });
}

export type Refusal =
  /** Unknown, revoked, used, expired, or the inviter lost the right. */
  'dead' | JoinObstacle['kind'];

/** Thrown inside the unit of work, so that nothing of it is kept. */
export class InvitationRefused extends Error {
  override readonly name = 'InvitationRefused';
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(`The invitation was refused: ${refusal}`);
    this.refusal = refusal;
  }
}

/** An organization by its name, and the role there; null for a member without one. */
interface JoinedOrganization {
  readonly organization: string;
  readonly role: OpenInvitation['invitation']['role'];
}

/**
 * Joins an organization by an invitation, as a person who is signed in and has proved who they are. The person is told by mail: with a
 * stolen session or password, somebody else may have accepted it.
 * @returns of which organization the person is a member now and as what; undefined for an invitation to none
 * @throws {InvitationRefused}
 * @throws {SessionEnded} where the session ended meanwhile
 */
export async function joinByInvitation(
  services: SessionServices & SecurityNoticeServices,
  {
    account: { id },
    session,
    origin,
  }: { readonly account: Account; readonly session: Session; readonly origin: Origin },
  link: string,
): Promise<JoinedOrganization | undefined> {
  const now = services.clock();
  // Who ends the maker of the invitation ends the role that it gives, too.
  const own = { ...services, database: makingDatabase(services.database) };
  return sessionDatabase(own, session).commit(function* join(): Work<JoinedOrganization | undefined> {
    const account = yield* lockAccount({ id });
    if (account === undefined) throw new InvitationRefused('dead');
    const at = yield* accountTime(account, now);
    const { joined } = yield* acceptInvitation(link, account, now, origin, at);
    if (joined === undefined) return undefined;
    const facts = { ...deviceFacts(session), what: joined.organization };
    yield* enqueueSecurityNotice(services, account, 'organization joined', facts, now, at);
    return joined;
  });
}

/**
 * Accepts an invitation, inside the unit of work that creates the account or holds its lock. What it depends on is checked again here.
 * @param at the time of the account
 * @returns the organization that the person joined, if there is one, and the operator who invited; null for a member and the
 *   command line
 * @throws {InvitationRefused}
 */
function* acceptInvitation(
  link: string,
  account: Account,
  now: number,
  origin: Origin,
  at = now,
): Work<{ readonly joined: JoinedOrganization | undefined; readonly madeBy: string | null }> {
  const open = yield* findOpenInvitation(link, now);
  if (open === undefined) throw new InvitationRefused('dead');
  const { invitation } = open;
  const { organizationId, role } = invitation;
  // What ends the maker with all that it made finds the membership, or is found here.
  const madeBy = invitation.adminKeyId ?? invitation.operatorId;
  const grant = organizationId === null ? undefined : grantOfMembership(organizationId, role);
  if (grant !== undefined || madeBy !== null) yield* lockMaking({});
  if (!(yield* hasRight(invitation, now))) throw new InvitationRefused('dead');
  const obstacle = yield* obstacleToJoining(invitation, account, now);
  if (obstacle !== undefined) throw new InvitationRefused(obstacle.kind);
  if (!(yield* store.spendInvitation({ id: invitation.id, now: at, usedBy: account.id }))) {
    throw new InvitationRefused('dead');
  }
  if (organizationId !== null) {
    if (
      !(yield* upsertMember({
        organizationId,
        accountId: account.id,
        role,
        madeBy,
        now: at,
      }))
    ) {
      throw new InvitationRefused('other organization');
    }
    if (grant !== undefined) yield* endOperatorLinks(account.id);
    yield* record({
      at: now,
      type: 'organization.member_set',
      origin,
      accountId: account.id,
      details: { organizationId, role },
    });
  }
  const details = { invitationId: invitation.id };
  yield* record({ at: now, type: 'invitation.accepted', origin, accountId: account.id, details });
  const { organization } = open;
  return { joined: organization && { organization: organization.name, role }, madeBy };
}

/** {@link acceptInvitation} for an account that was created in this unit of work: who invited the person let the account come to be. */
export function* joinInvited(link: string, account: Account, now: number, origin: Origin): Work<void> {
  const { madeBy } = yield* acceptInvitation(link, account, now, origin);
  if (madeBy !== null) yield* recordAccountAct({ operator: { id: madeBy } }, account.id, 'invited', account.createdAt);
}
