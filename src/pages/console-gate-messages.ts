import { enumerated } from '../platform/date-text.ts';
import type { HtmlPart } from './html.ts';

/** What the console says instead of a page. */
export const consoleGateTexts = {
  noRoleTitle: 'The console is for operators',
  noRole: (username: HtmlPart): HtmlPart => [
    'You are signed in as ',
    username,
    ', and this account has no role of operators. An owner can give it one:',
  ],
  noRoleCommand: (username: string): string => `tessera user grant-role ${username} admin`,
  noRoleOther: 'Or sign out, and sign in with another account.',
  missingTitle: 'Your role does not include this',
  missing: (permission: HtmlPart): HtmlPart => [
    'Your role does not include the permission ',
    permission,
    ', which this page needs.',
  ],
  missingRoles: (roles: readonly string[]): string =>
    `Roles that include it: ${enumerated(roles)}. Ask somebody who has one of them. A role in one organization counts there alone.`,
  strongerTitle: 'This person holds more than you',
  cannotOpenTitle: 'You cannot change how this person signs in',
  cannotDeleteTitle: 'You cannot delete this account',
  nothingTitle: 'There is nothing here for your role yet',
  nothing:
    'Your role counts in an organization, or for your own apps. Use it with the command line or the admin API: these pages do not show such a part yet.',
  notFoundTitle: 'This is not here',
  notFoundSearch: 'Search the console',
  setUpTitle: 'Set up a second factor first',
  setUp:
    'The console opens accounts of other people, so a password alone is not enough. Set up a passkey or an authenticator app. Then sign out, and sign in with it.',
  setUpLink: 'Set up a second factor',
  againTitle: 'Sign in again with your second factor',
  again: 'You signed in without your second factor. Sign out and in again: you come back to this page.',
  againSubmit: 'Sign out and sign in again',
};
