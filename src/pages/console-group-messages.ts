import type { HtmlPart } from './html.ts';

/** The texts of the console's pages about groups. */
export const consoleGroupTexts = {
  title: 'Groups',
  search: 'Name or ID',
  searchHint: 'A part of the name is enough.',
  submit: 'Search',
  inOrder: 'In the order in which they were made.',
  contains: (text: HtmlPart): HtmlPart => ['The name contains ', text, '.'],
  nothing: 'There is no group yet. Make one with: tessera group create',
  more: 'More',
  first: 'From the beginning',
  ofInstallation: 'The installation',
  ofOrganization: 'An organization',

  about: 'About this group',
  name: 'Name in tokens',
  description: 'What it is for',
  noDescription: 'Not set',
  belongs: 'Belongs to',
  maintained: 'Maintained',
  byHand: 'By operators',
  since: 'Made',
  events: 'Events of groups',
  members: 'Members',
  noMembers: 'Nobody is in this group.',
  memberSince: (time: HtmlPart): HtmlPart => ['since ', time],
  remove: 'Remove',
  add: 'Add a person',
  addField: 'Username, email address or ID',
  addNext: 'Next',
  elsewhere: (source: string): string =>
    `This group is maintained by ${source}: its members are added there. A person whom you remove is back when it names them again.`,

  unknownTitle: 'Person not found',
  unknown: (text: HtmlPart): HtmlPart => [
    'There is nobody with the username, address or ID ',
    text,
    ' whom you may add.',
  ],
  addTitle: (person: HtmlPart, group: HtmlPart): HtmlPart => ['Add ', person, ' to ', group],
  addLead:
    'The person gets what the group gives: the apps that are assigned to it, and its name in the tokens of apps that ask for groups.',
  addSubmit: 'Add',
  added: (person: HtmlPart, group: HtmlPart): HtmlPart => [person, ' is in ', group],
  addedNow: 'It counts from the next sign-in to an app, and from the next refresh.',
  removeTitle: (person: HtmlPart, group: HtmlPart): HtmlPart => ['Remove ', person, ' from ', group],
  removeLead:
    'Where an app is open to the person by this group alone, its codes and tokens for them end at once, for good. What another assignment gives goes on.',
  removeSubmit: 'Remove',
  removed: (person: HtmlPart, group: HtmlPart): HtmlPart => [person, ' is not in ', group, ' any more'],
  removedNow: (ended: number, kept: number): string =>
    `Sign-ins to apps that ended with it: ${ended}. Those that go on by another assignment: ${kept}.`,
  back: 'Back to the group',
};
