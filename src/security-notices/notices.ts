import { createChallenge, findOldestChallenge, hasChallenges, prepareChallenge } from '../challenges/challenges.ts';
import type { Sealer } from '../keys/sealer.ts';
import type { Mailer } from '../mail/mail.ts';
import { DAY } from '../platform/clock.ts';
import type { Work } from '../platform/database/database.ts';
import { listPreviousAddresses } from './previous-address-store.ts';
import {
  newAddressMail,
  noticeMail,
  previousAddressMail,
  type SecurityFacts,
  type SecurityNotice,
  type SecurityReport,
} from './rules/notice-text.ts';

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
  readonly profile: { readonly username: string; readonly email: string };
}

/** How long a person can report that something was not them. */
const REPORT_LIFETIME = 7 * DAY;

/**
 * Whoever has a password can sign in from as many browsers as they like: beyond this many open reports of a day, none is sent of a new one.
 * Those of earlier days do not count, since a person who often signs in anew would be told of no thief.
 */
const MOST_REPORTS = 20;

/** The path of the page behind "This was not me". */
export const SECURE_PATH = '/secure-account';

/**
 * Since when an account may have been in foreign hands: when the first report of the last seven days was sent that nobody answered. The
 * next act of a thief ends the link of the report before, so each report remembers the first of its chain.
 */
export function* unansweredSince(sealer: Sealer, accountId: string, now: number): Work<number> {
  const oldest = yield* findOldestChallenge(sealer, accountId, 'secure account', now);
  if (oldest === undefined) return now;
  const { since = oldest.createdAt } = (oldest.data ?? {}) as Partial<SecurityReport>;
  return Math.max(Math.min(since, oldest.createdAt, now), now - REPORT_LIFETIME);
}

/**
 * Tells a person by mail what happened to their account, in the unit of work in which it happened. The message has a link that ends
 * everything; it belongs to the generation of the account after the change, and ends with it. Addresses that the account had in the
 * last days are told as well. Does nothing where mail is off.
 * @param account as it is after the change
 */
export function* enqueueSecurityNotice(
  { mail, sealer, issuer }: SecurityNoticeServices,
  account: NotifiedAccount,
  notice: SecurityNotice,
  facts: SecurityFacts,
  now: number,
): Work<void> {
  if (!mail.available) return;
  const ofToday = { count: MOST_REPORTS, since: now - DAY };
  if (notice === 'new device' && (yield* hasChallenges(account.id, 'secure account', ofToday, now))) return;
  const { username, email } = account.profile;
  const report: SecurityReport = { notice, facts, at: now, since: yield* unansweredSince(sealer, account.id, now) };
  const expiresAt = now + REPORT_LIFETIME;
  const common = { accountId: account.id, kind: 'security notice', expiresAt } as const;
  if (canReceiveMail(email)) {
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
        lifetime: REPORT_LIFETIME,
      },
      now,
    );
    const content = noticeMail(username, report, `${issuer}${SECURE_PATH}?token=${sent.link}`);
    yield* mail.enqueue({ ...common, to: email, content, challenge: sent.hash }, now);
  }
  for (const previous of yield* listPreviousAddresses({ accountId: account.id, now })) {
    if (previous.email.toLowerCase() === email.toLowerCase()) continue;
    yield* mail.enqueue({ ...common, to: previous.email, content: previousAddressMail(username, report) }, now);
  }
}

/** The addresses that are told of what happens to an account: its own, and those that it had in the last days. */
export function* addressesToTell({ id, profile }: NotifiedAccount, now: number): Work<readonly string[]> {
  const previous = yield* listPreviousAddresses({ accountId: id, now });
  const all = [profile.email, ...previous.map(({ email }) => email)].filter(canReceiveMail);
  return [...new Map(all.map((address) => [address.toLowerCase(), address])).values()];
}

/** Tells both addresses that an operator gave an account another one. */
export function* enqueueNewAddressMails(
  { mail }: Pick<SecurityNoticeServices, 'mail'>,
  { id: accountId, profile }: NotifiedAccount,
  previous: string,
  now: number,
): Work<void> {
  const content = newAddressMail(profile.username, previous, profile.email);
  for (const to of [previous, profile.email].filter(canReceiveMail)) {
    yield* mail.enqueue({ to, accountId, kind: 'address changed', content, expiresAt: now + REPORT_LIFETIME }, now);
  }
}

/** Whether an address can be a person's: an account whose address another person verified has one that cannot (RFC 2606). */
export const canReceiveMail = (email: string): boolean => !email.toLowerCase().endsWith('.invalid');
