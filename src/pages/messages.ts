import type { PasswordProblem } from '../accounts/password-problem.ts';
import { BRAND } from '../platform/brand.ts';
import { noAccess } from './access-messages.ts';
import { activity } from './activity-messages.ts';
import { addressTexts, badBeforeAt } from './address-messages.ts';
import { connectionTexts } from './connection-messages.ts';
import { consent, scopeNames } from './consent-messages.ts';
import { consoleTexts } from './console-messages.ts';
import { dataTexts } from './data-messages.ts';
import { device } from './device-messages.ts';
import { duration, errorTexts } from './error-messages.ts';
import { expired } from './expired-messages.ts';
import { enroll, newCodes, proof, trustedBrowsers, twoStep, verify } from './factor-messages.ts';
import { home } from './home-messages.ts';
import type { HtmlPart } from './html.ts';
import { passkeys } from './passkey-messages.ts';
import { playground } from './playground-messages.ts';
import { organization, pictureTexts, profile, username } from './profile-messages.ts';
import { recovery, signInCode } from './recovery-messages.ts';
import { unusedForm } from './unused-form-messages.ts';

/**
 * The texts of the pages. Another language is another object of this type. A text that contains a name or a time is a
 * function from HTML parts to HTML parts, because the page wraps the value in markup.
 */
export const en = {
  language: 'en',
  product: BRAND.name,
  skipToContent: 'Skip to content',
  problemTitle: 'Check the following',
  problemPage: (title: HtmlPart): HtmlPart => ['Error: ', title],
  help: {
    operatorOf: (host: HtmlPart): HtmlPart => ['the operator of ', host],
    line: (operator: HtmlPart): HtmlPart => ['Need help? Contact ', operator, '.'],
  },
  password: {
    show: 'Show',
    hide: 'Hide',
    showLabel: 'Show password',
    hideLabel: 'Hide password',
    problems: {
      common: 'This password is too common. Choose another one, such as a few unrelated words.',
      simple: 'This password repeats itself or follows a sequence. Choose another one, such as a few unrelated words.',
      name: 'This password is made of your name or ours. Choose another one, such as a few unrelated words.',
      breached:
        'This password was published in a data breach of another service. Choose another one, such as a few unrelated words, and change it wherever you use it.',
    } satisfies Record<PasswordProblem, string>,
    strength: {
      short: 'Too short: use at least 8 characters.',
      simple: 'Easy to guess: it repeats itself or follows a sequence.',
      name: 'Easy to guess: it is made of your name or ours.',
      fair: 'Fair. A longer one is stronger.',
      good: 'Good.',
      strong: 'Strong, if you use it nowhere else.',
    },
  },
  signIn: {
    title: 'Sign in',
    ended: {
      page: 'You were signed out. Sign in to go on.',
      form: 'You were signed out, so nothing was changed. Sign in to go on.',
      never: 'Sign in to open this page.',
      again: 'Sign in again to confirm that it is you.',
      typed: 'You were signed out, so nothing was saved yet. Sign in to go on: what you typed is kept.',
    },
    again: (app: HtmlPart): HtmlPart => [app, ' asks you to sign in again, to confirm that it is you.'],
    lead: 'Sign in to continue to',
    returnsTo: (host: HtmlPart): HtmlPart => ['You will return to ', host, '.'],
    identifier: 'Username or email',
    password: 'Password',
    submit: 'Sign in',
    noAccount: 'No account yet?',
    create: 'Create one',
    identifierMissing: 'Enter your username or email address.',
    passwordMissing: 'Enter your password.',
    chooseLead: 'Choose an account to continue to',
    continueAs: (name: HtmlPart, username: string): HtmlPart => ['Continue as ', name, ' (', username, ')'],
    another: 'Or use another account',
    home: (name: HtmlPart): HtmlPart => ['People with an address of this domain sign in with ', name, '.'],
    homeOfMembers: (organization: HtmlPart, name: HtmlPart): HtmlPart => [
      'Members of ',
      organization,
      ' sign in with ',
      name,
      '.',
    ],
    continueAtHome: (name: HtmlPart): HtmlPart => ['Continue with ', name, '’s sign-in'],
    continueWith: (provider: HtmlPart): HtmlPart => ['Continue with ', provider],
    wrong: 'The username, email or password is incorrect. Check them, or choose “Forgot your password?” below.',
    limited: (seconds: number) => `Too many attempts. Wait ${duration(seconds)}, then try again.`,
    banned: (operator: HtmlPart): HtmlPart => [
      'This account is banned and cannot sign in. If you think that this is a mistake, contact ',
      operator,
      '.',
    ],
    bannedUntil: (until: string, operator: HtmlPart): HtmlPart => [
      `This account is banned until ${until}. You can sign in after that. If you think that this is a mistake, contact `,
      operator,
      '.',
    ],
    suspended: (operator: HtmlPart): HtmlPart => [
      'This account is suspended and cannot sign in. To use it again, contact ',
      operator,
      '.',
    ],
    changed: 'Your account changed while you were signing in. Sign in again.',
  },
  enroll,
  verify,
  twoStep,
  newCodes,
  trustedBrowsers,
  signUp: {
    title: 'Create your account',
    lead: 'Create an account to continue to',
    displayName: 'Name',
    displayNameHint: 'The name that other people see.',
    username: 'Username',
    usernameHint: '3 to 32 letters a–z, digits, “_”, “.” or “-”.',
    email: 'Email',
    password: 'Password',
    passwordHint: 'At least 8 characters. A few unrelated words work well.',
    submit: 'Create account',
    haveAccount: 'Already have an account?',
    signIn: 'Sign in',
    usernameTaken: 'This username is taken. Choose another.',
    emailTaken: 'An account with this email address already exists. Sign in instead.',
    usernameBad: 'Use a username of 3 to 32 letters a–z, digits, “_”, “.” or “-”.',
    emailBad: 'Enter an email address such as ada@example.com.',
    emailBadBeforeAt: badBeforeAt,
    passwordBad: 'Use a password of 8 to 256 characters.',
    displayNameBad: 'Enter a name of 1 to 64 characters, at least one of them visible.',
    limited: (seconds: number) =>
      `Too many accounts were created from your network. Wait ${duration(seconds)}, then try again.`,
  },
  leave: {
    title: 'This app made a mistake',
    lead: (app: HtmlPart, place: HtmlPart): HtmlPart => [
      app,
      ' sent you here with a request that this service cannot answer. It wants you back at ',
      place,
      '.',
    ],
    unchecked:
      'Nobody here has checked this app or that address. If you go on, never enter the password of this service there.',
    go: (place: HtmlPart): HtmlPart => ['Go on to ', place],
  },
  formPost: {
    title: 'Back to the app',
    lead: (host: HtmlPart): HtmlPart => ['Continue to return to ', host, '.'],
    submit: 'Continue',
  },
  consent,
  operators: consoleTexts,
  device,
  person: {
    name: 'Name',
    username: 'Username',
    email: 'Email address',
    about: 'About',
    language: 'Language',
    theme: 'Theme',
    since: 'Account created',
    id: 'Account ID',
    website: 'Website',
    location: 'Location',
    birthDate: 'Birth date',
    phone: 'Phone',
    social: 'Social links',
    picture: 'Picture',
    verified: 'verified',
    notVerified: 'not verified',
    notSet: 'Not set',
    themes: { light: 'Light', dark: 'Dark', system: 'Same as the device' },
    roles: { OWNER: 'owner', ADMIN: 'admin', MEMBER: 'member' },
  },
  proof,
  account: {
    title: 'Your account',
    password: 'Password',
    currentPassword: 'Current password',
    newPassword: 'New password',
    changePassword: 'Change password',
    changePasswordLead:
      'Changing your password signs you out in every other browser. You will also have to sign in to your apps again.',
    passwordChanged:
      'Your password is changed. You are signed out in every other browser, and have to sign in to your apps again.',
    currentWrong: 'The current password is incorrect. Enter the one with which you sign in.',
    passwordSet: 'You have a password.',
    passwordNotSet: 'You have no password.',
    passkeysInstead: 'You sign in with your passkeys.',
    setPassword: 'Set a password',
    signOut: 'Sign out',
    signOutEverywhere: 'Sign out everywhere',
    signOutEverywhereState: 'In every browser, and in all your apps.',
    signOutEverywhereLead:
      'Signs you out in every browser, including this one. You will also have to sign in to your apps again.',
    everywhereDone: 'You are signed out everywhere',
    everywhereDoneText: (time: HtmlPart): HtmlPart => [
      'You were signed out in every browser on ',
      time,
      '. You also have to sign in to your apps again.',
    ],
    said: {
      created: 'Your account is created.',
      notProved:
        'The other provider did not confirm that it is you. Sign in there with the account that is connected here, and not with another one.',
      notConnected: 'The other provider was not connected. Begin again on the Security page.',
      kept: 'Your account is kept, and its deletion is canceled. Your apps have to ask you to sign in again.',
      recovered:
        'Your new password is set. You are signed out in every other browser, and your apps have to ask you to sign in again.',
      disconnected:
        'Your new password is set. You are signed out in every other browser, and your apps have to ask you to sign in again. Other providers are disconnected: connect them again on the Security page.',
    },
    memberNow: (organization: HtmlPart): HtmlPart => ['You are now a member of ', organization, '.'],
    draftBack: 'This is what you typed before. It is not saved yet: check it, then save it.',
    formExpired: 'This form has expired, so nothing was changed. Try again.',
    formWithoutCookies: (correlationId: string): string =>
      `Your browser sent no cookies with this form, so nothing was changed. They were cleared, or are blocked: allow cookies for this site, and try again. Correlation ID: ${correlationId}`,
    codesFormUsed:
      'This form was used before or has expired. If it made recovery codes before, those work: make new ones only if you have not saved them.',
  },
  noAccess,
  unusedForm,
  data: dataTexts,
  activity,
  security: { title: 'Security', nav: 'Security' },
  picture: pictureTexts,
  profile,
  username,
  organization,
  signOut: {
    askTitle: 'Sign out?',
    askHeading: `Sign out of ${BRAND.name}?`,
    asks: (app: HtmlPart): HtmlPart => [app, ' wants to sign you out.'],
    somebodyAsks: 'You opened a link that signs you out.',
    whatHappens: 'You will be signed out in this browser, and apps that asked for it are notified.',
    returnsTo: (host: HtmlPart): HtmlPart => ['You will return to ', host, '.'],
    confirm: 'Sign out',
    stay: 'Stay signed in',
    doneTitle: 'You are signed out',
    done: `You are not signed in to ${BRAND.name} in this browser. You may still be signed in to an app until you sign out there.`,
    backTo: (app: HtmlPart): HtmlPart => ['Back to ', app],
    signInAgain: 'Sign in',
    repeated: (name: string) => `${name} was sent more than once or is not percent-encoded UTF-8.`,
    unreadableTitle: 'This sign-out link does not work',
    unreadableText:
      'The app that sent you here made a request that this service cannot accept, so you were not signed out. Sign out from your account instead.',
  },
  connections: connectionTexts,
  sessions: {
    title: 'Where you are signed in',
    nav: 'Devices',
    lead: `Every browser where you are signed in to ${BRAND.name}. Sign out of any that you do not recognize.`,
    thisBrowser: 'This browser',
    others: 'Other browsers',
    noOthers: 'You are not signed in anywhere else.',
    device: (browser: string, system: string) => `${browser} on ${system}`,
    unknownDevice: 'Unknown browser',
    signedIn: 'Signed in',
    lastUsed: 'Last used',
    from: 'Network',
    unknown: 'Unknown',
    apps: 'Apps you signed in to there',
    more: (count: number) => `${count} more`,
    end: 'Sign out there',
    endLead: (device: string) => `${device} is signed out at once, and so are the apps that you signed in to there.`,
    endYes: 'Yes, sign out there',
    endOf: (device: string) => `Yes, sign out there: ${device}`,
    endOthers: 'Sign out all other browsers',
    endOthersYes: 'Yes, sign out all others',
    endOthersLead:
      'You stay signed in here and in the apps that you signed in to here. Every other browser is signed out.',
    everywhere: 'To sign out in this browser and end every app’s access as well:',
    ended: (device: string, time: HtmlPart): HtmlPart => [device, ' was signed out on ', time, '.'],
    othersEnded: (count: number, time: HtmlPart): HtmlPart => [
      count === 1 ? 'One other browser was' : `${count === 0 ? 'No' : count} other browsers were`,
      ' signed out on ',
      time,
      '.',
    ],
    endedBefore: 'That browser was already signed out.',
    appsLost: (apps: HtmlPart): HtmlPart => ['These apps lost the access that they got there: ', apps, '.'],
    askAgain: 'They keep your permission, but you have to sign in to them again.',
  },
  stopped: {
    none: 'The app was not using your data at the moment.',
    checked: (count: number) =>
      count === 1
        ? 'Access from one sign-in no longer works: we checked just now.'
        : `Access from ${count} sign-ins no longer works: we checked just now.`,
    live: (count: number) =>
      `We checked just now: access from ${count === 1 ? 'one sign-in' : `${count} sign-ins`} still works. Try again. If it still does, ask for help.`,
  },
  mail: {
    mailbox: (link: HtmlPart): HtmlPart => [
      'This server sends no mail. Open ',
      link,
      ' instead, with the link that the server printed when it started.',
    ],
    mailboxName: 'the mailbox',
    delayed: 'Mail is delayed at the moment. Your message is sent as soon as possible: keep this page open.',
    resendIn: 'You can ask for another message in {} seconds.',
  },
  pager: { label: 'Pages of this list', previous: 'Previous', next: 'Next' },
  address: addressTexts,
  expired,
  passkeys,
  home,
  playground,
  recovery,
  signInCode,
  scopeNames,
  error: errorTexts,
  reference: {
    title: 'API',
    areas: 'Areas of the API',
    overview: 'Overview',
    base: 'All addresses are relative to',
    machine: 'As an OpenAPI 3.1 document:',
    callers: 'Authentication',
    errors: 'Errors',
    errorShape:
      'The body is always `{"error": "<code>", "error_description": "<text>"}`. Any call may answer 400, 413, 414, 415, 429, 500 or 503.',
    caller: {
      anyone: 'No authentication.',
      'access token': 'Requires an access token.',
      'admin key': 'Requires an admin key.',
      'registration access token': 'Requires the registration access token of the app.',
      client: 'Requires client authentication; a public client sends only its client_id.',
      'confidential client': 'Requires a client that authenticates with a secret or a key.',
    },
    parameters: 'Parameters',
    required: 'required',
    optional: 'optional',
    body: 'Body',
    or: 'or',
    answers: 'Responses',
    answered: 'Response',
    withoutRepeated: 'without the fields that are the same in a response above',
    example: 'Example:',
    asIn: 'Same as in',
  },
};

export type Messages = typeof en;
