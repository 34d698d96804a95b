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

const askedFrom = (from: string | undefined): readonly MailFact[] =>
  from === undefined ? [] : [['Requested from', from]];

interface Barred extends AboutSignIn {
  readonly bannedUntil: number | null;
  readonly contact: string | undefined;
}

const barredMail =
  (subject: string, reason: (about: AboutSignIn) => string, lasting: string) =>
  ({ bannedUntil, contact, ...about }: Barred): MailContent => ({
    subject,
    paragraphs: [
      reason(about),
      bannedUntil === null ? lasting : `The ban ends on ${momentText(bannedUntil)}. Ask again after that.`,
      `If you think that this is a mistake, contact ${contact ?? 'the administrator of this service'}.`,
    ],
    footer: ['If you did not ask for this, do nothing: your account is as it was.'],
  });

/** The messages that bring people back into their accounts. */
export const recoveryMails = {
  /** @param about.undone what was removed from the account before, where its owner reported something or undid a change */
  recover: ({
    username,
    host,
    from,
    code,
    url,
    undone,
  }: AskedFor & { readonly url: string; readonly undone: readonly string[] }): MailContent => ({
    subject: 'Recover your account',
    paragraphs: [
      `You asked to recover your account ${username} at ${host}.`,
      ...undone,
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
