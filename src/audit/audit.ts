import type { Work } from '../platform/database/database.ts';
import { run, statement } from '../platform/database/statement.ts';
import type { Origin } from '../platform/http/origin.ts';

export const actorTypes = [
  'user',
  'client',
  'admin',
  'cli',
  'system',
  'anonymous',
] as const satisfies readonly Origin['actor']['type'][];
export type ActorType = (typeof actorTypes)[number];

/** The kinds of events. docs/reference/events.md lists them with their meaning. */
export const eventTypes = {
  'sign_in.succeeded': 'A person signed in.',
  'sign_in.failed': 'A sign-in was refused: unknown name, wrong password, or an account that may not sign in.',
  sign_out: 'A person ended a session, or a newer one took its place because the account had too many (`reason`).',
  'session.ended':
    'A session (`sid`), or all but one (`except`), was ended from elsewhere; its codes and tokens are dead.',
  'logout.delivered': 'An app has answered that it ended a session, or every session of a person.',
  'logout.unanswered': 'An app could not be told of an ended session; it is tried again for most of a day.',
  'logout.delivery_failed': 'An app was not told of an ended session: the last try failed too.',
  'account.created': 'An account was made, by its owner or an operator.',
  'account.updated': 'Fields of an account were changed.',
  'account.deleted': 'An account was deleted.',
  'account.password_changed': 'A password was set; all sessions and tokens from before are dead.',
  'account.signed_out_everywhere': 'All sessions and tokens of an account were ended.',
  'account.banned': 'An account was banned, or the end of its ban replaced.',
  'account.unbanned': 'A ban was lifted.',
  'account.suspended': 'An account was suspended.',
  'account.reinstated': 'A suspension was lifted.',
  'consent.granted': 'A person allowed an app, or changed what it may see.',
  'consent.denied': 'A person refused an app.',
  'consent.revoked': 'Access of an app was taken away.',
  'authorization.issued': 'An authorization code was issued.',
  'authorization.refused': 'An authorization was refused because of the state of the account.',
  'token.issued': 'A code was exchanged for tokens.',
  'token.client_issued': 'An app got an access token for itself.',
  'token.refreshed': 'A refresh token was exchanged for its successor.',
  'token.repeated': 'A refresh was repeated inside the grace window and got the same successor.',
  'token.refused': 'A code or token was refused: `reason`. At UserInfo only what is not merely expired.',
  'token.wrong_kind': 'A token of ours was presented where another kind, or a token for another place, belongs.',
  'token.forged':
    'Something in the form of a token was presented that no key of ours signed: forged, or an ID token under HS256, which only its client can verify.',
  'token.code_replayed': 'A code was used a second time; its tokens are dead.',
  'token.refresh_reused': 'A retired refresh token was used; its family is dead.',
  'token.revoked': 'An app ended a token; all tokens of its family are dead.',
  'token.foreign_client': 'A code or token was presented, or asked about, by another client than its own.',
  'client.auth_failed': 'A client failed to authenticate: `reason`, and `cause` where its keys could not be read.',
  'client.created': 'A client was registered.',
  'client.updated': 'A client’s registration was changed.',
  'client.disabled': 'A client was disabled; its tokens are dead.',
  'client.enabled': 'A client was enabled again.',
  'client.deleted': 'A client was deleted.',
  'client.secret_added': 'A client got a second secret.',
  'client.secret_ended': 'A client’s secret was ended.',
  'organization.created': 'An organisation was made.',
  'organization.member_set': 'A person became a member, or got another role.',
  'organization.member_removed': 'A person left an organisation.',
  'admin_key.created': 'An admin key was made.',
  'admin_key.revoked': 'An admin key was revoked.',
  'admin_key.refused': 'The admin API was called with a key that is unknown or was revoked.',
  'keys.created': 'The first signing key of a new database was made.',
  'keys.resealed': 'A signing key was sealed anew, because the secret of the server was changed.',
  'keys.rotated': 'A new signing key was made; one of ID tokens (`alg`) takes over when `signsFrom` says.',
  'keys.dropped': 'A signing key was dropped; its tokens are dead, or verified by nobody who reads the key set again.',
  'data.recovered':
    'Recorded changes were lost, or a backup was restored, and an operator accepted it: all that was issued before is dead (`missing`: how many events that is known of).',
  'limit.exceeded': 'A rate limit stopped a caller.',
  'events.trimmed':
    'The oldest events were removed, as `TESSERA_AUDIT_RETENTION` has it: how many, and up to which id.',
} as const;

export type EventType = keyof typeof eventTypes;

export interface AuditEvent {
  readonly at: number;
  readonly type: EventType;
  readonly origin: Origin;
  readonly outcome?: 'success' | 'failure';
  readonly accountId?: string | null;
  readonly clientId?: string | null;
  /** Facts that help to understand the event; never a secret, a token or a password. */
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
const insert = statement((db, p: EventRow) => db.insertInto('audit_event').values(columns(p)));
const insertAs = statement((db, p: EventRow & { id: string }) =>
  db.insertInto('audit_event').values({ ...columns(p), id: p.id }),
);

/** Records an event in the unit of work that it tells of, so that the two commit together or not at all. */
export function* record(event: AuditEvent): Work<void> {
  yield* run(insert, toRow(event));
}

/** Records an event under an id that is higher than any that the database has: later events go on from there. */
export function* recordAs(id: string, event: AuditEvent): Work<void> {
  yield* run(insertAs, { ...toRow(event), id });
}

function toRow(event: AuditEvent): EventRow {
  const { systemUser } = event.origin;
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
    details: JSON.stringify({ ...event.details, ...(systemUser !== undefined && { systemUser }) }),
  };
}
