import { iso, isoOrNull } from '../platform/clock.ts';
import type { Work } from '../platform/database/database.ts';
import { type ListedMail, listMail, listMailOf, type MailStatus } from './store.ts';

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
