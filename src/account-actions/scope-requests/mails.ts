import { listAdministrators } from '../../access/operator-grant-store.ts';
import { mayAct } from '../../accounts/rules/may-act.ts';
import { type Account, findAccount } from '../../accounts/store.ts';
import { behind } from '../../admin-keys/live.ts';
import type { ScopeDecision, ScopeRequest } from '../../clients/scope-request-store.ts';
import { takeWithin } from '../../limits/limits.ts';
import type { Mailer, MailKind, NewMail } from '../../mail/mail.ts';
import { mailTexts } from '../../mail/messages.ts';
import type { Place } from '../../operators/rights.ts';
import { DAY, HOUR } from '../../platform/clock.ts';
import type { Work } from '../../platform/database/database.ts';
import { canReceiveMail } from '../notices/notices.ts';

/** A request as a message tells it: by IDs, and by names that Tessera itself gives to scopes. */
interface ToldRequest {
  readonly clientId: string;
  /** Null for a scope of an API, whose name was typed. */
  readonly scope: string | null;
}

interface ToldDecision extends ToldRequest {
  readonly outcome: 'approved' | 'declined';
}

interface TellingServices {
  readonly mail: Mailer;
  /** The base URL, for links. */
  readonly issuer: string;
}

/** How many messages of a kind a person gets at once; what comes then is told by one message. */
const AT_ONCE = { count: 2, windowMs: HOUR };

const LIFETIME = 7 * DAY;

/** Tells a person something, with what earlier messages of this kind would have told that were not sent yet. */
function* tell<T>(
  mail: Mailer,
  account: Account,
  kind: MailKind,
  what: T,
  contentOf: (all: readonly T[]) => NewMail['content'],
  now: number,
): Work<void> {
  const { email, emailVerified } = account.profile;
  if (!emailVerified || !canReceiveMail(email) || !mayAct(account, now)) return;
  const isSentAtOnce = yield* takeWithin(`${kind} ${account.id}`, AT_ONCE, now);
  const message = { to: email, accountId: account.id, kind } as const;
  const unsent = yield* mail.takeBack(message, now);
  const all = [...unsent.flatMap(({ details }) => (details ?? []) as readonly T[]), what];
  const dueAt = Math.min(isSentAtOnce ? now : now + HOUR, ...unsent.map((one) => one.dueAt));
  yield* mail.enqueue({ ...message, content: contentOf(all), dueAt, expiresAt: now + LIFETIME, details: all }, now);
}

const toldOf = ({ clientId, scope, resource }: ScopeRequest): ToldRequest => ({
  clientId,
  scope: resource === null ? scope : null,
});

/** Tells those who may decide on a request that it waits, in the unit of work that stores it. */
export function* tellAdministrators(
  { mail, issuer }: TellingServices,
  request: ScopeRequest,
  { organizationId }: Place,
  now: number,
): Work<void> {
  if (!mail.available) return;
  const url = `${issuer}/console/apps/scope-requests`;
  for (const id of yield* listAdministrators(organizationId, now)) {
    const account = id === request.askedBy ? undefined : yield* findAccount({ id });
    if (account === undefined) continue;
    const content = (all: readonly ToldRequest[]) => mailTexts.scopeRequests.asked({ requests: all, url });
    yield* tell(mail, account, 'scope request', toldOf(request), content, now);
  }
}

/** Tells who asked what was decided, in the unit of work that decides it. Of an admin key, the person who made it is told. */
export function* tellAsker(
  { mail, issuer }: TellingServices,
  request: ScopeRequest,
  outcome: ScopeDecision,
  now: number,
): Work<void> {
  if (!mail.available || request.askedBy === null) return;
  const account = yield* findAccount({ id: yield* behind(request.askedBy) });
  if (account === undefined) return;
  const url = `${issuer}/console/apps/${request.clientId}`;
  const content = (all: readonly ToldDecision[]) =>
    mailTexts.scopeRequests.decided({
      decisions: all.map((one) => ({ ...one, isApproved: one.outcome === 'approved' })),
      url,
    });
  yield* tell(mail, account, 'scope decision', { ...toldOf(request), outcome }, content, now);
}
