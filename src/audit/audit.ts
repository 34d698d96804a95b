import type { Work } from '../platform/database/database.ts';
import { command, joint } from '../platform/database/statement.ts';
import { deviceOf, type Origin } from '../platform/validation/origin.ts';

export const actorTypes = [
  'user',
  'client',
  'admin',
  'cli',
  'system',
  'anonymous',
] as const satisfies readonly Origin['actor']['type'][];
export type ActorType = (typeof actorTypes)[number];

/** The types of events with their meaning, as listed in docs/reference/events.md. */
export const eventTypes = {
  'sign_in.succeeded': 'A user signed in.',
  'sign_in.failed':
    'A sign-in was refused: unknown name, wrong password or code, or an account that may not sign in. For a wrong code by mail, the details name the account (`userId`).',
  'sign_in.confirmed': 'A signed-in user proved once more who they are, for a change that asks for it (`method`).',
  sign_out: 'A user signed out, or the oldest session was ended because the account had too many (`reason`).',
  'session.ended':
    'A session (`sid`), or all but one (`except`), was ended from another device, or all that did not come through the provider that an organization requires (`onlyUpstreamId`), or all since an operator, who was ended with what they did, required less of the user or opened their provider (`since`); their codes and tokens are revoked.',
  'logout.delivered': 'An app confirmed that it ended a session, or all sessions of a user.',
  'logout.unanswered': 'An app could not be notified of an ended session. Retries continue for most of a day.',
  'logout.delivery_failed': 'An app was not notified of an ended session: the last retry failed.',
  'account.created': 'An account was created, by its owner or an operator.',
  'account.updated': 'Fields of an account were changed.',
  'account.address_displaced':
    'Another person proved the email address of an account, which had not verified it: the account has no address now, and all its sessions and tokens are revoked.',
  'account.deletion_requested':
    'A person asked for the deletion of their account: all sessions and tokens are revoked, and it is deleted after 14 days.',
  'account.deletion_cancelled': 'A person came back, or an operator called the deletion of an account off.',
  'account.deleted': 'An account was deleted, by an operator or because its time to come back was over.',
  'account.username_released': 'An operator freed a username that was held after a change or a deletion.',
  'account.password_changed': 'A password was set; all earlier sessions and tokens are revoked.',
  'account.factor_added':
    'A person set up a way to prove who they are (`factor`), or replaced it. All earlier sessions and tokens are revoked, unless it is one more passkey.',
  'account.factor_removed':
    'Such a way (`factor`; of another provider its `name`) was removed; all earlier sessions and tokens are revoked.',
  'account.recovery_codes_created':
    'A person got new recovery codes, which replace the earlier ones; all earlier sessions and tokens are revoked.',
  'account.recovery_setting_changed':
    'A person chose whether a recovery by mail asks for a recovery code as well (`codeRequired`).',
  'account.factor_renamed': 'A person gave a passkey another name.',
  'account.password_removed':
    'A person with passkeys removed the password; all earlier sessions and tokens are revoked.',
  'passkey.counter_went_back':
    'A passkey was used whose counter is not above the one before (`stored`, `received`): it may have been copied. The sign-in went on.',
  'browser.trusted': 'A person chose not to be asked for the second factor in a browser (`sid`: its session).',
  'browser.distrusted': 'A person ended that choice for a browser.',
  'account.signed_out_everywhere': 'All sessions and tokens of an account were ended.',
  'account.address_verified':
    'A user showed that they read their email address; other sessions and tokens are revoked.',
  'account.address_change_requested':
    'A user asked to change their email address; a link and a code were sent to the new one.',
  'account.address_changed': 'A user changed their email address; all earlier sessions and tokens are revoked.',
  'account.address_change_undone':
    'A change of an email address was undone from the earlier address, or by going back to it; all sessions and tokens are revoked.',
  'account.earlier_address_removed':
    'A user ended the right of an earlier email address to undo a change, because its mailbox is no longer theirs.',
  'account.secured':
    'A user reported that a sign-in or a change (`report`) was not theirs: all sessions and tokens are revoked, and the account is recovered by mail.',
  'account.verification_reminded': 'An operator asked a person by mail to verify their address.',
  'account.unlocked': 'An operator ended the wait after failed attempts to sign in to an account.',
  'account.banned': 'An account was banned, or the end of its ban was changed.',
  'account.unbanned': 'A ban was lifted.',
  'account.suspended': 'An account was suspended.',
  'account.reinstated': 'A suspension was lifted.',
  'recovery.requested': 'A link to recover an account was sent by mail, with a code where a browser asked.',
  'recovery.link_created':
    'An operator created a link to recover an account (`resetFactors`: whether it removes the other factors, too).',
  'account.recovered':
    'A user set a new password by a link (`by`: mail or an operator); all earlier sessions and tokens are revoked.',
  'consent.granted':
    'A user gave an app access, or changed what it may read; or an operator had approved it (`decidedBy`).',
  'consent.denied': 'A user denied an app access, or a device (`device`).',
  'consent.narrowed': 'A user took single permissions away from an app (`scopes`), which keeps the others.',
  'consent.revoked': 'The access of an app was revoked.',
  'authorization.issued':
    'An authorization code was issued; with `device`, to a device whose code the user typed, and not to a browser.',
  'authorization.refused': 'An authorization was refused because of the state of the account.',
  'token.issued': 'A code was exchanged for tokens.',
  'token.client_issued': 'An app got an access token for itself (client credentials).',
  'token.refreshed': 'A refresh token was exchanged for its successor.',
  'token.repeated': 'A refresh was repeated within the grace period and got the same successor.',
  'token.refused': 'A code or token was refused (`reason`). UserInfo does not record expired tokens.',
  'token.wrong_kind':
    'A valid token was presented where another kind of token, or one with another audience, is required.',
  'token.forged':
    'A token was presented that none of the server’s keys signed: forged, or an HS256 ID token, which only its client can verify.',
  'token.code_replayed': 'A code was used a second time; its tokens are revoked.',
  'token.refresh_reused': 'A rotated refresh token was used again; its token family is revoked.',
  'token.revoked': 'An app revoked a token; all tokens of its family are revoked.',
  'token.foreign_client': 'A code or token was presented or introspected by a client that it was not issued to.',
  'client.auth_failed':
    'A client failed to authenticate (`reason`; `cause` if its keys could not be read; `secretId` if it sent a former secret of its own).',
  'client.created':
    'A client was registered; `registeredBy` tells one that no operator registered: metadata, open, token with `initialAccessTokenId`, or developer by the policy of the installation alone.',
  'client.updated': 'A client’s registration was changed.',
  'client.disabled': 'A client was disabled; its tokens are revoked.',
  'client.enabled': 'A client was enabled again.',
  'client.deleted': 'A client was deleted; with the `reason` unused, because nobody had allowed it in time.',
  'client.consent_approved':
    'The scopes of an app (`scopes`) were approved: people are not asked for them, or the members of an organization (`organizationId`) are not.',
  'client.consent_approval_ended':
    'The approval of the scopes of an app was withdrawn, or ended with a change of its registration.',
  'client.api_scopes_changed':
    'An API (`apiId`) let a client request scopes (`added`), or took them away (`removed`), in its tokens too.',
  'client.scope_requested':
    'The developer of an app asked operators for a scope (`scope`; of an API with its `resource`; `requestId`).',
  'client.scope_approved': 'An operator allowed that: the app may request the scope.',
  'client.scope_declined': 'An operator declined that.',
  'client.scope_request_withdrawn': 'Such a request was withdrawn, or ended with a right of who asked.',
  'client.accepted': 'An operator accepted an app that nobody had registered: it passes for a registered one.',
  'client.acceptance_ended': 'An operator withdrew that.',
  'client.domain_blocked':
    'The metadata documents of a domain (`domain`) are refused; everything that was issued to its apps is revoked (`putBack`: an operator had unblocked it, who was ended with all that it made).',
  'client.domain_unblocked': 'Apps of a domain (`domain`) may ask people again.',
  'client.self_registration_ended': 'An operator took over the registration of an app that had registered itself.',
  'initial_access_token.created': 'A token was made with which apps may register themselves (`mostUses`).',
  'initial_access_token.revoked':
    'Such a token was revoked (`apps`: how many had registered with it; `appsEnded`: whether they were disabled).',
  'registration.refused': 'A token for a registration was refused (`reason`).',
  'client.secret_added': 'A client got a second secret.',
  'client.secret_ended': 'A client’s secret was revoked.',
  'account.weaker_access_ended':
    'Sessions and tokens that a user got without a second factor were ended, because one is required since.',
  'organization.created': 'An organization was created.',
  'organization.updated': 'What an organization requires of its members was changed.',
  'organization.member_set':
    'A user became a member, or got another role (`putBack`: the one of before an operator raised it, who was ended with all that it made).',
  'organization.member_removed':
    'A user was removed from an organization, and from its groups. Sign-ins to apps that rested on that ended (`ended`), or go on by another assignment (`kept`).',
  'organization.deleted':
    'An organization was deleted, with its groups, memberships and assignments. Sign-ins to apps that rested on these ended (`ended`), or go on (`kept`).',
  'group.created': 'A group was created.',
  'group.updated': 'Fields of a group were changed.',
  'group.deleted':
    'A group was deleted, with its memberships and assignments. Sign-ins to apps that rested on these ended (`ended`), or go on (`kept`).',
  'group.member_added': 'A user was added to a group.',
  'group.member_removed':
    'A user was removed from a group. Sign-ins to apps that rested on that ended (`ended`), or go on by another assignment (`kept`).',
  'access.assigned':
    'A user, group or organization was assigned to an app, perhaps in a role, or the role was changed (`putBack`: what was there before an operator changed it, who was ended with all that it made, and since).',
  'access.unassigned':
    'An assignment to an app was taken away. Sign-ins that rested on it ended (`ended`), or go on by another one (`kept`).',
  'access.previewed':
    'An operator looked at what the tokens of a user would say in an app (`scope`: the requested scopes). Nothing was issued.',
  'admin_key.created':
    'An admin key was created, with a role (`role`), perhaps of one organization (`organizationId`) or until a certain time (`expiresAt`).',
  'admin_key.revoked':
    'An admin key was revoked, or the server was started with another `TESSERA_ADMIN_KEY` (`configured`). The unused invitations and recovery links of the key `ended`, or were `takenOver`; so did the keys and roles that it had made, if that was asked for.',
  'admin_key.refused': 'The admin API was called with an unknown or revoked key, or with one that has ended.',
  'operator.setup_link_made':
    'A link was made with which the first owner of the installation makes their account (`expiresAt`). The one before it ended.',
  'operator.role_granted':
    'An account got a role of operators (`role`), in the installation or in one organization (`organizationId`), perhaps until a certain time (`expiresAt`). With `putBack`, it had the role before an operator raised it, or took it from the only owner that was left, who was ended with all that it made.',
  'operator.role_revoked':
    'A role of operators was taken away (`role`, `organizationId`), or ended with the membership of the organization (`withMembership`). The keys and roles that the operator had made were `ended`, if that was asked for.',
  'operator.refused':
    'An operator asked for something that their role does not include (`permission`), or acted on somebody who holds that permission.',
  'account.viewed': 'An operator opened the record of a person (`part`: which part of it).',
  'upstream.created': 'Another provider was registered, through which people sign in (`upstreamId`, `name`).',
  'upstream.updated': 'The registration of such a provider was changed (`fields`).',
  'upstream.disabled':
    'Such a provider was disabled: nobody signs in through it. With `endSessions`, what people were signed in to through it ends.',
  'upstream.enabled': 'People can sign in through such a provider again.',
  'upstream.deleted': 'Such a provider was deleted, with what people had connected.',
  'upstream.sessions_ended':
    'Sessions of a user that began at another provider (`upstream`, `upstreamId`) were ended with what was issued in them, because the provider ended its session, or an operator disabled or deleted the provider (`by`).',
  'upstream.refused':
    'A sign-in through another provider (`upstream`, `upstreamId`), or a logout token of it, was refused (`reason`): by the provider, or because of what it sent.',
  'invitation.created': 'A person was invited to join.',
  'invitation.declined': 'The invited person declined an invitation.',
  'invitation.revoked': 'An invitation was revoked.',
  'invitation.accepted': 'A person accepted an invitation.',
  'keys.created': 'The first signing key of a new database was created.',
  'keys.resealed': 'A signing key was encrypted again, because the secret of the server was changed.',
  'keys.rotated': 'A new signing key was created. A key for ID tokens (`alg`) signs from `signsFrom` on.',
  'keys.dropped':
    'A signing key was removed: its access and refresh tokens are revoked, and its ID tokens no longer verify against the key set.',
  'data.recovered':
    'An operator accepted that recorded changes were lost or a backup was restored. Everything issued before is revoked (`missing`: how many events are known to be lost).',
  'data.restored':
    'A backup (`backupAt`: when it was made, if that is known) was restored. If `ended` is true, everything issued before is revoked, and consents remain (`missing`: how many events are known to be lost).',
  'mail.given_up':
    'A message (`mailId`, `kind`) was not sent: the server refused it for good, or the last retry failed (`problem`). Without `mailId`, it could not be made.',
  'mail.tested': 'An operator sent a test message.',
  'limit.exceeded': 'A rate limit was exceeded.',
  'export.requested': 'A person asked for a copy of their data.',
  'export.downloaded': 'A person downloaded the copy of their data, or their picture (`file`).',
  'list.exported':
    'An operator saved a list to a file: which (`list`), in which `format`, and what it was filtered by (`filter`).',
  'events.trimmed':
    'The oldest events were removed according to `TESSERA_AUDIT_RETENTION`: how many, and up to which id. Of a month that was dropped as a whole, how many ids it had.',
} as const;

export type EventType = keyof typeof eventTypes;

/**
 * The types of events that people see of their own account. The others are about apps, keys and operators, or happen with every use
 * of an app.
 */
export const activityTypes = [
  'sign_in.succeeded',
  'sign_in.failed',
  'sign_in.confirmed',
  'sign_out',
  'session.ended',
  'account.created',
  'account.updated',
  'account.address_displaced',
  'account.deletion_requested',
  'account.deletion_cancelled',
  'account.password_changed',
  'account.password_removed',
  'account.factor_added',
  'account.factor_removed',
  'account.factor_renamed',
  'account.recovery_codes_created',
  'account.recovery_setting_changed',
  'passkey.counter_went_back',
  'browser.trusted',
  'browser.distrusted',
  'account.signed_out_everywhere',
  'upstream.sessions_ended',
  'account.address_verified',
  'account.address_change_requested',
  'account.address_changed',
  'account.address_change_undone',
  'account.earlier_address_removed',
  'account.secured',
  'account.unlocked',
  'account.banned',
  'account.unbanned',
  'account.suspended',
  'account.reinstated',
  'recovery.requested',
  'recovery.link_created',
  'account.recovered',
  'consent.granted',
  'consent.denied',
  'consent.narrowed',
  'consent.revoked',
  'organization.member_set',
  'organization.member_removed',
  'group.member_added',
  'group.member_removed',
  'operator.role_granted',
  'operator.role_revoked',
  'access.assigned',
  'access.unassigned',
  'export.requested',
  'export.downloaded',
] as const satisfies readonly EventType[];

export type ActivityType = (typeof activityTypes)[number];

const ACTIVITY: ReadonlySet<string> = new Set(activityTypes);

export interface AuditEvent {
  readonly at: number;
  readonly type: EventType;
  readonly origin: Origin;
  readonly outcome?: 'success' | 'failure';
  readonly accountId?: string | null;
  readonly clientId?: string | null;
  /** Facts that help to understand the event; never a secret, token or password. */
  readonly details?: Readonly<Record<string, unknown>>;
}

interface EventRow {
  readonly at: number;
  readonly type: string;
  readonly outcome: string;
  readonly actorType: string;
  readonly actorId: string | null;
  readonly accountId: string | null;
  readonly clientId: string | null;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly details: string;
}

const columns = (p: EventRow) => ({
  at: p.at,
  type: p.type,
  outcome: p.outcome,
  actor_type: p.actorType,
  actor_id: p.actorId,
  account_id: p.accountId,
  client_id: p.clientId,
  address: p.address,
  request_id: p.requestId,
  details: p.details,
});
const insertEvent = command(joint({}, (db, p: EventRow) => db.insertInto('audit_event').values(columns(p))));
const insertEventAs = command((db, p: EventRow & { id: string }) =>
  db.insertInto('audit_event').values({ ...columns(p), id: p.id }),
);

/** Records an event in the unit of work that it describes, so that both commit together or not at all. */
export function* record(event: AuditEvent): Work<void> {
  yield* insertEvent(toRow(event));
}

/** Records an event under an id that is higher than any other: the ids of later events continue from it. */
export function* recordAs(id: string, event: AuditEvent): Work<void> {
  yield* insertEventAs({ ...toRow(event), id });
}

function toRow(event: AuditEvent): EventRow {
  const { roles, systemUser } = event.origin;
  return {
    at: event.at,
    type: event.type,
    outcome: event.outcome ?? 'success',
    actorType: event.origin.actor.type,
    actorId: event.origin.actor.id,
    accountId: event.accountId ?? null,
    clientId: event.clientId ?? null,
    address: event.origin.address,
    requestId: event.origin.requestId,
    details: JSON.stringify({
      ...event.details,
      ...(roles !== undefined && { actorRole: roles.join(', ') }),
      ...(systemUser !== undefined && { systemUser }),
      ...deviceDetails(event),
    }),
  };
}

/** What a person recognizes the browser by in the activity of their account; nothing where it is not known. */
function deviceDetails({ type, accountId, origin: { actor, userAgent } }: AuditEvent): object {
  const isPerson = actor.type === 'user' || actor.type === 'anonymous';
  if (!isPerson || userAgent === undefined || accountId == null || !ACTIVITY.has(type)) return {};
  const { browser, system } = deviceOf(userAgent, null);
  return { ...(browser !== null && { browser }), ...(system !== null && { system }) };
}
