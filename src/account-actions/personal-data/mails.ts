import type { MailContent } from '../../mail/content.ts';

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

/** Tells a person that the deletion of their account was canceled: by an operator, or because the account was secured or recovered. */
export const deletionCancelledMail = (username: string, url: string): MailContent => ({
  subject: 'Your account will not be deleted',
  paragraphs: [
    `The deletion of your account ${username} was canceled, because the account was secured or recovered.`,
    'You can sign in again. Apps do not get their access back: you sign in to them again.',
  ],
  action: { label: 'Sign in', url },
  footer: ['If you still want to delete your account, sign in and ask for it again.'],
});
