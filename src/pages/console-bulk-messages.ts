import type { HtmlPart } from './html.ts';

const people = (count: number): string => (count === 1 ? '1 person' : `${count.toLocaleString('en')} people`);

/** The texts of the console's pages for acts on many people. */
export const consoleBulkTexts = {
  title: 'Act on many people',
  link: 'Act on many',
  lead: 'Choose what to do. Then you name the people, see who they are, and confirm.',
  chosen: 'What to do',
  noAct: 'There is no such act on many people.',
  none: 'Your role includes no act on people.',
  newest: 'Your last lists',
  noLists: 'You have made none in the last 30 days.',
  people,

  who: 'Who they are: fill in one of these fields.',
  names: 'People, one per line',
  namesHint: 'Usernames, addresses or IDs; up to 5,000 lines, and up to 64 KB.',
  text: 'Or everybody whose name, username or address contains',
  textHint: 'Up to 5,000 people.',
  members: 'Or everybody in the group',
  membersHint: 'Its name or ID.',
  group: 'Group',
  groupHint: 'The name or ID of a group that operators maintain.',
  days: 'When the accounts are deleted',
  reason: 'Reason',
  reasonHint: 'Operators see it; the people do not.',
  next: 'See who they are',
  bad: {
    who: 'Fill in one of the fields that say who they are, and only one.',
    group: 'There is no such group of the installation.',
    reason: 'At most 500 characters, without control characters.',
    days: 'Choose one of the list.',
  },

  previewTitle: (act: string, count: number): string => `${act}: ${people(count)}?`,
  previewLead:
    'Nothing has happened yet. The act is done to the people on this list, and not to others whom a search finds later. The list can be used for an hour.',
  confirm: (act: string, count: number): string => `${act} (${people(count)})`,
  nobodyLeft: 'There is nobody on this list on whom you may act.',
  willAct: 'You act on',
  stronger: 'You may not act on',
  strongerHint: 'They hold a permission that you lack.',
  unknown: 'Not found',
  unknownMore: (count: number): string => `and ${count.toLocaleString('en')} more`,
  unknownCount: (count: number): string => (count === 1 ? '1 line' : `${count.toLocaleString('en')} lines`),
  toGroup: 'Group',

  states: {
    frozen: 'Not begun',
    running: 'Under way',
    finished: 'Finished',
    stopped: 'Stopped by you',
    'role ended': 'Ended: your role does not include this any more',
    'session ended': 'Ended: the session in which you began it has ended',
  },
  state: 'State',
  progress: (handled: number, total: number): string =>
    `${handled.toLocaleString('en')} of ${total.toLocaleString('en')}`,
  handled: 'Done with',
  outcomes: {
    waiting: 'Not yet',
    done: 'Done',
    nothing: 'Nothing to do',
    refused: 'Refused',
    failed: 'The server failed',
  },
  leftOut: 'Those who are not done stay as they were.',
  deleted: (count: number): string => `${people(count)} of this list were deleted since.`,
  live: 'This page shows how far it is. It goes on when you leave the page, not when you sign out.',
  again: 'Look again',
  stop: 'Stop',
  show: 'Show',
  all: 'All',
  list: 'The list',
  empty: 'Nobody.',
  failed: 'The server made a mistake: see its log.',
  events: 'The events of this act',
  began: 'Made',
  ended: 'Ended',
  backTo: 'Act on others',

  act: {
    suspend: {
      title: 'Suspend',
      lead: 'Every browser, code and token of these people ends, and they cannot sign in until they are reinstated.',
    },
    reinstate: {
      title: 'Reinstate',
      lead: 'These people can sign in again. What ended with the suspension stays ended.',
    },
    'end-sessions': {
      title: 'Sign out everywhere',
      lead: 'Every browser, code and token of these people ends. They can sign in again. Each is told by mail, if this server sends mail.',
    },
    'add-to-group': {
      title: 'Add to a group',
      lead: 'These people get what the group gives: the apps that are assigned to it, and its name in tokens.',
    },
    'remove-from-group': {
      title: 'Remove from a group',
      lead: 'Where an app is open to a person by this group alone, its codes and tokens for them end at once.',
    },
    'send-recovery': {
      title: 'Send recovery',
      lead: 'Each gets a link at the verified address, with which they set a new password.',
    },
    'remind-verification': {
      title: 'Ask to verify the address',
      lead: 'Each whose address is not verified is asked by mail to verify it.',
    },
    offboard: {
      title: 'Offboard',
      lead: 'Every browser, code and token of these people ends, they cannot sign in, and their accounts are deleted later.',
    },
  },
  row: (act: string, count: number): HtmlPart => [act, ', ', people(count)],
} as const;
