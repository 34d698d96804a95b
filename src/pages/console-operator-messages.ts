import type { HtmlPart } from './html.ts';

const roleLabels = {
  owner: 'owner: everything, the installation itself included',
  admin: 'admin: people, organizations, apps and other operators, but not the installation',
  support: 'support: help people to get in again',
  auditor: 'auditor: see everything, change nothing',
  developer: 'developer: register apps, and look after these',
};

/** What an operator or a key made, and whether it ends, too. */
const made = {
  madeNothing: 'It made no key or role that still counts.',
  keyMade: (name: HtmlPart): HtmlPart => ['the key ', name],
  roleMade: (role: string, person: HtmlPart): HtmlPart => ['the role ', role, ' of ', person],
  goesOn: (list: HtmlPart): HtmlPart => ['Made with it, and valid: ', list, '.'],
  endMade: 'End these as well, and what was made with them',
  ended: (list: HtmlPart): HtmlPart => ['Ended with it: ', list, '.'],
  stays: (list: HtmlPart): HtmlPart => ['Still valid: ', list, '.'],
};

/** The texts of the console's pages about operators. */
export const consoleOperatorTexts = {
  title: 'Operators',
  tabsLabel: 'Operators',
  tabs: { roles: 'Roles', keys: 'Admin keys' },
  lead: 'Who may do what here. Owners and admins of an organization are listed with its members.',
  none: 'Nobody has a role that you see.',
  inInstallation: 'in the installation',
  inOrganization: (name: HtmlPart): HtmlPart => ['in ', name],
  until: (time: HtmlPart): HtmlPart => ['until ', time],
  ended: (time: HtmlPart): HtmlPart => ['ended ', time],
  since: (time: HtmlPart): HtmlPart => ['since ', time],
  give: 'Give a role',
  giveField: 'Username, email address or ID',
  giveNext: 'Next',
  takeAway: 'Take away',
  takeAwayOf: (role: string, name: string): string => `Take away: the role ${role} of ${name}`,
  lastOwner: 'The last owner cannot go. Give somebody else the role owner first.',
  roleLabels,
  made,

  grant: {
    title: (person: HtmlPart): HtmlPart => ['Give a role to ', person],
    lead: 'It counts from now on. In the console it asks for a second factor.',
    leadIn: (organization: HtmlPart): HtmlPart => ['It counts in ', organization, ' alone, from now on.'],
    role: 'Role',
    until: 'Until',
    untilHint: 'The last day, in UTC. Empty for no end.',
    submit: 'Give the role',
    roleBad: 'Choose a role.',
    untilBad: 'Choose a day from today on, or leave it empty.',
    done: (person: HtmlPart, role: string): HtmlPart => [person, ' is ', role],
    now: 'The person has the role from now on, in the console, the API and the command line.',
  },
  removal: {
    title: (person: HtmlPart, role: string): HtmlPart => ['Take the role ', role, ' of ', person, ' away'],
    lead: 'Nothing more is done in this role, from this moment on. The account stays as it is.',
    submit: 'Take the role away',
    done: (person: HtmlPart, role: string): HtmlPart => [person, ' is no longer ', role],
    now: 'Nothing is done in this role any more, on every node.',
  },
};

/** The texts of the console's pages about admin keys. */
export const consoleKeyTexts = {
  title: 'Admin keys',
  lead: 'Keys with which programs use the admin API. The newest first.',
  none: 'There is no admin key that you see.',
  create: 'Create a key',
  states: { active: 'Valid', revoked: 'Revoked', ended: 'Ended' },
  neverUsed: 'never used',
  lastUsed: (time: HtmlPart): HtmlPart => ['last used ', time],
  about: 'About this key',
  state: 'State',
  role: 'Role',
  place: 'Counts',
  created: 'Made',
  by: 'Made by',
  byServer: 'The command line on the server',
  byKey: (id: HtmlPart): HtmlPart => ['the operator ', id],
  end: 'Ends',
  noEnd: 'Never',
  use: 'Last used',
  useNote: 'to within an hour',
  id: 'ID',
  copyId: 'Copy the ID',
  made: 'What was made with it',
  revoke: 'Revoke',
  replace: 'Make a key in its place',
  replaceNote:
    'To change a key without a gap: make another one, change the program over, and revoke this one when it is not used any more.',
  events: 'What it did',
  copy: 'Copy the key',
  new: {
    title: 'Create an admin key',
    lead: 'For one program. It is shown once.',
    leadIn: (organization: HtmlPart): HtmlPart => ['For one program, in ', organization, ' alone. It is shown once.'],
    name: 'Name',
    nameHint: 'What the key is for.',
    submit: 'Create the key',
    nameBad: 'Enter a name of 1 to 64 characters on one line, without spaces around it.',
    done: (name: HtmlPart): HtmlPart => ['The key ', name, ' is made'],
    now: 'Copy it now: the server keeps a hash of it alone, so nobody can show it again.',
    key: 'Key',
  },
  revocation: {
    title: (name: HtmlPart): HtmlPart => ['Revoke the key ', name],
    lead: 'No request with it does anything any more. Invitations and links that it made and nobody used end, too.',
    submit: 'Revoke the key',
    done: (name: HtmlPart): HtmlPart => ['The key ', name, ' is revoked'],
    now: 'No request with it does anything any more, on every node.',
  },
};
