import type { Work } from '../platform/database/database.ts';
import { type DueMail, listDue, listDueInLane, nextLane } from './queue-store.ts';
import { hasSlot, hasSlotOf, type MailSlot, PRIORITIES } from './rules/slots.ts';

/** How many of the messages that are due first are looked at. */
const HEAD = 32;
/** How many domains are looked at where those are not enough, and how many messages to each. */
const LANES = 16;
const LANE_HEAD = 8;

/** Which messages are sent next. */
export interface NextMails {
  /** In the order in which they are sent. */
  readonly mails: readonly DueMail[];
  /** The domain with which the next look behind the head begins. */
  readonly lane: string;
}

/**
 * Finds the messages that are sent next beside those that are being sent: by priority, and then those that are due first. Where the head
 * of the queue is full of messages that must wait for a server or an account, a few domains after `lane` are looked at as well. So however
 * many messages wait for a server that does not answer, it costs the same few reads, and every other domain gets its turn.
 */
export function* findNext(sending: readonly MailSlot[], lane: string, now: number): Work<NextMails> {
  const mails: DueMail[] = [];
  const taken = () => [...sending, ...mails];
  const choose = (due: readonly DueMail[]) => {
    const isChosen = ({ id }: DueMail) => mails.some((mail) => mail.id === id);
    for (const mail of due) if (!isChosen(mail) && hasSlot(mail, taken())) mails.push(mail);
  };
  let position = lane;
  for (const priority of PRIORITIES) {
    if (!hasSlotOf(priority, taken())) continue;
    const head = yield* listDue({ priority, now, limit: HEAD });
    choose(head);
    if (head.length < HEAD) continue;
    let passedEnd = false;
    for (let looked = 0; looked < LANES && hasSlotOf(priority, taken()); looked++) {
      const next = yield* nextLane({ priority, after: position });
      position = next ?? '';
      if (next !== undefined) choose(yield* listDueInLane({ priority, lane: next, now, limit: LANE_HEAD }));
      else if (passedEnd) break;
      else passedEnd = true;
    }
  }
  return { mails, lane: position };
}
