import type { HtmlPart } from './html.ts';

/** The texts of the page for an app's request that has expired while a page was open. */
export const expired = {
  title: 'Sign-in expired',
  causes: {
    expired: (app: HtmlPart): HtmlPart => [
      'The page was open for more than an hour, so the request of ',
      app,
      ' has expired. ',
    ],
    unknown: (app: HtmlPart): HtmlPart => [
      'The request of ',
      app,
      ' is more than an hour old, or was started in another browser, or its cookies were cleared. ',
    ],
    'no cookie': (app: HtmlPart): HtmlPart => [
      'Your browser sent no cookies, so the request of ',
      app,
      ' cannot go on. They were cleared, or are blocked: allow cookies for this site. ',
    ],
  },
  again: 'Start again in the app.',
  signedIn: (name: HtmlPart, username: HtmlPart): HtmlPart => ['You are signed in as ', name, ' (', username, ').'],
  toApp: (app: HtmlPart): HtmlPart => ['Go to ', app],
  toAccount: 'Go to your account',
};
