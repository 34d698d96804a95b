import type { MailContent } from '../../mail/content.ts';
import { spaced } from '../../mail/content.ts';
import { dateText, timeText } from '../../platform/date-text.ts';
import type { Device } from '../../platform/validation/origin.ts';
import { askedFrom } from '../notices/rules/notice-text.ts';
import { type UndoneFacts, undoneSentences } from '../notices/rules/undone-text.ts';

/** What a message is about: the account, and this service. */
interface MailSubject {
  readonly username: string;
  /** The host of the base URL. */
  readonly host: string;
  /** The browser that asked; undefined where none did. */
  readonly device?: Device | undefined;
}

interface Secrets {
  readonly url: string;
  readonly code: string;
}

/** @param undone what was removed from the account before, where its owner reported something or undid a change */
export const recoveryMail = (
  { username, host, device }: MailSubject,
  { url, code }: Secrets,
  undone: UndoneFacts | undefined,
): MailContent => ({
  subject: 'Recover your account',
  paragraphs: [
    `You asked to recover your account ${username} at ${host}.`,
    ...(undone === undefined ? [] : undoneSentences(undone)),
    'Type this code in the browser where you asked, or open the link.',
  ],
  facts: askedFrom(device),
  code,
  action: { label: 'Recover your account', url },
  footer: [
    'The code and the link work once, for 30 minutes. A newer message replaces this one.',
    'If you did not ask for this, do nothing: your account is as it was.',
  ],
});

export const signInCodeMail = ({ username, host, device }: MailSubject, code: string): MailContent => ({
  subject: `${spaced(code)} is your sign-in code`,
  facts: askedFrom(device),
  paragraphs: [
    `This code signs you in to your account ${username} at ${host}.`,
    'Type it only in the browser where you asked for it. Never give it to another person.',
  ],
  code,
  footer: [
    'The code works once, for 15 minutes. A newer message replaces this one.',
    'If you did not ask for this, do nothing: nobody is signed in without the code.',
  ],
});

/** Tells the owner of a banned or suspended account why no link comes, and whom to ask. */
export const barredMail = (
  { username, host }: MailSubject,
  asked: 'recover' | 'sign in',
  status: 'banned' | 'suspended',
  { bannedUntil, contact }: { readonly bannedUntil: number | null; readonly contact: string | undefined },
): MailContent => ({
  subject: `Your account is ${status}`,
  paragraphs: [
    asked === 'recover'
      ? `You asked to recover your account ${username} at ${host}. It is ${status}, so no link was made.`
      : `You asked for a code to sign in to your account ${username} at ${host}. It is ${status}, so no code was made.`,
    status === 'banned' && bannedUntil !== null
      ? `The ban ends on ${dateText(bannedUntil)}, ${timeText(bannedUntil)}. Ask again after that.`
      : `The account cannot be ${asked === 'recover' ? 'recovered' : 'used'} while this lasts.`,
    `If you think that this is a mistake, contact ${contact ?? 'the administrator of this service'}.`,
  ],
  footer: ['If you did not ask for this, do nothing: your account is as it was.'],
});
