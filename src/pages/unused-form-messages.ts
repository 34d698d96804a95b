import type { HtmlPart } from './html.ts';
import type { FormMismatch } from './unused-form.ts';

const person = (name: HtmlPart, username: HtmlPart): HtmlPart => [name, ' (', username, ')'];

/** The texts of forms that were not used. */
export const unusedForm = {
  title: 'Nothing was changed',
  texts: {
    'other account': (name: HtmlPart, username: HtmlPart): HtmlPart => [
      'You are now signed in as ',
      person(name, username),
      '. This page was opened for another account, so nothing was changed.',
    ],
    'earlier session': (name: HtmlPart, username: HtmlPart): HtmlPart => [
      'You are now signed in as ',
      person(name, username),
      '. This page was opened in an earlier session, so nothing was changed.',
    ],
    expired: (name: HtmlPart, username: HtmlPart): HtmlPart => [
      'You are signed in as ',
      person(name, username),
      '. This form has expired, so nothing was changed.',
    ],
  } satisfies Record<FormMismatch, unknown>,
  again: 'Open the page again',
  kept: 'What you typed is kept: open the page again, check it, then save it.',
  otherSignIn: (username: HtmlPart): HtmlPart => [
    'This form has expired or belongs to another sign-in, so nothing was changed. You are now signing in as ',
    username,
    '.',
  ],
};
