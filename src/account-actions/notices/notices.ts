import { isAddressDoubted } from '../../accounts/act-store.ts';
import { listPreviousAddresses } from '../../accounts/previous-address-store.ts';
import type { Sealer } from '../../keys/sealer.ts';
import { takeWithin } from '../../limits/limits.ts';
import {
  createChallenge,
  endChallenge,
  findOldestChallenge,
  listOpenChallenges,
  prepareChallenge,
} from '../../mail/challenges.ts';
import type { Mailer } from '../../mail/mail.ts';
import { mailTexts } from '../../mail/messages.ts';
import { DAY, MINUTE } from '../../platform/clock.ts';
import type { Work } from '../../platform/database/database.ts';
import { readableEmail } from '../../platform/domain-name.ts';
import { formats } from '../../platform/validation/formats.ts';
import { withEvent } from './rules/events.ts';
import {
  type AccountEvent,
  carriedPasskeys,
  noticeMail,
  previousAddressMail,
  type SecurityFacts,
  type SecurityNotice,
  type SecurityReport,
} from './rules/notice-text.ts';
import { type UndoneFacts, undoneSentences } from './rules/undone-text.ts';

/** What notices are sent with. */
export interface SecurityNoticeServices {
  readonly mail: Mailer;
  readonly sealer: Sealer;
  /** The base URL, for links. */
  readonly issuer: string;
}

/** The account that a notice is about, as it is after the change. */
export interface NotifiedAccount {
  readonly id: string;
  readonly generation: string;
  readonly profile: { readonly username: string; readonly email: string; readonly emailVerified: boolean };
}

/** How long a person can report that something was not them. */
export const REPORT_LIFETIME = 7 * DAY;

/**
 * How long before the first act that was told those are taken back as well that nobody is told of by mail, unless a sign-in was reported:
 * decisions on apps, and what operators do to accounts. Who copied a session may have done that before; the owner decides once more. Where nobody is told of anything, as
 * mail is off, so long may somebody have had an account that an operator gives back.
 */
export const UNTOLD = 7 * DAY;

/**
 * How many notices of a kind about one account are sent at once. Each kind has a count of its own, so that harmless acts use up nothing
 * that is told of the others.
 */
const IMMEDIATE_LIMIT = { count: 5, windowMs: DAY };
/** How long the others wait at most, for a message that tells what happened meanwhile. */
const HOLD = 10 * MINUTE;

/** The path of the page behind "This was not me". */
export const SECURE_PATH = '/secure-account';

/**
 * Since when an account may have been in foreign hands: when the first report of the last seven days was sent that nobody answered. The
 * next act of a thief ends the link of the report before, so each report remembers the first of its chain.
 * @param now the `accountTime` of what asks
 */
export function* unansweredSince(sealer: Sealer, accountId: string, now: number): Work<number> {
  const oldest = yield* findOldestChallenge(sealer, accountId, 'secure account', now);
  if (oldest === undefined) return now;
  const { since = oldest.createdAt } = (oldest.data ?? {}) as Partial<SecurityReport>;
  return Math.max(Math.min(since, oldest.createdAt, now), now - REPORT_LIFETIME);
}

/** The passkeys that a report of a notice names besides its own: see `carriedPasskeys`. */
export function* unansweredPasskeys(
  sealer: Sealer,
  { id, generation }: Pick<NotifiedAccount, 'id' | 'generation'>,
  notice: SecurityNotice,
  now: number,
): Work<readonly number[]> {
  const open = yield* listOpenChallenges(sealer, id, 'secure account', now);
  const reports = open.map((one) => ({
    report: (one.data ?? {}) as Partial<SecurityReport>,
    isLive: one.generation === generation,
  }));
  return carriedPasskeys(notice, reports);
}

/** What the first report was about that nobody answered; undefined where there is none. */
export function* firstUnanswered(sealer: Sealer, accountId: string, now: number): Work<SecurityNotice | undefined> {
  const oldest = yield* findOldestChallenge(sealer, accountId, 'secure account', now);
  const { first, notice } = (oldest?.data ?? {}) as Partial<SecurityReport>;
  return first ?? notice;
}

/**
 * Tells a person by mail what happened to their account, in the unit of work in which it happened. The message has a link that ends
 * everything; it belongs to the generation of the account after the change, and ends with it. The oldest address that the account had in
 * the last days is told as well. Does nothing where mail is off.
 *
 * A message that was not sent yet is replaced by one that tells both. So what an account does costs a bounded number of messages, and the
 * last of them tells everything that the others did not, with a link of the account as it is then.
 * @param account as it is after the change
 * @param at the `accountTime` of the change: what was set up from then on may be another person's
 * @param earlier {@link unansweredSince} before the change, where that ended the reports which say it
 * @param named the passkeys that those reports named
 */
export function* enqueueSecurityNotice(
  services: SecurityNoticeServices,
  account: NotifiedAccount,
  notice: SecurityNotice,
  facts: SecurityFacts,
  now: number,
  at: number,
  earlier?: number,
  named: readonly number[] = [],
): Work<void> {
  const { mail, sealer } = services;
  if (!mail.available) return;
  const isSentAtOnce = yield* takeWithin(`notice ${account.id} ${notice}`, IMMEDIATE_LIMIT, now);
  const since = earlier ?? (yield* unansweredSince(sealer, account.id, at));
  const first = (yield* firstUnanswered(sealer, account.id, at)) ?? notice;
  const passkeys = [...named, ...(yield* unansweredPasskeys(sealer, account, notice, at))];
  const report = { notice, facts, at: now, since, first, passkeys };
  const told = { report, reportedAt: at, dueAt: isSentAtOnce ? now : now + HOLD };
  for (const to of yield* addressesToTell(account, now)) {
    // Who reads it could end what the person has.
    if (to === account.profile.email && (yield* isAddressDoubted(account))) continue;
    if (to === account.profile.email) yield* tellAccount(services, account, told, now);
    else yield* tellPrevious(services, account, to, told, now);
  }
}

/**
 * Replaces the link of a report that nobody answered, where an act of an operator has ended it with the generation of the account: the
 * person can still say that what came before was not them. Does nothing where no report is unanswered.
 */
export function* renewReport(
  services: SecurityNoticeServices,
  account: NotifiedAccount,
  notice: SecurityNotice,
  now: number,
  at: number,
): Work<void> {
  if ((yield* unansweredSince(services.sealer, account.id, at)) === at) return;
  yield* enqueueSecurityNotice(services, account, notice, { byOperator: true }, now, at);
}

interface Told {
  readonly report: SecurityReport;
  /** By the time of the account. */
  readonly reportedAt: number;
  readonly dueAt: number;
}

function* tellAccount(
  { mail, sealer, issuer }: SecurityNoticeServices,
  account: NotifiedAccount,
  told: Told,
  now: number,
): Work<void> {
  const { username, email } = account.profile;
  const { events, dueAt, links } = yield* withUnsent(mail, account, email, told, now);
  for (const link of links) yield* endChallenge(link);
  const report = { ...told.report, events };
  const sent = prepareChallenge();
  yield* createChallenge(
    sealer,
    sent,
    {
      purpose: 'secure account',
      account,
      address: email.toLowerCase(),
      browserHash: null,
      data: report,
      lifetime: now + REPORT_LIFETIME - told.reportedAt,
    },
    told.reportedAt,
  );
  const content = noticeMail(username, report, `${issuer}${SECURE_PATH}?token=${sent.link}`);
  yield* mail.enqueue(
    { ...messageTo(account, email, now), content, challenge: sent.hash, dueAt, details: events },
    now,
  );
}

function* tellPrevious(
  { mail }: SecurityNoticeServices,
  account: NotifiedAccount,
  to: string,
  told: Told,
  now: number,
): Work<void> {
  const { events, dueAt } = yield* withUnsent(mail, account, to, told, now);
  const content = previousAddressMail(account.profile.username, { ...told.report, events });
  yield* mail.enqueue({ ...messageTo(account, to, now), content, dueAt, details: events }, now);
}

const messageTo = ({ id }: NotifiedAccount, to: string, now: number) =>
  ({ to, accountId: id, kind: 'security notice', expiresAt: now + REPORT_LIFETIME }) as const;

/** What a message tells with what earlier ones to the same address would have told, which are taken back. */
function* withUnsent(
  mail: Mailer,
  account: NotifiedAccount,
  to: string,
  { report: { notice, facts, at }, dueAt }: Told,
  now: number,
): Work<{ readonly events: readonly AccountEvent[]; readonly dueAt: number; readonly links: readonly string[] }> {
  const unsent = yield* mail.takeBack(messageTo(account, to, now), now);
  const earlier = unsent.flatMap(({ details }) => (details ?? []) as readonly AccountEvent[]);
  return {
    events: [...earlier, { notice, facts, at, firstAt: at, count: 1 }].reduce(withEvent, [] as readonly AccountEvent[]),
    dueAt: Math.min(dueAt, ...unsent.map((one) => one.dueAt)),
    links: unsent.flatMap(({ challenge }) => challenge ?? []),
  };
}

/** The addresses that are told of what happens to an account: its own, and the oldest that it had in the last days. */
function* addressesToTell({ id, profile }: NotifiedAccount, now: number): Work<readonly string[]> {
  const oldest = (yield* listPreviousAddresses({ accountId: id, now })).at(-1)?.email;
  const isAnother = oldest !== undefined && oldest.toLowerCase() !== profile.email.toLowerCase();
  return [profile.email, ...(isAnother ? [oldest] : [])].filter(canReceiveMail);
}

/** Tells both addresses that an operator gave an account another one. The earlier one, which may be a thief's, is not told which. */
export function* enqueueNewAddressMails(
  { mail }: Pick<SecurityNoticeServices, 'mail'>,
  { id: accountId, profile }: NotifiedAccount,
  previous: string,
  now: number,
  undone?: UndoneFacts,
): Work<void> {
  const message = { accountId, kind: 'address changed', expiresAt: now + REPORT_LIFETIME } as const;
  if (canReceiveMail(previous)) {
    yield* mail.enqueue({ ...message, to: previous, content: mailTexts.notices.addressTaken(profile) }, now);
  }
  if (canReceiveMail(profile.email)) {
    const content = mailTexts.notices.newAddress({
      username: profile.username,
      previous: readableEmail(previous),
      email: readableEmail(profile.email),
      undone: undone === undefined ? [] : undoneSentences(undone),
    });
    yield* mail.enqueue({ ...message, to: profile.email, content }, now);
  }
}

/**
 * Whether an address can be a person's: an account whose address another person verified has one that cannot (RFC 2606), and an earlier
 * version may have stored one that no server accepts.
 */
export const canReceiveMail = (email: string): boolean =>
  formats.email(email) && !email.toLowerCase().endsWith('.invalid');
