import { momentText } from '../../platform/date-text.ts';
import { type MailContent, type MailFact, spaced } from '../content.ts';

/** What a message is about: the account, and this service. */
interface AboutSignIn {
  readonly username: string;
  /** The host of the base URL. */
  readonly host: string;
}

/** What somebody asked for. */
interface AskedFor extends AboutSignIn {
  /** The browser that asked; undefined where none did. */
  readonly from: string | undefined;
  readonly code: string;
}

const LINK_ALONE =
  'The link works once, for 30 minutes. After that, “Forgot your password?” on the sign-in page sends another one.';

const MISTAKE = 'If you think that this is a mistake, ask for help.';

const askedFrom = (from: string | undefined): readonly MailFact[] =>
  from === undefined ? [] : [['Requested from', from]];

interface Barred extends AboutSignIn {
  readonly bannedUntil: number | null;
}

interface SecuredBarred extends Barred {
  /** What was removed from the account. */
  readonly undone: readonly string[];
}

const barredMail =
  (subject: string, reason: (about: AboutSignIn) => string, lasting: string) =>
  ({ bannedUntil, ...about }: Barred): MailContent => ({
    subject,
    paragraphs: [
      reason(about),
      bannedUntil === null ? lasting : `The ban ends on ${momentText(bannedUntil)}. Ask again after that.`,
      MISTAKE,
    ],
    footer: ['If you did not ask for this, do nothing: your account is as it was.'],
  });

const securedBarredMail =
  (status: string, lasting: string) =>
  ({ bannedUntil, undone, username, host }: SecuredBarred): MailContent => ({
    subject: 'Your account is secured',
    paragraphs: [
      `Your account ${username} at ${host} is secured: every browser and every app is signed out, and the password no longer works. It is ${status}, so it cannot be recovered now.`,
      ...undone,
      bannedUntil === null ? lasting : `The ban ends on ${momentText(bannedUntil)}. Recover your account after that.`,
      MISTAKE,
    ],
  });

/** The messages that bring people back into their accounts. */
export const recoveryMails = {
  /** To a person who asked in a browser. */
  recover: ({ username, host, from, code, url }: AskedFor & { readonly url: string }): MailContent => ({
    subject: 'Recover your account',
    paragraphs: [
      `You asked to recover your account ${username} at ${host}.`,
      'Type this code in the browser where you asked, or open the link.',
    ],
    facts: askedFrom(from),
    code,
    action: { label: 'Recover your account', url },
    footer: [
      'The code and the link work once, for 30 minutes. A newer message replaces this one.',
      'If you did not ask for this, do nothing: your account is as it was.',
    ],
  }),

  /** To a person whom an operator helps. */
  sentByOperator: ({ username, host, url }: AboutSignIn & { readonly url: string }): MailContent => ({
    subject: 'Recover your account',
    paragraphs: [
      `An operator of this service sends you this link, with which you recover your account ${username} at ${host}.`,
    ],
    action: { label: 'Recover your account', url },
    footer: [
      'The link works once, for 30 minutes. A newer message replaces this one.',
      'If you did not ask for help, do nothing: your account is as it was.',
    ],
  }),

  /**
   * To the owner of an account, who said that something was not them, or undid a change of its address.
   * @param about.undone what was removed from the account
   */
  secured: ({
    username,
    host,
    url,
    undone,
  }: AboutSignIn & { readonly url: string; readonly undone: readonly string[] }): MailContent => ({
    subject: 'Recover your account',
    paragraphs: [
      `Your account ${username} at ${host} is secured: every browser and every app is signed out, and the password no longer works.`,
      ...undone,
      'Open the link to set a new password.',
    ],
    action: { label: 'Recover your account', url },
    footer: [LINK_ALONE],
  }),

  /** To a person who went back to an earlier address, with which nothing is left that signs in. */
  wentBack: ({ username, host, url }: AboutSignIn & { readonly url: string }): MailContent => ({
    subject: 'Recover your account',
    paragraphs: [
      `Your account ${username} at ${host} has its earlier address again. Every way to sign in to it was added after the change of its address, and was removed with it.`,
      'Open the link to set a new password.',
    ],
    action: { label: 'Recover your account', url },
    footer: [LINK_ALONE],
  }),

  signInCode: ({ username, host, from, code }: AskedFor): MailContent => ({
    subject: `${spaced(code)} is your sign-in code`,
    facts: askedFrom(from),
    paragraphs: [
      `This code signs you in to your account ${username} at ${host}.`,
      'Type it only in the browser where you asked for it. Never give it to another person.',
    ],
    code,
    footer: [
      'The code works once, for 15 minutes. A newer message replaces this one.',
      'If you did not ask for this, do nothing: nobody is signed in without the code.',
    ],
  }),

  /** Tells the owner of a banned or suspended account, who reported something or undid a change, why no link comes, and whom to ask. */
  securedBarred: {
    banned: securedBarredMail('banned', 'An operator has to end the ban first.'),
    suspended: securedBarredMail('suspended', 'An operator has to end the suspension first.'),
  },

  /** Tells the owner of a banned or suspended account why no link or code comes, and whom to ask. */
  barred: {
    recover: {
      banned: barredMail(
        'Your account is banned',
        ({ username, host }) =>
          `You asked to recover your account ${username} at ${host}. It is banned, so no link was made.`,
        'The account cannot be recovered while this lasts.',
      ),
      suspended: barredMail(
        'Your account is suspended',
        ({ username, host }) =>
          `You asked to recover your account ${username} at ${host}. It is suspended, so no link was made.`,
        'The account cannot be recovered while this lasts.',
      ),
    },
    'sign in': {
      banned: barredMail(
        'Your account is banned',
        ({ username, host }) =>
          `You asked for a code to sign in to your account ${username} at ${host}. It is banned, so no code was made.`,
        'The account cannot be used while this lasts.',
      ),
      suspended: barredMail(
        'Your account is suspended',
        ({ username, host }) =>
          `You asked for a code to sign in to your account ${username} at ${host}. It is suspended, so no code was made.`,
        'The account cannot be used while this lasts.',
      ),
    },
  },
} as const;
