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
  handsOver: 'Can act as an operator with your roles',
  handsOverNothing: 'You have no role as an operator: there is nothing that it could do.',
  handsOverNote: 'For eight hours, or until you sign out in this browser. Losing a role here ends it there at once.',
  everywhere: 'in the whole installation',
  inOrganization: (name: HtmlPart): HtmlPart => ['in ', name],
  until: (when: HtmlPart): HtmlPart => ['until ', when],
  places: 'Can act for you at',
  placesNote: 'These services see your account ID and what you allow here.',
  howToEnd:
    'You can take this back at any time in Connected apps; it stops at once. Until then, the app also sees changes.',
  ofTheApp: 'From the app:',
  homepage: 'Website',
  policy: 'Privacy policy',
  terms: 'Terms',
  denyMore: 'If you don’t allow this, the app keeps its current access and gets nothing new.',
  allow: 'Allow',
  deny: 'Don’t allow',
  returnsTo: (host: HtmlPart): HtmlPart => ['Returns to ', host],
  changed: 'The request changed while this page was open, so nothing was allowed yet. Check it and choose again.',
  identity: (more: number) => `Name, username, picture, email address and ${more} more`,
  unset: (names: string) => `Not set, shared if added later: ${names}.`,
  unsetDeclined: (names: string) => `Not set and not shared, as you chose before: ${names}.`,
  staysConnected: 'The app stays connected after you sign out here.',
  sharedDespiteDecline: (names: readonly string[]) =>
    `You switched this off for the app before, but this sign-in always shares it: ${names.join('; ')}.`,
  unregistered: {
    title: 'This app is not registered here.',
    titleSelf: 'This app registered itself here.',
    titleDeveloper: 'A user of this service registered this app.',
    text: 'Nobody here has checked it, and it chose its name itself. Allow it only if you know this address and have just started to connect it.',
    domain: 'Published at',
    place: 'Sends you to',
    local:
      'It runs on your own device, where any program could pretend to be it. Do not go on unless you started it yourself.',
  },
  memberNote: 'This app is open to selected people only, and always sees this.',
  emailAddress: 'Email address',
  address: 'email address',
  emailStatus: (isVerified: boolean) =>
    `${isVerified ? 'Verified' : 'Not verified'}. The app can also look up your address at any time.`,
  scopes: {
    profile: 'Name, username, picture and language',
    email: 'Whether your email address is verified',
    details: 'Website, location and birth date',
    phone: 'Phone',
    social: 'Social links',
    'organization.read': 'Organization',
    groups: 'Groups',
    roles: 'Roles in the app',
  } satisfies Record<OptionalScope, string>,
};

/** What the scopes share, within a sentence. */
export const scopeNames = {
  profile: 'name, username, picture and language',
  email: 'whether your email address is verified',
  details: 'website, location, birth date',
  phone: 'phone number',
  social: 'social links',
  'organization.read': 'organization',
  groups: 'groups',
  roles: 'roles in the app',
} satisfies Record<OptionalScope, string>;
