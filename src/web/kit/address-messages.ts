import type { HtmlPart } from './html.ts';

/** The texts of pages about email addresses, and of those that links in messages open. */
export const addressTexts = {
  secureTitle: 'Was this you?',
  secureLead: (username: HtmlPart): HtmlPart => ['This happened to the account ', username, ':'],
  secureText:
    'If it was not you, somebody else may be in your account. This ends everything at once: every browser and every app is signed out, the password stops working, and sign-in methods that were added since are removed.',
  secureNext: 'We then send a link to your email address, with which you set a new password.',
  secureSubmit: 'This was not me: end everything',
  secureStay: 'If it was you, close this page. Nothing changes.',
  securedTitle: 'Your account is secured',
  secured: 'Every browser and every app is signed out, and the password no longer works.',
  securedNext: 'We sent a link to your email address. Open it within 30 minutes to set a new password.',
  securedLost: 'If you cannot read that address, contact ',
  deadTitle: 'This link no longer works',
  dead: 'It was used before, has expired, or the account was secured anew since. Nothing was changed.',
  deadRecover: 'If somebody else may be in your account, recover it now:',
  recover: 'Recover your account',
};
