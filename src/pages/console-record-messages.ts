import type { HtmlPart } from './html.ts';

/** The texts of the console's pages that correct or delete the record of a person. */
export const consoleRecordTexts = {
  correct: {
    link: 'Correct',
    title: (name: HtmlPart): HtmlPart => ['Correct the record of ', name],
    lead: 'Another address, or another decision on whether it is verified, ends everything that is signed in and every link that waits. If this server sends mail, a message about another address goes to both.',
    displayName: 'Name',
    username: 'Username',
    usernameHint: '3 to 32 of a-z, 0-9, _, . and -. The former one is held for 90 days.',
    email: 'Email address',
    emailHint: 'Make sure that the address is theirs: who reads its mail can recover the account.',
    verified: 'The address is verified',
    submit: 'Save',
    stale:
      'Somebody changed the account since you opened this page. What you typed is below, to save again if it still holds. This is stored now:',
    taken: {
      displayName: 'Choose another name.',
      username: 'Another account has this username, or it is held. Choose another one.',
      email: 'Another account has this address. Choose another one.',
    },
    bad: {
      displayName: 'Enter a name of 1 to 64 characters on one line, without spaces around it.',
      username: 'Enter 3 to 32 of a-z, 0-9, _, . and -.',
      email: 'Enter an email address such as ada@example.com.',
    },
    done: (name: HtmlPart): HtmlPart => ['The record of ', name, ' is saved'],
    now: 'Apps see it from the next sign-in or refresh on.',
  },
  offboard: {
    link: 'Offboard',
    title: (name: HtmlPart): HtmlPart => ['Offboard ', name],
    lead: 'The account is suspended: every browser, code and token of this person ends at once, on every node, and nobody can sign in to it. It is deleted later; until then this can be taken back.',
    days: 'Delete the account after',
    daysOf: { '7': '7 days', '30': '30 days', '90': '90 days', '365': 'A year' },
    daysBad: 'Choose when the account is deleted.',
    submit: 'Offboard',
    done: (name: HtmlPart): HtmlPart => [name, ' is offboarded'],
    now: (due: HtmlPart): HtmlPart => ['Nothing is signed in to this account any more. It is deleted on ', due, '.'],
  },
  keep: {
    link: 'Call the deletion off',
    title: (name: HtmlPart): HtmlPart => ['Keep the account of ', name],
    lead: 'The account is not deleted. What had ended stays ended. The person is told by mail, if this server sends mail.',
    submit: 'Call the deletion off',
    done: (name: HtmlPart): HtmlPart => ['The account of ', name, ' stays'],
    now: 'The person can sign in again.',
    nowSuspended: 'It is still suspended: reinstate it, so that the person can sign in.',
  },
  remove: {
    link: 'Delete',
    title: (name: HtmlPart): HtmlPart => ['Delete the account of ', name],
    lead: 'The account and all that belongs to it are removed now, for good. Everything that is signed in ends at once. Its ID is never used again; its address and its username can be.',
    typed: 'Type the username',
    typedHint: 'So that nobody else is deleted by mistake.',
    typedBad: 'This is not the username of this account.',
    submit: 'Delete for good',
    done: (name: HtmlPart): HtmlPart => ['The account of ', name, ' is deleted'],
    now: 'Nothing of it is left but what the audit trail says, without its reasons.',
    backTo: 'All people',
  },
};

/** The texts about the providers that a person connected. */
export const consoleIdentityTexts = {
  connected: (time: HtmlPart): HtmlPart => ['connected ', time],
  lastUsed: (time: HtmlPart): HtmlPart => ['last used ', time],
  neverUsed: 'never used since',
  off: 'switched off',
  provider: 'Provider',
  subject: 'ID of the person there',
  since: 'Connected',
  unknown: 'The person has not connected this provider: it may have been removed before.',
  removal: {
    title: (provider: HtmlPart, name: HtmlPart): HtmlPart => ['Remove ', provider, ' from the account of ', name],
    lead: 'The person does not sign in through it any more, unless they connect it again. Groups that it maintains are left.',
    submit: 'Remove it',
    done: (provider: HtmlPart, name: HtmlPart): HtmlPart => [provider, ' is removed from the account of ', name],
    now: (browsers: number): string =>
      `Nobody signs in to this account through it. ${
        browsers === 1 ? 'One browser was signed out' : `${browsers} browsers were signed out`
      }, and every code and token from before has ended.`,
  },
};
