import { momentText } from '../../platform/date-text.ts';
import type { MailContent } from '../content.ts';

/** The messages about a copy of a person's data, and about the deletion of their account. */
export const personalDataMails = {
  exportReady: ({
    username,
    until,
    url,
  }: {
    readonly username: string;
    readonly until: number;
    readonly url: string;
  }): MailContent => ({
    subject: 'Your data is ready',
    paragraphs: [
      `The copy of the data of your account ${username} is ready. You can download it until ${momentText(until)}.`,
      'You are asked to sign in, and to confirm that it is you.',
    ],
    action: { label: 'Download your data', url },
    footer: ['If you did not ask for this, use the link “This was not me” in the message that came before this one.'],
  }),

  deletionCancelled: {
    recovered: ({ username, url }: { readonly username: string; readonly url: string }): MailContent => ({
      subject: 'Your account will not be deleted',
      paragraphs: [
        `The deletion of your account ${username} was canceled, because the account was recovered.`,
        'You can sign in again. Apps do not get their access back: you sign in to them again.',
      ],
      action: { label: 'Sign in', url },
      footer: ['If you still want to delete your account, sign in and ask for it again.'],
    }),
    /** By its owner, or by an operator who decided on its address: it has no password any more. */
    secured: ({ username, url }: { readonly username: string; readonly url: string }): MailContent => ({
      subject: 'Your account will not be deleted',
      paragraphs: [
        `The deletion of your account ${username} was canceled, because the account was secured.`,
        'The password no longer works: recover your account to get back in. Apps do not get their access back: you sign in to them again.',
      ],
      action: { label: 'Recover your account', url },
      footer: ['If you still want to delete your account, recover it and ask for it again.'],
    }),
  },
} as const;
