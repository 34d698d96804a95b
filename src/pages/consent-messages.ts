import type { OptionalScope } from '../claims/permissions.ts';
import type { HtmlPart } from './html.ts';

/** The consent page. */
export const consent = {
  title: (app: string) => `Allow ${app}?`,
  heading: 'wants to know who you are.',
  headingMore: 'wants to know more.',
  by: (owner: HtmlPart): HtmlPart => ['by ', owner],
  signedInAs: 'Signed in as',
  notYou: 'Not you?',
  always: 'Always shared',
  already: 'Already shared',
  choose: 'You choose',
  chooseMore: 'New: you choose',
  places: 'Can act for you at',
  placesNote: 'These services see your account ID and what you allow here.',
  howToEnd:
    'The app also sees changes that you make later. You can take this back at any time in Connected apps; it stops at once.',
  denyMore: 'If you don’t allow this, the app keeps its current access and gets nothing new.',
  allow: 'Allow',
  deny: 'Don’t allow',
  returnsTo: (host: HtmlPart): HtmlPart => ['Either way, you will return to ', host, '.'],
  changed: 'The request changed while this page was open, so nothing was allowed yet. Check it and choose again.',
  identity: 'Name, username, picture and email address',
  unset: (names: string) => `Not set, shared if added later: ${names}.`,
  unsetDeclined: (names: string) => `Not set and not shared, as you chose before: ${names}.`,
  staysConnected: 'Stays connected when you are signed out.',
  sharedDespiteDecline: (names: readonly string[]) =>
    `You switched this off for the app before, but this sign-in always shares it: ${names.join('; ')}.`,
  unregistered: {
    title: 'This app is not registered here.',
    text: 'Nobody here has checked it, and it chose its name itself. Allow it only if you know this address and have just started to connect it.',
    domain: 'Published at',
    place: 'Sends you to',
    local:
      'It runs on your own device, where any program could pretend to be it. Do not go on unless you started it yourself.',
  },
  memberNote: 'This app is open to selected people only, and always sees this.',
  emailAddress: 'Email address',
  address: 'email address',
  scopes: {
    profile: { name: 'Name, username, picture and language', note: '' },
    email: {
      name: 'Email details',
      note: 'Lets the app read your address at any time, not only when you sign in.',
    },
    details: { name: 'Website, location and birth date', note: '' },
    phone: { name: 'Phone', note: '' },
    social: { name: 'Social links', note: '' },
    'organization.read': { name: 'Organization', note: '' },
    groups: { name: 'Groups', note: '' },
    roles: { name: 'Roles in the app', note: '' },
  } satisfies Record<OptionalScope, { name: string; note: string }>,
};

/** What the scopes share, within a sentence. */
export const scopeNames = {
  profile: 'name, username, picture and language',
  email: 'email details',
  details: 'website, location, birth date',
  phone: 'phone number',
  social: 'social links',
  'organization.read': 'organization',
  groups: 'groups',
  roles: 'roles in the app',
} satisfies Record<OptionalScope, string>;
