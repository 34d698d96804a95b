import { duration } from './error-messages.ts';
import type { HtmlPart } from './html.ts';

/** The texts of one's own data: the Data page, and coming back to an account that waits for its deletion. */
export const dataTexts = {
  nav: 'Data',
  title: 'Your data',
  deletion: 'Delete your account',
  deletionState: 'You can come back for 14 days.',
  deletionLead:
    'Apps lose access at once, and you are signed out everywhere. You have 14 days to come back: sign in, and choose to keep your account. After that it is deleted for good.',
  confirmDeletion: 'I want to delete my account',
  confirmMissing: 'Check the box to confirm that you want to delete your account.',
  delete: 'Delete account',
  lastOwner: (console: HtmlPart, operator: HtmlPart): HtmlPart => [
    'You are the only owner of your organization. Make another member its owner ',
    console,
    ' first, or contact ',
    operator,
    '.',
  ],
  deletedTitle: 'Your account will be deleted',
  deletedText: (due: HtmlPart): HtmlPart => [
    'Apps have lost access, and you are signed out everywhere. Your account will be deleted on ',
    due,
    '. Until then you can come back: sign in, and choose to keep your account.',
  ],
  export: {
    title: 'Export your data',
    sectionLead: 'Download a copy of what this service stores about you.',
    link: 'Export your data',
    lead: 'A copy of your profile, ways to sign in, browsers, apps and recent activity, as a JSON file. Your picture is a second file.',
    ask: 'Make a copy',
    again: 'Make a new copy',
    againLead: 'A new copy replaces this one.',
    waiting: 'Your copy is being made',
    progress: (made: number, all: number, events: number) =>
      events === 0 ? `${made} of ${all} parts are done.` : `${made} of ${all} parts are done, with ${events} events.`,
    waitingLead: 'This takes a few seconds. You can also leave this page and come back later.',
    check: 'Check again',
    ready: 'Your copy is ready',
    made: 'Made on',
    until: 'Available until',
    size: 'Size',
    kilobytes: (count: number) => `${count} KB`,
    download: 'Download your data',
    downloadPicture: 'Download your picture',
    failed: (operator: HtmlPart): HtmlPart => [
      'Your copy could not be made. Make a new one. If that fails as well, contact ',
      operator,
      '.',
    ],
    gone: 'This copy is not available any more. Make a new one.',
    limited: (seconds: number) => `You made too many copies. Wait ${duration(seconds)}, then try again.`,
  },
  comeBack: {
    title: 'Your account will be deleted',
    text: (username: HtmlPart, due: HtmlPart): HtmlPart => [
      'You asked for the deletion of ',
      username,
      '. It will be deleted on ',
      due,
      '.',
    ],
    lead: 'You can still keep it. Apps do not get their access back: you sign in to them again.',
    keep: 'Keep my account',
    leave: 'Let it be deleted',
  },
};
