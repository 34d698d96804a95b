import type { MailKind } from '../mail.ts';

/** How many messages a process sends at a time. */
export const MAX_CONCURRENT = 4;
/** Of these, to one domain: its server may answer late or never, and the others go on meanwhile. */
const MAX_TO_DOMAIN = MAX_CONCURRENT / 2;
/** About one account. */
const MAX_OF_ACCOUNT = 2;
/**
 * Of one priority. What people wait for goes first, and one slot is left to each other priority: so notices are sent even if people ask
 * without pause, and slow servers of those who get notices hold up nobody who waits.
 */
const MAX_OF_PRIORITY = MAX_CONCURRENT - 1;

/** What people asked for and wait for, and messages that tell them something. The smaller number is sent first. */
export const PRIORITIES = [0, 1] as const;
type Priority = (typeof PRIORITIES)[number];

const PRIORITY: Readonly<Record<MailKind, Priority>> = {
  'verify address': 0,
  'address change': 0,
  recovery: 0,
  'sign-in code': 0,
  invitation: 0,
  // The answer to a person who signs up, or wants the address: it takes as long as the message to an unknown address.
  'account exists': 0,
  test: 0,
  'address changed': 1,
  'security notice': 1,
  deletion: 1,
  'export ready': 1,
  'scope request': 1,
  'scope decision': 1,
};

export const priorityOf = (kind: MailKind): number => PRIORITY[kind];

/** The domain that receives a message, in lower case. */
export const domainOf = (recipient: string): string => recipient.slice(recipient.lastIndexOf('@') + 1).toLowerCase();

/** What a message takes a slot for. */
export interface MailSlot {
  readonly priority: number;
  readonly accountId: string | null;
  readonly recipient: string;
}

/** Whether a message may be sent beside others that are being sent. */
export function hasSlot({ priority, accountId, recipient }: MailSlot, sending: readonly MailSlot[]): boolean {
  const domain = domainOf(recipient);
  const count = (isLike: (other: MailSlot) => boolean) => sending.filter(isLike).length;
  return (
    hasSlotOf(priority, sending) &&
    count((other) => domainOf(other.recipient) === domain) < MAX_TO_DOMAIN &&
    (accountId === null || count((other) => other.accountId === accountId) < MAX_OF_ACCOUNT)
  );
}

/** Whether a message of a priority may be sent, if it is to another domain and about another account. */
export const hasSlotOf = (priority: number, sending: readonly MailSlot[]): boolean =>
  sending.length < MAX_CONCURRENT && sending.filter((other) => other.priority === priority).length < MAX_OF_PRIORITY;
