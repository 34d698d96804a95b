import type { Method } from '../../../authenticators/rules/authentication-context.ts';
import type { MailContent, MailFact } from '../../../mail/content.ts';
import { mailTexts } from '../../../mail/messages.ts';
import { enumerated, momentText } from '../../../platform/date-text.ts';
import type { Device } from '../../../platform/validation/origin.ts';

const { noticeTexts: texts } = mailTexts;

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
  const device =
    browser !== null && system !== null ? texts.browserOn(browser, system) : (browser ?? system ?? undefined);
  return {
    device,
    network,
    ...(provedBy === 'passkey' && provedFactorSince !== null && { passkey: provedFactorSince }),
  };
};

/** Where somebody asked for a message, as its reader is told; undefined where nothing is known of that. */
export const askedFrom = (device: Device | undefined): string | undefined => device && whereOf(deviceFacts(device));

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

/** Whether operators did all that a report tells: then the person is asked about what came before it. */
export const isByOperators = ({ facts, events = [] }: SecurityReport): boolean =>
  [{ facts }, ...events].every((event) => event.facts.byOperator === true);

/** What a report says happened, when and where: one sentence for each, or one for each of several events. */
export function reportSentences(report: SecurityReport): readonly string[] {
  const { sentences, facts } = told(report);
  return [...sentences, ...facts.map(([name, value]) => texts.fact(name, value))];
}

/** The same for a message: of one event, when and where are facts beside the sentence. */
function told({ notice, facts, at, events = [] }: SecurityReport) {
  if (events.length > 1 || events.some(({ count }) => count > 1))
    return { sentences: events.map(eventSentence), facts: [] };
  const where = whereOf(facts);
  const named: readonly MailFact[] = [
    [texts.when, momentText(at, mailTexts.language)],
    ...(where === undefined ? [] : [[texts.where, where] as const]),
  ];
  return { sentences: [whatOf(notice, facts)], facts: named };
}

function whatOf(notice: SecurityNotice, facts: SecurityFacts): string {
  const [, what] = texts.kinds[notice](facts);
  // These two say so themselves.
  const isSaid = notice === 'recovery link made' || notice === 'unlocked';
  return facts.byOperator && !isSaid ? texts.byOperator(what) : what;
}

function whereOf({ device, network }: SecurityFacts): string | undefined {
  const parts = [device, network].filter((part) => part != null);
  return parts.length === 0 ? undefined : enumerated(parts, mailTexts.language);
}

const eventSentence = ({ notice, facts, at, firstAt, count }: AccountEvent): string =>
  texts.entry({ sentence: whatOf(notice, facts), where: whereOf(facts), at, firstAt, count });

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

/** A report with everything that its message tells. */
type ToldReport = SecurityReport & { readonly events: readonly AccountEvent[] };

/** Names the gravest event, and that there were others: an act must not hide behind a harmless one. */
function subjectOf(report: ToldReport): string {
  const { events } = report;
  const kinds = new Set(events.map(({ notice }) => notice));
  const gravest = BY_WEIGHT.find((kind) => kinds.has(kind));
  const named = events.findLast(({ notice }) => notice === gravest) ?? report;
  const [subject] = texts.kinds[named.notice](named.facts);
  return kinds.size > 1 ? texts.andMore(subject) : subject;
}

/** Whether what is told of an event asks the person to do something: to get again what a recovery took, or to sign in again. */
const asksMore = ({ notice, facts }: AccountEvent): boolean =>
  notice === 'recovered' ? facts.what !== undefined : notice === 'deletion cancelled' && facts.byOperator === true;

/** The message to the address of the account, with the link that ends everything. */
export const noticeMail = (username: string, report: ToldReport, url: string): MailContent =>
  mailTexts.notices.toAccount({
    ...{ username, url, ...told(report), subject: subjectOf(report) },
    isByOperator: isByOperators(report),
    asksMore: report.events.some(asksMore),
  });

/** The message to an address that the account had before. */
export const previousAddressMail = (username: string, report: ToldReport): MailContent =>
  mailTexts.notices.toPreviousAddress({ username, ...told(report), subject: subjectOf(report) });
