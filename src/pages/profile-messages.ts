import type { PictureProblem } from '../pictures/pictures.ts';
import { duration } from './error-messages.ts';
import type { HtmlPart } from './html.ts';

/** The texts of a person's picture. */
export const pictureTexts = {
  title: 'Picture',
  own: 'Your own picture',
  initials: 'Your initials',
  file: 'Picture file',
  hint: 'JPEG, PNG or WebP, up to 1 MB.',
  hintSmaller: 'Larger pictures are resized.',
  hintKept: 'Cropped to a square. The time and place it was taken are removed.',
  crop: 'What is used of it',
  preview: 'Preview of your picture',
  zoom: 'Zoom',
  across: 'From left to right',
  down: 'From top to bottom',
  submit: 'Use this picture',
  remove: 'Remove the picture',
  removeLead: 'Your initials are shown instead. The picture cannot be brought back: you would have to choose it again.',
  removeYes: 'Yes, remove the picture',
  changed: 'Your picture is changed. Apps see it the next time they ask for it.',
  removed: 'Your picture is removed. Your initials are shown instead.',
  limited: (seconds: number) => `You changed your picture too often. Wait ${duration(seconds)}, then try again.`,
  bad: {
    empty: 'Choose a picture file.',
    'too large': 'This file is larger than 1 MB. Choose a smaller one.',
    'unsupported format': 'This file is not a JPEG, PNG or WebP picture. Choose another one.',
    broken: 'This picture cannot be read: the file is damaged or incomplete. Choose another one.',
    'too many pixels': 'This picture has too many pixels. Choose one of at most 4096 by 4096.',
  } satisfies Record<PictureProblem, string>,
};

/** The texts of the Profile page. */
export const profile = {
  title: 'Your profile',
  nav: 'Profile',
  always: 'Connected apps can see these. Under Apps, you find what each of them sees.',
  ifAllowed:
    'An app sees these only if you allow it, or if an operator allowed it for everyone who uses it. All of them are optional.',
  rows: {
    name: 'Name',
    appearance: 'Language and theme',
    phone: 'Phone',
    details: 'Website, location and birth date',
    links: 'Social links',
  },
  appearanceState: (language: HtmlPart, theme: string | undefined): HtmlPart =>
    theme === undefined ? language : [language, `, theme: ${theme}`],
  languageHint: 'For apps that speak it. These pages are in English.',
  linkCount: (count: number) => (count === 1 ? 'One link' : `${count} links`),
  idLead: 'Give this number when you ask for help. It never changes.',
  aboutHint: 'A few words about you, up to 500 characters.',
  noTheme: 'Not set',
  color: 'Color of your initials',
  colorHint: 'Your initials are shown where you have no picture.',
  colors: ['Violet', 'Plum', 'Red', 'Amber', 'Green', 'Teal', 'Blue', 'Indigo'],
  websiteHint: 'Starting with https://, such as https://ada.example.com',
  phoneHint: 'With the country code, such as +90 555 123 45 67',
  linksLead: 'Your profiles on other sites. Clear both fields of a link to remove it.',
  link: (number: number) => `Link ${number}`,
  linkLabel: 'Name',
  linkUrl: 'Address',
  save: 'Save',
  saveOf: (section: string) => `Save “${section}”`,
  saved: 'Your profile is saved. Apps see the changes the next time they ask.',
  bad: {
    displayName: 'Enter a name of 1 to 64 characters, at least one of them visible.',
    about: 'Use at most 500 characters.',
    language: 'Choose a language from the list.',
    theme: 'Choose a theme from the list.',
    website: 'Enter a full address that starts with https://, or leave it empty.',
    location: 'Use at most 100 characters, or leave it empty.',
    birthDate: 'Enter a date in the past, or leave it empty.',
    phone: 'Enter a phone number with its country code, such as +90 555 123 45 67, or leave it empty.',
    avatarColor: 'Choose a color from the list.',
    linkLabel: 'Enter a name of at most 64 characters.',
    linkUrl: 'Enter a full address that starts with https://.',
  },
};

/** The texts about a person's username. */
export const username = {
  lead: 'Apps see the new one the next time they ask. For 90 days, only you can take the old one again.',
  label: 'New username',
  submit: 'Change username',
  changed: (name: string) => `Your username is now ${name}. Use it the next time you sign in.`,
  same: 'This is your username already. Choose another one.',
  held: (until: string) => `This username is held until ${until}. Choose another one.`,
  limited: (seconds: number) => `You changed your username too often. Wait ${duration(seconds)}, then try again.`,
};

/** The texts of the page about a person's organization and groups. */
export const organization = {
  title: 'Organization and groups',
  none: 'You are in no organization and no group',
  noOrganization: 'You are in no organization. An organization invites its members by mail.',
  groupsOnly: (count: number) => (count === 1 ? 'One group' : `${count} groups`),
  state: (name: HtmlPart, role: string | undefined): HtmlPart => (role === undefined ? name : [name, `, ${role}`]),
  role: 'Your role',
  noRole: 'None',
  domain: 'Domain',
  secondFactor: 'Sign-in',
  secondFactorRequired: 'Members need two-step sign-in or a passkey to use apps.',
  leave: 'Leave the organization',
  leaveLead:
    'You lose what you may use as a member at once, its groups and your other roles in it included. To come back, you need another invitation.',
  leaveYes: 'Yes, leave',
  leaveOf: (name: string) => `Yes, leave ${name}`,
  left: (name: HtmlPart): HtmlPart => ['You left ', name, '. What you could use as a member has stopped.'],
  /** The link to where a member is made an owner. */
  inConsole: 'in the console',
  notMember: 'You are not a member of this organization any more, so nothing was changed.',
  lastOwner: (console: HtmlPart, operator: HtmlPart): HtmlPart => [
    'You are its only owner, so you cannot leave. Make another member its owner ',
    console,
    ' first, or contact ',
    operator,
    '.',
  ],
  groups: 'Groups',
  groupsLead: 'They decide which apps you may use. Those who manage a group add people to it and remove them.',
  noGroups: 'You are in no group.',
  ofOrganization: (name: HtmlPart): HtmlPart => ['Group of ', name],
  ofService: 'Group of this service',
  moreGroups: (count: number) => `Only the first ${count} are shown.`,
};
