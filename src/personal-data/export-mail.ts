import type { MailContent } from '../mail/mail.ts';

/** Tells a person that they can download their data. */
export const exportReadyMail = (username: string, until: string, url: string): MailContent => ({
  subject: 'Your data is ready',
  paragraphs: [
    `The copy of the data of your account ${username} is ready. You can download it until ${until}.`,
    'You are asked to sign in, and to confirm that it is you.',
  ],
  action: { label: 'Download your data', url },
  footer: ['If you did not ask for this, use the link "This was not me" in the message that came before this one.'],
});
