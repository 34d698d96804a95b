import type { Sealer } from '../keys/sealer.ts';
import { ofAllAskers, take, takeFrom } from '../limits/limits.ts';
import type { Limits } from '../limits/settings.ts';
import { DAY, MINUTE } from '../platform/clock.ts';
import type { MailSettings } from '../platform/config/mail.ts';
import { digest, randomName } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { asciiEmail } from '../platform/domain-name.ts';
import { addressBucket, type Origin } from '../platform/validation/origin.ts';
import type { MailContent } from './content.ts';
import { mailTexts } from './messages.ts';
import * as store from './store.ts';

/** What messages are about, for metrics and lists. */
export type MailKind =
  | 'verify address'
  | 'address change'
  | 'address changed'
  | 'recovery'
  | 'sign-in code'
  | 'security notice'
  | 'invitation'
  | 'account exists'
  | 'deletion'
  | 'export ready'
  | 'scope request'
  | 'scope decision'
  | 'test';

export interface NewMail {
  readonly to: string;
  readonly accountId: string | null;
  readonly kind: MailKind;
  readonly content: MailContent;
  /** The message is not sent after this instant: its link is dead by then. */
  readonly expiresAt: number;
  /** The hash of the challenge whose link it carries. Once that is dead, it is not sent, or without the link. */
  readonly challenge?: string;
  /**
   * The same for a right to undo a change of address, and for an invitation. It is encrypted with the content: an earlier version, which
   * takes the hash of a message for that of a challenge, would not send it.
   */
  readonly restsOn?: string;
  /** When it is sent at the earliest; at once by default. */
  readonly dueAt?: number;
  /** What a message that replaces this one has to know, as JSON. Encrypted and erased with the content, and not part of the message. */
  readonly details?: unknown;
}

/** A message that was taken back before it was sent. */
export interface UnsentMail {
  readonly challenge: string | null;
  readonly dueAt: number;
  readonly details: unknown;
}

export interface Mailer {
  /** Whether mail can be sent, or shown in the mailbox. Where false, what needs mail is off: pages do not offer it. */
  readonly available: boolean;
  /** Part of the unit of work that makes the change: the message commits with it or not at all. Does nothing where mail is not available. */
  enqueue(mail: NewMail, now: number): Work<void>;
  /**
   * Takes the messages of a kind about an account to one recipient back, inside a unit of work, so that one message can replace them.
   * A message stays that a process has begun to send, or that the mailbox shows already.
   */
  takeBack(mail: Pick<NewMail, 'to' | 'accountId' | 'kind'>, now: number): Work<readonly UnsentMail[]>;
}

/** Sending takes seconds: a message that waits for longer is one that the mail server does not take now. */
const USUAL_DELAY = MINUTE;

/** Whether messages wait for longer than usual. */
export function* isMailDelayed(now: number): Work<boolean> {
  const { oldest } = (yield* store.readQueue({})) ?? { oldest: null };
  return oldest !== null && now - oldest > USUAL_DELAY;
}

/** How many messages the mailbox keeps, and for how long. */
export const MAILBOX_SIZE = 50;
/** For how long it can be seen what became of a message, by its status; and for how long the mailbox keeps it. */
const RETENTION = { kept: DAY, sent: DAY, expired: DAY, dead: 14 * DAY } as const;
const REMOVED_AT_ONCE = 200;

/** The context of sealed content: it opens only in its own row. */
const contextOf = (messageId: string): string => `mail ${messageId}`;

/** What is sealed of a message. */
type SealedContent = MailContent & Pick<NewMail, 'details' | 'restsOn'>;

/** The content of a message; undefined where it was erased or changed. */
export const openContent = (
  sealer: Sealer,
  { messageId, sealed }: { readonly messageId: string; readonly sealed: string | null },
): SealedContent | undefined => {
  const text = sealed === null ? undefined : sealer.open(sealed, contextOf(messageId));
  return text === undefined ? undefined : (JSON.parse(text) as SealedContent);
};

export function createMailer({ smtp, mailbox }: MailSettings, sealer: Sealer): Mailer {
  const available = smtp !== undefined || mailbox;
  return {
    available,
    *enqueue(mail, now) {
      if (!available) return;
      yield* enqueue(sealer, smtp === undefined, mail, now);
    },
    *takeBack({ to, accountId, kind }, now) {
      if (!available || accountId === null) return [];
      const unsent =
        smtp === undefined
          ? yield* store.takeHeld({ accountId, recipient: to, kind, now })
          : yield* store.takeUnsent({ accountId, recipient: to, kind });
      return unsent.map((mail) => ({ ...mail, details: openContent(sealer, mail)?.details }));
    },
  };
}

function* enqueue(sealer: Sealer, keep: boolean, mail: NewMail, now: number): Work<void> {
  const { to, accountId, kind, content, expiresAt, challenge = null, dueAt = now, details, restsOn } = mail;
  const messageId = randomName();
  // An address of an earlier version, perhaps. The change that it is about is made all the same.
  const recipient = asciiEmail(to);
  const deliverable = recipient !== undefined;
  const sealedContent = { language: mailTexts.language, ...content, details, restsOn };
  yield* store.insertMail({
    messageId,
    kind,
    accountId,
    recipient: recipient ?? to,
    challengeHash: challenge,
    sealed: deliverable ? sealer.seal(JSON.stringify(sealedContent), contextOf(messageId)) : null,
    status: !deliverable ? 'dead' : keep ? 'kept' : 'waiting',
    dueAt,
    createdAt: now,
    expiresAt,
    problem: deliverable ? null : 'not an address that mail can be sent to',
  });
  if (keep) yield* store.trimKept({ keep: MAILBOX_SIZE });
}

/** Whom a message that somebody asks for is to. */
interface AskedMail {
  readonly to: string;
  /** What it is for: each has a count of its own, so that asking for one leaves the others. */
  readonly purpose: string;
  readonly origin: Origin;
  /** The signed-in person who asks: many addresses to ask from do not give an account more messages. */
  readonly accountId?: string;
}

/**
 * Counts a message that somebody asks for, for the address of the one who asks, for their account and for its recipient.
 * @returns whether it may be sent; where not, the caller answers as if it had been
 */
export function* countMail(limits: Limits, asked: AskedMail, now: number): Work<boolean> {
  if (!(yield* countSender(limits, asked.origin, now)) || !(yield* countAccount(limits, asked, now))) return false;
  return yield* countRecipient(limits, asked, now);
}

/** {@link countMail} for the account of the one who asks alone. */
export function* countAccount(
  limits: Limits,
  { accountId, origin }: Pick<AskedMail, 'accountId' | 'origin'>,
  now: number,
): Work<boolean> {
  if (accountId === undefined) return true;
  const about = { name: 'mailAddress', origin, accountId } as const;
  return (yield* take(`mail by ${accountId}`, limits.mailAddress, now, about)) === 0;
}

/** {@link countMail} for the address of the one who asks alone, and for its network. */
export function* countSender(limits: Limits, origin: Origin, now: number): Work<boolean> {
  return (yield* takeFrom('mail from', limits.mailAddress, now, { name: 'mailAddress', origin })) === 0;
}

/** {@link countMail} for the recipient alone. */
export function* countRecipient(limits: Limits, { to, purpose, origin }: AskedMail, now: number): Work<boolean> {
  const recipient = `mail to ${digest(to.toLowerCase())} ${purpose}`;
  return (yield* take(recipient, limits.mailRecipient, now, { name: 'mailRecipient', origin })) === 0;
}

/**
 * {@link countRecipient}, where somebody else may ask for the same message in order to keep the person from it: each IP address has a count of
 * its own, and all together have several times as many.
 */
export function* countRecipientFrom(limits: Limits, { to, purpose, origin }: AskedMail, now: number): Work<boolean> {
  const own = `${purpose} from ${addressBucket(origin.address)}`;
  if (!(yield* countRecipient(limits, { to, purpose: own, origin }, now))) return false;
  const shared = { ...limits, mailRecipient: ofAllAskers(limits.mailRecipient) };
  return yield* countRecipient(shared, { to, purpose, origin }, now);
}

/**
 * Erases recipient and content of every message to an account, as part of its deletion. What is not sent yet is not sent any more,
 * so a message about the deletion itself is enqueued after this.
 */
export function* eraseMail(accountId: string, now: number): Work<void> {
  yield* store.expireMailOf({ accountId, now });
  yield* store.eraseMailOf({ accountId, problem: 'the account was deleted' });
}

/** A message of the mailbox. */
export interface KeptMail {
  readonly id: string;
  readonly to: string;
  readonly kind: string;
  readonly createdAt: number;
  readonly content: MailContent;
}

/** The messages that would have been sent, newest first. */
export async function readMailbox(database: Database, sealer: Sealer): Promise<readonly KeptMail[]> {
  const stored = await database.read(() => store.listKept({ limit: MAILBOX_SIZE }));
  return stored.flatMap((mail) => {
    const content = openContent(sealer, mail);
    const { id, recipient: to, kind, createdAt } = mail;
    return content === undefined ? [] : [{ id, to, kind, createdAt, content }];
  });
}

/** Expires messages that nothing sends any more, and removes what is of no more use. Any node may do so, as often as it likes. */
export async function maintainMail(database: Database, now: number): Promise<void> {
  await database.commit(() => store.expireWaiting({ now, problem: 'expired before it could be sent' }));
  for (const [status, kept] of Object.entries(RETENTION)) {
    const remove = () => store.removeMail({ status, before: now - kept, limit: REMOVED_AT_ONCE });
    // In small commits, so that requests are handled in between.
    while ((await database.commit(remove)).length === REMOVED_AT_ONCE);
  }
}
