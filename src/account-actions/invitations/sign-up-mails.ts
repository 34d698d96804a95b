import type { MailContent } from '../../mail/content.ts';
import { spaced } from '../../mail/content.ts';

/** The messages of a sign-up. They repeat nothing of the form: a stranger may have typed it. */
export const signUpMails = {
  verify: (code: string, url: string): MailContent => ({
    subject: `${spaced(code)} confirms your email address`,
    paragraphs: ['To create your account, enter this code in the browser where you started:'],
    code,
    action: { label: 'Confirm in the same browser', url },
    footer: [
      'The code and the link work for 15 minutes.',
      'If you did not ask for an account, ignore this message. No account is created.',
    ],
  }),
  exists: (username: string, url: string): MailContent => ({
    subject: 'You already have an account',
    paragraphs: [
      `Someone tried to create an account with this email address. You already have one: your username is ${username}.`,
      'Nothing was changed. If it was you, sign in instead. If you forgot your password, the sign-in page helps you.',
    ],
    action: { label: 'Sign in', url },
    footer: ['If it was not you, you can ignore this message.'],
  }),
} as const;
