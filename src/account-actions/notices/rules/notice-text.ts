import type { Method } from '../../../authenticators/rules/authentication-context.ts';
import type { MailContent, MailFact } from '../../../mail/content.ts';
import { enumerated, momentText } from '../../../platform/date-text.ts';
import { readableEmail } from '../../../platform/domain-name.ts';
import type { Device } from '../../../platform/validation/origin.ts';
import { type UndoneFacts, undoneSentences } from './undone-text.ts';

/** What people are told about their account by mail. */
export type SecurityNotice =
  | 'new device'
  | 'password changed'
  | 'address changed'
  | 'username changed'
  | 'factor added'
  | 'factor removed'
  | 'recovery codes'
  | 'recovery setting'
  | 'organization joined'
  | 'recovered'
  | 'recovery link made'
  | 'deletion requested'
  | 'deletion cancelled'
  | 'export requested'
  | 'operator act'
  | 'signed out everywhere'
  | 'banned'
  | 'suspended'
  | 'unlocked';

/** What a notice says beside its kind. */
export interface SecurityFacts {
  /** The browser in which it happened, such as `Firefox on Linux`. */
  readonly device?: string | undefined;
  /** The network of that browser. */
  readonly network?: string | null | undefined;
  /** What was added or removed, such as `a passkey named “Laptop”`. */
  readonly what?: string | undefined;
  /** When the account is deleted. */
  readonly dueAt?: number;
  /** Whether an operator did it. */
  readonly byOperator?: boolean | undefined;
  /** Where a passkey proved who is in that browser, when it was set up: the report ends it. */
  readonly passkey?: number;
}

/** The facts of a browser, or of a session there. */
export const deviceFacts = ({
  browser,
  system,
  network,
  provedBy,
  provedFactorSince = null,
}: {
  readonly browser: string | null;
  readonly system: string | null;
  readonly network: string | null;
  readonly provedBy?: Method;
  readonly provedFactorSince?: number | null;
}): SecurityFacts => {
  const device = browser !== null && system !== null ? `${browser} on ${system}` : (browser ?? system ?? undefined);
  return {
    device,
    network,
    ...(provedBy === 'passkey' && provedFactorSince !== null && { passkey: provedFactorSince }),
  };
};

/** Where somebody asked for a message, as its reader is told; undefined where nothing is known of that. */
export function askedFrom(device: Device | undefined): string | undefined {
  const where = device === undefined ? '' : whereOf(deviceFacts(device));
  return where === '' ? undefined : where;
}

/** Something that happened to an account, once or several times. */
export interface AccountEvent {
  readonly notice: SecurityNotice;
  readonly facts: SecurityFacts;
  /** The last time. */
  readonly at: number;
  readonly firstAt: number;
  readonly count: number;
  /** Those of earlier ones of the same kind: see {@link SecurityFacts.passkey}. */
  readonly passkeys?: readonly number[];
}

/** When the passkeys were set up that proved who did something. */
export const passkeysOf = ({ facts, passkeys = [] }: Pick<AccountEvent, 'facts' | 'passkeys'>): readonly number[] => [
  ...new Set([...passkeys, ...(facts.passkey === undefined ? [] : [facts.passkey])]),
];

/** A notice as it is shown on the page behind its link. */
export interface SecurityReport {
  readonly notice: SecurityNotice;
  readonly facts: SecurityFacts;
  readonly at: number;
  /** The factors that were added from then on are removed by the report: when the first open one was sent. */
  readonly since: number;
  /** What that one was about; undefined in a report of an earlier version. */
  readonly first?: SecurityNotice;
  /** Everything that the message tells, where that is more than this. */
  readonly events?: readonly AccountEvent[];
  /** Those that earlier reports named which this one stands for: see {@link carriedPasskeys}. */
  readonly passkeys?: readonly number[];
}

/** A report that nobody answered. */
export interface OpenReportOfChain {
  readonly report: Partial<SecurityReport>;
  /** Whether its link still works. */
  readonly isLive: boolean;
}

/** So many passkeys are carried from one report to the next: those that were named first, which no later acts push out. */
const MOST_CARRIED = 50;

/**
 * The passkeys that a new report ends besides its own, since the next act of a thief ends the link that named them. A sign-in of its own may
 * be another person's than the one before: the link that tells of that, and still works, names its passkey alone.
 * @param open the reports that nobody answered, the oldest first
 */
export function carriedPasskeys(notice: SecurityNotice, open: readonly OpenReportOfChain[]): readonly number[] {
  const named = open.flatMap(({ report: { facts = {}, events = [], passkeys = [] }, isLive }) =>
    isLive && notice === 'new device' ? passkeys : [...passkeys, ...[{ facts }, ...events].flatMap(passkeysOf)],
  );
  return [...new Set(named)].slice(0, MOST_CARRIED);
}

const TEXTS: Readonly<Record<SecurityNotice, (facts: SecurityFacts) => readonly [subject: string, what: string]>> = {
  'new device': () => ['New sign-in to your account', 'There was a sign-in to your account in a new browser.'],
  'password changed': () => ['Your password was changed', 'The password of your account was changed.'],
  'address changed': () => ['Your email address was changed', 'The email address of your account was changed.'],
  'username changed': ({ what = 'another one' }) => [
    'Your username was changed',
    `The username of your account was changed from ${what}.`,
  ],
  'factor added': ({ what = 'a way to sign in' }) => [
    'A way to sign in was added',
    `This was added to your account: ${what}.`,
  ],
  'factor removed': ({ what = 'a way to sign in' }) => [
    'A way to sign in was removed',
    `This was removed from your account: ${what}.`,
  ],
  'recovery codes': () => [
    'New recovery codes were made',
    'New recovery codes were made for your account. The earlier ones no longer work.',
  ],
  'recovery setting': ({ what = 'another way' }) => [
    'How your account is recovered was changed',
    `From now on, this recovers your account: ${what}.`,
  ],
  'organization joined': ({ what = 'an organization' }) => [
    'Your account joined an organization',
    `An invitation was accepted with your account, which is now a member of ${what}.`,
  ],
  recovered: ({ what }) => [
    'Your account was recovered',
    `Your account was recovered, and everything from before was ended.${what === undefined ? '' : ` ${what}`}`,
  ],
  'recovery link made': () => [
    'A recovery link was made for your account',
    'An operator of this service made a link with which your account can be recovered.',
  ],
  'signed out everywhere': () => [
    'You were signed out everywhere',
    'Every browser was signed out of your account, and every app has to ask you to sign in again.',
  ],
  'export requested': () => [
    'A copy of your data was asked for',
    'A copy of the data of your account was asked for. It can be downloaded for a day by those who are signed in and confirm that they are you.',
  ],
  'operator act': ({ what = 'something' }) => [
    'Your account was used as an operator',
    `With your rights as an operator of this service, this was made or changed: ${what}.`,
  ],
  // The person may have come back by the time at which this is read.
  'deletion requested': ({ dueAt }) => [
    'The deletion of your account was requested',
    `The deletion of your account was requested.${dueAt === undefined ? '' : ` Unless you sign in and choose to keep it, it will be deleted on ${momentText(dueAt)}.`}`,
  ],
  'deletion cancelled': ({ byOperator }) => [
    byOperator ? 'Your account will not be deleted' : 'Your account is kept',
    byOperator
      ? 'The deletion of your account was canceled. Sign in again: apps do not get their access back by themselves.'
      : 'The deletion of your account was called off after a sign-in.',
  ],
  banned: () => ['Your account was banned', 'Your account was banned. Every browser and every app was signed out.'],
  unlocked: () => [
    'Sign-in to your account was unlocked',
    'An operator of this service ended the wait after failed attempts to sign in to your account.',
  ],
  suspended: () => [
    'Your account was suspended',
    'Your account was suspended. Every browser and every app was signed out.',
  ],
};

/** What a report says happened, when and where: one sentence for each, or one for each of several events. */
export function reportSentences(report: SecurityReport): readonly string[] {
  const { sentences, facts } = told(report);
  return [...sentences, ...facts.map(([name, value]) => `${name}: ${value}.`)];
}

/** The same for a message: of one event, when and where are facts beside the sentence. */
function told({ notice, facts, at, events = [] }: SecurityReport) {
  if (events.length > 1 || events.some(({ count }) => count > 1))
    return { sentences: events.map(eventSentence), facts: [] };
  const where = whereOf(facts);
  const named: readonly MailFact[] = [['When', momentText(at)], ...(where === '' ? [] : [['Where', where] as const])];
  return { sentences: [whatOf(notice, facts)], facts: named };
}

function whatOf(notice: SecurityNotice, facts: SecurityFacts): string {
  const [, what] = TEXTS[notice](facts);
  return facts.byOperator && notice !== 'recovery link made' ? `${what} An operator of this service did this.` : what;
}

const whereOf = ({ device, network }: SecurityFacts): string =>
  enumerated([device, network].filter((part) => part != null));

function eventSentence({ notice, facts, at, firstAt, count }: AccountEvent): string {
  const where = whereOf(facts);
  const when = count === 1 ? momentText(at) : `${count} times, first ${momentText(firstAt)}, last ${momentText(at)}`;
  return `${whatOf(notice, facts)} When: ${when}.${where === '' ? '' : ` Where: ${where}.`}`;
}

/** The kinds of events from the one that people must know of first. */
const BY_WEIGHT: readonly SecurityNotice[] = [
  'recovered',
  'password changed',
  'address changed',
  'username changed',
  'factor removed',
  'factor added',
  'recovery codes',
  'recovery setting',
  'operator act',
  'organization joined',
  'recovery link made',
  'deletion requested',
  'new device',
  'export requested',
  'banned',
  'suspended',
  'signed out everywhere',
  'deletion cancelled',
];

/** Names the gravest event, and that there were others: an act must not hide behind a harmless one. */
function subjectOf(events: readonly AccountEvent[]): string {
  const kinds = new Set(events.map(({ notice }) => notice));
  const gravest = BY_WEIGHT.find((kind) => kinds.has(kind));
  const named = events.findLast(({ notice }) => notice === gravest) ?? events.at(-1);
  const [subject] = named === undefined ? ['Your account was changed'] : TEXTS[named.notice](named.facts);
  return kinds.size > 1 ? `${subject}, and more` : subject;
}

/** The message to the address of the account, with the link that ends everything. */
export function noticeMail(
  username: string,
  report: SecurityReport & { readonly events: readonly AccountEvent[] },
  url: string,
): MailContent {
  const { sentences, facts } = told(report);
  return {
    subject: subjectOf(report.events),
    facts,
    paragraphs: [
      `This is about your account ${username}.`,
      ...sentences,
      report.events.every(({ facts }) => facts.byOperator)
        ? 'If you expected this, and did everything before it yourself, there is nothing to do.'
        : 'If this was you, there is nothing to do.',
    ],
    action: { label: 'This was not me', url },
    footer: [
      'Before anything happens, the page asks you to confirm. Then it ends every session of your account and begins its recovery. The link works for seven days, or until your account is secured again, such as by a new password.',
    ],
    withoutLink: [
      'This message was to have a link to report that it was not you. The link ended before the message could be sent, because your account was secured, or changed again. If it was not you, use the link of a later message, or recover your account at the sign-in page.',
    ],
  };
}

/** The message to an address that the account had before: what it can do about it was sent when the address was changed. */
export function previousAddressMail(
  username: string,
  report: SecurityReport & { readonly events: readonly AccountEvent[] },
): MailContent {
  const { sentences, facts } = told(report);
  return {
    subject: subjectOf(report.events),
    facts,
    paragraphs: [
      `This is about the account ${username}, whose address this was until a few days ago.`,
      ...sentences,
      'If you did not change the address of that account, open the message about that change and use its link, which gives the account back to this address.',
    ],
  };
}

/** The message to the address that an account had until an operator gave it another one. */
export const addressTakenMail = (username: string): MailContent => ({
  subject: 'The email address of your account was changed',
  paragraphs: [
    `An operator of this service changed the email address of the account ${username}, which was this one until then.`,
    'If you did not expect this, contact the administrator of this service.',
  ],
});

/** The message to the new address of an account that an operator changed. */
export const newAddressMail = (
  username: string,
  previous: string,
  email: string,
  undone: UndoneFacts | undefined,
): MailContent => ({
  subject: 'The email address of your account was changed',
  paragraphs: [
    `An operator of this service changed the email address of the account ${username} from ${readableEmail(previous)} to ${readableEmail(email)}.`,
    ...(undone === undefined ? [] : undoneSentences(undone)),
    'If you did not expect this, contact the administrator of this service.',
  ],
});
