import { record } from '../audit/audit.ts';
import type { Sealer } from '../keys/sealer.ts';
import { MAIL_RETRIES, retryDelay } from '../platform/backoff.ts';
import { type Clock, MINUTE, SECOND } from '../platform/clock.ts';
import type { Database, Work } from '../platform/database/database.ts';
import type { MailOutcome, Meter } from '../platform/http/meter.ts';
import type { MailResult, MailTransport } from '../platform/mail/transport.ts';
import { withoutAddresses } from '../platform/masking.ts';
import { startPoller } from '../platform/poller.ts';
import { SYSTEM_ORIGIN } from '../platform/validation/origin.ts';
import type { MailContent } from './content.ts';
import { openContent } from './mail.ts';
import { type MailSender, messageOf } from './message.ts';
import { findNext } from './queue.ts';
import {
  type ClaimedMail,
  claimMail,
  type DueMail,
  findLinkOfMail,
  postponeMail,
  settleSent,
  settleUnsent,
} from './queue-store.ts';
import { findObstacle, isDeadLink } from './rules/obstacle.ts';
import { MAX_CONCURRENT } from './rules/slots.ts';
import { readQueue } from './store.ts';

export interface MailDispatcherOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly transport: MailTransport;
  readonly sender: MailSender;
  readonly meter: Pick<Meter, 'mailed'>;
  /** Is given internal errors and failures of the database. The messages concerned become due again. */
  failed(error: unknown): void;
}

/** Sends the messages of the outbox. */
export interface MailDispatcher {
  /** Attempts everything that is due now, and resolves when all attempts are done. */
  deliverDue(): Promise<void>;
  /** What waits: how many messages, and for how long the oldest has, in milliseconds. */
  waiting(): Promise<{ readonly count: number; readonly oldest: number }>;
  /** Starts no other attempt, gives those under way a moment, and then aborts them. They become due again. */
  stop(): Promise<void>;
}

/** How long a claim holds: longer than any attempt. */
const CLAIM_LIFETIME = 3 * MINUTE;
const INTERVAL = SECOND;
const STOP_GRACE = 3 * SECOND;

/**
 * Starts looking for due messages.
 * @param interval how often, in milliseconds
 * @param grace how long attempts may go on once it is stopped, in milliseconds
 */
export function startMailDispatcher(
  options: MailDispatcherOptions,
  interval = INTERVAL,
  grace = STOP_GRACE,
): MailDispatcher {
  const { database, clock, sealer, transport, sender, meter } = options;
  const stopping = new AbortController();
  const running = new Map<ClaimedMail, Promise<void>>();
  let lane = '';

  async function claimDue(): Promise<void> {
    if (running.size >= MAX_CONCURRENT) return;
    const now = clock();
    const next = await database.read(() => findNext([...running.keys()], lane, now));
    lane = next.lane;
    if (next.mails.length === 0) return;
    for (const mail of await database.commit(() => claimAll(next.mails, now))) start(mail);
  }

  function start(mail: ClaimedMail): void {
    const run = deliver(mail)
      .catch(options.failed)
      .finally(() => {
        running.delete(mail);
        // More may be due than there were slots for.
        void poller.poll();
      });
    running.set(mail, run);
  }

  async function deliver(mail: ClaimedMail): Promise<void> {
    const outcome = await attempt(mail);
    if (outcome !== undefined) meter.mailed(mail.kind, outcome);
  }

  async function attempt(mail: ClaimedMail): Promise<MailOutcome | undefined> {
    const content = openContent(sealer, mail);
    const restsOn = mail.challengeHash ?? content?.restsOn;
    const link = restsOn === undefined ? undefined : await database.read(() => findLinkOfMail(restsOn));
    const isDead = isDeadLink(restsOn, link, clock());
    const obstacle = findObstacle(mail, isDead && content?.withoutLink === undefined, clock());
    if (obstacle !== undefined) return giveUp(mail, obstacle);
    if (content === undefined) return giveUp(mail, { status: 'dead', problem: 'its content cannot be decrypted' });
    const sent = isDead ? withoutLink(content) : content;
    const result = await transport.send(messageOf(mail, sent, sender), stopping.signal);
    const now = clock();
    if (result.kind === 'accepted') {
      return (await database.commit(() => settleSent({ id: mail.id, now }))) ? 'sent' : undefined;
    }
    // Servers quote the recipient. The audit trail is kept longer than an account.
    const problem = withoutAddresses(result.problem, mail.recipient);
    const delay = retryDelay(MAIL_RETRIES, mail.attempts, Math.random());
    if (isPermanent(result) || delay === undefined) return giveUp(mail, { status: 'dead', problem });
    // At the latest when it expires, so that its content is erased in time.
    const dueAt = Math.min(now + delay, mail.expiresAt);
    const confirmed = result.kind === 'refused' ? 1 : 0;
    return (await database.commit(() => postponeMail({ ...mail, dueAt, confirmed, problem }))) ? 'retried' : undefined;
  }

  async function giveUp(
    mail: ClaimedMail,
    { status, problem }: { readonly status: 'dead' | 'expired'; readonly problem: string },
  ): Promise<MailOutcome | undefined> {
    const now = clock();
    const settled = await database.commit(() => recordEnd(mail, status, problem, now));
    return settled ? status : undefined;
  }

  const poller = startPoller(claimDue, interval, options.failed);

  return {
    async deliverDue() {
      await poller.poll();
      while (running.size > 0 || poller.isRunning()) await Promise.all([...running.values(), poller.poll()]);
    },
    async waiting() {
      const { count, oldest } = (await database.read(() => readQueue({}))) ?? { count: 0, oldest: null };
      return { count, oldest: oldest === null ? 0 : Math.max(0, clock() - oldest) };
    },
    async stop() {
      const abort = setTimeout(() => stopping.abort(), grace);
      await poller.stop();
      await Promise.all(running.values());
      clearTimeout(abort);
    },
  };
}

function* claimAll(mails: readonly DueMail[], now: number): Work<readonly ClaimedMail[]> {
  const claimed: ClaimedMail[] = [];
  for (const { id } of mails) {
    const mail = yield* claimMail({ id, now, until: now + CLAIM_LIFETIME });
    if (mail !== undefined) claimed.push(mail);
  }
  return claimed;
}

/** What a message still says where its link is dead. */
const withoutLink = ({ action: _dead, withoutLink: footer = [], ...content }: MailContent): MailContent => ({
  ...content,
  footer,
});

const isPermanent = (result: MailResult): boolean => result.kind === 'refused' && result.permanent;

/** Records that a message is not sent. Gives false where another process has claimed it meanwhile. */
function* recordEnd(mail: ClaimedMail, status: 'dead' | 'expired', problem: string, now: number): Work<boolean> {
  const { id, attempts, kind, accountId } = mail;
  if (!(yield* settleUnsent({ id, attempts, status, now, problem }))) return false;
  if (status === 'expired') return true;
  const details = { mailId: id, kind, attempts, problem };
  yield* record({ at: now, type: 'mail.given_up', outcome: 'failure', origin: SYSTEM_ORIGIN, accountId, details });
  return true;
}
