import type { HtmlPart } from './html.ts';

/** The page of a person who may not use an app. */
export const noAccess = {
  title: (app: string): string => `No access to ${app}`,
  heading: (app: HtmlPart): HtmlPart => ['You have no access to ', app],
  lead: (app: HtmlPart): HtmlPart => [
    app,
    ' is open to selected people only. Your account is fine, but it is not one of those that may use the app.',
  ],
  ask: (whom: HtmlPart, username: HtmlPart): HtmlPart => [
    'Ask ',
    whom,
    ' for access, and give your username: ',
    username,
    '. Once you have it, open the app again.',
  ],
  signedInAs: 'Signed in as',
  otherAccount: 'Use another account',
  back: (app: HtmlPart): HtmlPart => ['Return to ', app],
};
