import { duration } from './error-messages.ts';
import type { HtmlPart } from './html.ts';

/** The texts of one's own data: the Data page, and coming back to an account that waits for its deletion. */
export const dataTexts = {
  nav: 'Data',
  title: 'Your data',
  username: 'Username',
  usernameLead:
    'Apps see the new one the next time they ask. The one that you give up is held for 90 days: only you can take it again.',
  newUsername: 'New username',
  changeUsername: 'Change username',
  usernameChanged: (name: string) => `Your username is now ${name}. Use it the next time you sign in.`,
  usernameSame: 'This is your username already. Choose another one.',
  usernameHeld: (until: string) => `This username is held until ${until}. Choose another one.`,
  usernameLimited: (seconds: number) =>
    `You changed your username too often. Wait ${duration(seconds)}, then try again.`,
  deletion: 'Delete your account',
  deletionLead:
    'Apps lose access at once, and you are signed out everywhere. You have 14 days to come back: sign in, and choose to keep your account. After that it is deleted for good.',
  confirmDeletion: 'I want to delete my account',
  confirmMissing: 'Check the box to confirm that you want to delete your account.',
  delete: 'Delete account',
  lastOwner:
    'You are the only owner of your organization. Ask another owner to join first, or the administrator of this service.',
  deletedTitle: 'Your account will be deleted',
  deletedText: (due: HtmlPart): HtmlPart => [
    'Apps have lost access, and you are signed out everywhere. Your account is deleted on ',
    due,
    '. Until then you can come back: sign in, and choose to keep your account.',
  ],
  mail: {
    subject: 'Your account will be deleted',
    asked: (username: string) => `You asked for the deletion of your account ${username}.`,
    until: (due: string) =>
      `It is deleted on ${due}. Until then you can come back: sign in, and choose to keep your account.`,
    notYou: 'If this was not you, sign in now, keep your account, and change your password.',
  },
  comeBack: {
    title: 'Your account will be deleted',
    text: (username: HtmlPart, due: HtmlPart): HtmlPart => [
      'You asked for the deletion of ',
      username,
      '. It is deleted on ',
      due,
      '.',
    ],
    lead: 'You can keep it. Apps do not get their access back: you sign in to them again.',
    keep: 'Keep my account',
    leave: 'Leave it as it is',
  },
};
