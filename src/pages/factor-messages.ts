import type { HtmlPart } from './html.ts';

/** The texts of the second step of a sign-in. */
export const verify = {
  title: 'Two-step sign-in',
  signingIn: (username: HtmlPart): HtmlPart => ['Signing in as ', username],
  totpCode: 'Code',
  totpHint: 'The six digits that your authenticator app shows now.',
  totpWrong:
    'This code is not valid. Enter the one that your app shows now. If no code works, let your device set its clock automatically.',
  recoveryCode: 'Recovery code',
  recoveryHint: 'One of those that you kept, such as 9x2k-4mfq-7h3d. Each works once.',
  recoveryWrong: 'This recovery code is not valid, or was used before. Enter another one.',
  codesLost: (operator: HtmlPart): HtmlPart => ['No codes left? Contact ', operator, '.'],
  usedTitle: 'You used a recovery code',
  used: (left: number) =>
    left === 0
      ? 'You are signed in. That was your last recovery code: get new ones in your account, under Security.'
      : `You are signed in. The code no longer works, and you have ${left === 1 ? 'one' : left} left.`,
  usedLost:
    'If you lost the device with your authenticator app, open your account next. Under Security, replace the authenticator app.',
  left: (left: number) => (left === 1 ? 'This is your last one.' : `You have ${left} left.`),
  submit: 'Continue',
  useRecoveryCode: 'Use a recovery code instead',
  useTotp: 'Use your authenticator app instead',
  trust: (days: number) => `Do not ask for a code in this browser for ${days === 1 ? 'a day' : `${days} days`}`,
  another: 'Sign in as another person',
  expired: 'Your sign-in took too long, or your account changed meanwhile. Sign in again.',
};

/** The texts of setting up a second factor because an app, an organization or the installation requires one. */
export const enroll = {
  twoStep: { title: 'Set up two-step sign-in', appLead: 'Set up two-step sign-in to continue to' },
  passkeyAlone: { title: 'Set up a passkey', appLead: 'Set up a passkey to continue to' },
  lead: 'Your password alone is not enough here. Set up one more step; you are then asked for it when you sign in.',
  passkeyLead: 'A passkey is required here. Set one up; you are then asked for it when you sign in.',
  passkey: 'Or use a passkey',
  verifyTitle: 'First, verify your email address',
  verifyLead: (email: HtmlPart): HtmlPart => [
    'It is how you get back in if you lose your device. We send a code to ',
    email,
    '.',
  ],
  send: 'Send a code',
  resend: 'Send another code',
  changeAddress: 'Use another address',
  comeBack: ', then come back to this page.',
  cancel: 'Cancel and return to the app',
  another: 'Sign in as another person',
};

/** The texts of what is asked for after the password, in the account. */
export const twoStep = {
  title: 'Two-step sign-in',
  lead: 'After your password you are asked for a code from an app on your phone, so a stolen password is not enough.',
  leadWithoutPassword:
    'You have no password. A code from an app on your phone protects the recovery of your account by mail.',
  app: 'Authenticator app',
  off: 'Off.',
  on: 'On: a code from your authenticator app.',
  appSince: (time: HtmlPart): HtmlPart => ['Set up on ', time],
  setUp: 'Set up an authenticator app',
  replace: 'Replace the authenticator app',
  remove: 'Remove the authenticator app',
  removeYes: 'Yes, remove the app',
  lastWay:
    'Apart from recovery codes, which run out, this app is your only way into your account. Add a passkey before you remove it.',
  removedBefore: 'The authenticator app was already removed.',
  removeLeadPasskeys: 'You are no longer asked for its codes, and can delete the entry of this account in the app.',
  removeLead: 'You are no longer asked for a code after your password.',
  codesEnd: 'Your recovery codes stop working.',
  notOffered: 'This service does not offer authenticator apps.',
  unverified: 'Verify your email address first, so that you can get back in if you lose your device.',
  enrollTitle: 'Set up an authenticator app',
  scan: '1. Scan this picture with an authenticator app',
  scanLead: 'Any app for one-time codes works, such as the one of your password manager.',
  picture: 'QR code with the key for your authenticator app',
  byHand: 'You cannot scan it? Enter this key in the app:',
  sameDevice: 'Open it in an app on this device',
  copyKey: 'Copy the key',
  show: '2. Enter the code that the app shows',
  confirm: 'Turn on two-step sign-in',
  confirmReplace: 'Replace the authenticator app',
  securedLead: 'You will be signed out in every other browser, and have to sign in to your apps again.',
  wrong: 'This code is not valid. Enter the one that the app shows now for this account.',
  clockOff:
    'The clock of your device is wrong by some minutes. Let the device set it automatically, then enter the code that the app shows.',
  expired:
    'This page was open for too long, so nothing was changed. Scan the new picture; the earlier one does not work.',
  added: 'Two-step sign-in is on. You are signed out in every other browser, and have to sign in to your apps again.',
  removed:
    'The authenticator app is removed. You are signed out in every other browser, and have to sign in to your apps again.',
  codes: 'Recovery codes',
  codesLead: 'Each works once, if you lose the device that you sign in with.',
  codesLeft: (left: number, issued: number) => (issued === 0 ? 'You have none yet.' : `${left} of ${issued} left.`),
  fewLeft: (left: number) =>
    left === 0
      ? 'All of them are used. Get new ones, so that you can sign in if you lose your device.'
      : `Only ${left === 1 ? 'one recovery code is' : `${left} recovery codes are`} left. Get new ones before you need them.`,
  newCodes: 'Get new recovery codes',
  firstCodes: 'Get recovery codes',
  newCodesLead: (left: number) =>
    left === 0
      ? 'You get ten new ones.'
      : `You get ten new ones, and ${left === 1 ? 'the one that is left stops' : `the ${left} that are left stop`} working.`,
  newCodesYes: 'Yes, make new codes',
  keepTitle: 'Keep your recovery codes',
  copyCodes: 'Copy the recovery codes',
};

/** The texts of the page with new recovery codes. */
export const newCodes = {
  done: {
    'app added':
      'Two-step sign-in is on. You are signed out in every other browser, and have to sign in to your apps again.',
    'passkey added': 'Your passkey is added.',
    'first passkey added':
      'Your passkey is added. You are signed out in every other browser, and have to sign in to your apps again.',
    renewed:
      'You have new recovery codes, and earlier ones no longer work. You are signed out in every other browser, and have to sign in to your apps again.',
    'password removed':
      'Your password is removed. You are signed out in every other browser, and have to sign in to your apps again. From now on, sign in with a passkey.',
    recovered:
      'Your new passkey is added, and the passkeys that you had are removed. You are signed out in every other browser, and your apps have to ask you to sign in again.',
    'password set': 'Your new password is set. You are signed out everywhere, also in apps.',
  },
  lead: 'Print them, or save them in your password manager. If you lose your device, each works once. They are shown on this page alone, for ten minutes at most.',
  account: (username: HtmlPart): HtmlPart => ['For the account ', username],
  download: 'Download',
  print: 'Print',
  kept: 'I have kept them',
  file: (username: string, site: string, time: string, codes: readonly string[]): string =>
    `Recovery codes for the account ${username} at ${site}\nMade on ${time}. Each works once.\n\n${codes.join('\n')}\n`,
};

/** The texts of the browsers in which no code is asked for. */
export const trustedBrowsers = {
  title: 'Trusted browsers',
  lead: 'In these browsers, your password is enough to sign in. Some changes and apps still ask for a code.',
  since: 'Trusted since',
  until: 'Trusted until',
  end: 'Ask for a code there again',
  endLead: (device: string) =>
    `${device} is no longer trusted: the next time that you sign in there, you are asked for a code. You can trust it again then.`,
  endYes: 'Yes, ask there again',
  endOf: (device: string) => `Yes, ask there again: ${device}`,
};

/** The texts of a fresh proof of who is at the browser. */
export const proof = {
  titles: {
    password: 'Confirm it is you to change your password',
    authenticator: 'Confirm it is you to set up an authenticator app',
    'trusted-browsers': 'Confirm it is you to change your trusted browsers',
    'two-step': 'Confirm it is you to change two-step sign-in',
    email: 'Confirm it is you to change your email address',
    return: 'Confirm it is you to go back to an earlier address',
    passkeys: 'Confirm it is you to change your passkeys',
    recovery: 'Confirm it is you to change how your account is recovered',
    upstreams: 'Confirm it is you to change the providers that you sign in with',
    connect: 'Confirm it is you to connect another way to sign in',
    username: 'Confirm it is you to change your username',
    deletion: 'Confirm it is you to delete your account',
    export: 'Confirm it is you to get a copy of your data',
    organization: 'Confirm it is you to leave the organization',
    invitation: 'Confirm it is you to join the organization',
    console: 'Confirm it is you to go on in the console',
  },
  lead: 'We ask in case another person is using your browser. After that, you are not asked again for ten minutes.',
  submit: 'Confirm',
  cancel: 'Cancel',
  elsewhereTitle: 'Is your passkey on another device?',
  passkeyElsewhere:
    'Press “Use your passkey”, then choose your phone or security key in the window of your browser. If this browser cannot use passkeys, open this page in one that can.',
  passkeyLost: 'Lost your passkey?',
  passkeyLostLead:
    'Recover your account. This removes your passkeys, disconnects other providers and signs you out in every browser, and your apps have to ask you to sign in again. If you have an authenticator app or require recovery codes, a code is asked for as well.',
  recover: 'Recover your account',
  elsewhere: 'You sign in to this account with another provider. To go on, sign in there again.',
  elsewhereLost: 'Can you no longer sign in there?',
  again: 'Sign in again',
  nothing: 'Nothing is set up in this account that you could sign in with again.',
  gate: 'To continue, first confirm that it is you.',
  confirm: 'Confirm it is you',
};
