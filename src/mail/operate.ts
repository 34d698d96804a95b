import { record } from '../audit/audit.ts';
import { type Clock, iso, isoOrNull } from '../platform/clock.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { conflict, notFound } from '../platform/oauth-error.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { findMail, type ListedMail, listMail, listMailOf, type MailStatus, makeDue } from './store.ts';

/** The largest id, as the start of a list that begins with the newest message. */
const NEWEST = '9223372036854775807';

/** A part of the list of messages, newest first, without their contents. */
export function* listMails(part: {
  /** The id of the last message of the part before; `0` for the first part. */
  readonly after: string;
  readonly limit: number;
  readonly status?: MailStatus | undefined;
}): Work<readonly ListedMail[]> {
  const { after, limit, status } = part;
  const before = after === '0' ? NEWEST : after;
  return yield* status === undefined ? listMail({ before, limit }) : listMailOf({ status, before, limit });
}

/**
 * Has a message that was given up sent once more.
 * @throws {OAuthError} `not_found`; `conflict` where it was not given up, or has expired
 */
export async function retryMail(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  id: string,
  origin: Origin,
): Promise<ListedMail> {
  const now = clock();
  const retried = await database.commit(function* retry(): Work<ListedMail | undefined> {
    if (yield* makeDue({ id, now })) {
      const mail = yield* findMail({ id });
      const about = { accountId: mail?.accountId ?? null, details: { mailId: id, kind: mail?.kind } };
      yield* record({ at: now, type: 'mail.retried', origin, ...about });
      return mail;
    }
    const mail = yield* findMail({ id });
    if (mail === undefined) throw notFound(`There is no message ${id}. List them with: tessera mail list`);
    if (mail.status !== 'dead') throw conflict(`The message ${id} was not given up: it is ${mail.status}.`);
    throw conflict(`The message ${id} can no longer be sent: it has expired. Let the person ask for another one.`);
  });
  if (retried === undefined) throw notFound(`There is no message ${id}. List them with: tessera mail list`);
  return retried;
}

/** A message as operators see it. */
export const mailView = (mail: ListedMail) => ({
  id: mail.id,
  kind: mail.kind,
  status: mail.status,
  recipient: mail.recipient,
  userId: mail.accountId,
  attempts: mail.attempts,
  problem: mail.problem,
  createdAt: iso(mail.createdAt),
  expiresAt: iso(mail.expiresAt),
  dueAt: isoOrNull(mail.dueAt),
  settledAt: isoOrNull(mail.settledAt),
});
