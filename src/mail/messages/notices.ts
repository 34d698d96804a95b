import { momentText } from '../../platform/date-text.ts';
import type { MailContent, MailFact } from '../content.ts';

/** What the subject and the sentence of a notice name. */
interface NoticeValues {
  /** What was added, removed or changed, such as an entry of `noticeTexts.things`. */
  readonly what?: string | undefined;
  /** When the account is deleted. */
  readonly dueAt?: number;
  readonly byOperator?: boolean | undefined;
}

type NoticeKind = (values: NoticeValues) => readonly [subject: string, sentence: string];

/** An event among several. */
interface Entry {
  readonly sentence: string;
  readonly at: number;
  readonly firstAt: number;
  readonly count: number;
  readonly where: string | undefined;
}

/** The texts of which notices are made. */
export const noticeTexts = {
  kinds: {
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
      `Your account was recovered. Every browser and every app that was signed in before was signed out.${what === undefined ? '' : ` ${what}`}`,
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
      'A copy of the data of your account was asked for. For a day, it can be downloaded after signing in and confirming once more.',
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
  } satisfies Record<string, NoticeKind>,
  /** A subject that names the gravest of several kinds of events. */
  andMore: (subject: string) => `${subject}, and more`,
  byOperator: (sentence: string) => `${sentence} An operator of this service did this.`,

  when: 'When',
  where: 'Where',
  browserOn: (browser: string, system: string) => `${browser} on ${system}`,
  /** What is known of an event, as a sentence. */
  fact: (name: string, value: string) => `${name}: ${value}.`,
  entry({ sentence, at, firstAt, count, where }: Entry): string {
    const when = count === 1 ? momentText(at) : `${count} times, first ${momentText(firstAt)}, last ${momentText(at)}`;
    return `${sentence} When: ${when}.${where === undefined ? '' : ` Where: ${where}.`}`;
  },

  /** What was added to an account, removed from it, or made with it. */
  things: {
    newApp: 'an authenticator app',
    app: 'the authenticator app',
    passkey: (name: string) => `the passkey “${name}”`,
    password: 'your password',
    provider: (name: string) => `signing in with “${name}”`,
    mailAndCode: 'a link to your email address and a recovery code',
    mailAlone: 'a link to your email address alone',
    adminKey: (name: string) => `the admin key “${name}”`,
    role: (role: string) => `the role ${role} for a person`,
    registeredApp: (name: string) => `the app “${name}”`,
    secret: (app: string) => `a secret of the app “${app}”`,
    unblockedDomain: (domain: string) => `the unblocked domain “${domain}”`,
    settings: {
      app: (name: string, fields: string) => `settings of the app “${name}” (${fields})`,
      organization: (name: string, fields: string) => `settings of the organization “${name}” (${fields})`,
      group: (name: string, fields: string) => `settings of the group “${name}” (${fields})`,
    },
    upstream: (name: string) => `the provider “${name}”`,
    invitation: (role: string) => `an invitation with the role ${role}`,
  },

  /** What a person who recovered an account is told beside that. */
  recovered: {
    providers: 'Other providers were disconnected. Connect them again on the Security page of your account.',
    lostCodes: 'Your earlier recovery codes no longer work. You can get new ones on the Security page of your account.',
    earlierApp:
      'You used a code of your earlier authenticator app, so that one works again. The one that replaced it was removed.',
    lostApp:
      'You used a recovery code, and your authenticator app had been replaced in the days before, so it was removed. You can set one up on the Security page of your account.',
    left: (organization: string) =>
      `It is no longer a member of ${organization}, which it joined in the days before: if you joined it yourself, ask for another invitation.`,
    username: (username: string) => `Its username is ${username} again.`,
  },
} as const;

/** What happened to an account, as its notice says it. */
interface Happened {
  readonly username: string;
  readonly subject: string;
  readonly sentences: readonly string[];
  readonly facts: readonly MailFact[];
}

/** The notices. */
export const noticeMails = {
  /** To the address of the account, with the link that ends everything. */
  toAccount: ({
    username,
    isByOperator,
    asksMore,
    url,
    subject,
    sentences,
    facts,
  }: Happened & {
    readonly isByOperator: boolean;
    /** Whether the sentences ask the person to do something. */
    readonly asksMore: boolean;
    readonly url: string;
  }): MailContent => ({
    subject,
    facts,
    paragraphs: [
      `This is about your account ${username}.`,
      ...sentences,
      `${isByOperator ? 'If you expected this, and did everything before it yourself' : 'If this was you'}, there is nothing ${asksMore ? 'else ' : ''}to do.`,
    ],
    action: { label: isByOperator ? 'Somebody else used my account' : 'This was not me', url },
    footer: [
      'Before anything happens, the page asks you to confirm. Then it ends every session of your account, and says how you get back in. The link works for seven days, or until your account is secured again, such as by a new password.',
    ],
    withoutLink: [
      'If this was not you, use the link of a later message, or recover your account at the sign-in page. This message has no link of its own, because your account was secured or changed again before it could be sent.',
    ],
  }),

  /** To an address that the account had before: what it can do about it was sent when the address was changed. */
  toPreviousAddress: ({ username, subject, sentences, facts }: Happened): MailContent => ({
    subject,
    facts,
    paragraphs: [
      `This is about your account ${username}, which had this email address until a few days ago.`,
      ...sentences,
      'If it was not you who changed its address, open the message about that change and use its link: it gives the account back to this address.',
    ],
  }),

  /** To the address that an account had until an operator gave it another one. */
  addressTaken: ({ username }: { readonly username: string }): MailContent => ({
    subject: 'The email address of your account was changed',
    paragraphs: [
      `An operator of this service changed the email address of the account ${username}, which was this one until then.`,
      'If you did not expect this, ask for help.',
    ],
  }),

  /** To the new address of an account that an operator changed. */
  newAddress: ({
    username,
    previous,
    email,
    undone,
  }: {
    readonly username: string;
    readonly previous: string;
    readonly email: string;
    readonly undone: readonly string[];
  }): MailContent => ({
    subject: 'The email address of your account was changed',
    paragraphs: [
      `An operator of this service changed the email address of the account ${username} from ${previous} to ${email}.`,
      ...undone,
      'If you did not expect this, ask for help.',
    ],
  }),
} as const;
