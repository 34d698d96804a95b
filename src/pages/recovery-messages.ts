import type { WayIn } from '../authenticators/rules/ways-in.ts';
import { SECOND } from '../platform/clock.ts';
import { duration } from './error-messages.ts';
import type { HtmlPart } from './html.ts';

/** The texts of the pages of people who cannot sign in, and of what they set up against that. */
export const recovery = {
  forgot: 'Forgot your password?',
  title: 'Recover your account',
  lead: 'Enter the username or email address of your account. We send a link and a code to its email address.',
  identifier: 'Username or email',
  identifierMissing: 'Enter your username or email address.',
  submit: 'Send the link',
  noMail: (operator: HtmlPart): HtmlPart => [
    'This service sends no mail. To get back into your account, contact ',
    operator,
    ' and ask for a recovery link.',
  ],
  back: 'Back to sign-in',
  sentTitle: 'Check your email',
  sentLead:
    'If there is such an account, a message is on its way to its email address. Open the link in it, or type its code here.',
  sentNote: 'It can take a minute. Only the newest message works, for 30 minutes.',
  again: 'Use another username or address',
  resend: 'Send another message',
  code: 'Code',
  codeHint: 'Six digits',
  codeMissing: 'Enter the code from the message.',
  /** That there were too many is not told, as it would tell who has an account: so the limit is, each time. */
  codeWrong: (limit: { readonly count: number; readonly windowMs: number } | null) => {
    const wrong = 'This code is wrong or has expired. Use the one in the newest message.';
    if (limit === null) return wrong;
    const codes = limit.count === 1 ? 'one wrong code' : `${limit.count} wrong codes`;
    return `${wrong} After ${codes}, wait ${duration(limit.windowMs / SECOND)}.`;
  },
  codeSubmit: 'Continue',
  goneTitle: 'This link no longer works',
  goneAgain: 'Ask for a new link',
  gone: 'It was used already, has expired, or was replaced by a newer one, or your account was changed since. Nothing was changed now.',
  passwordTitle: 'Set a new password',
  passwordLead: (name: HtmlPart): HtmlPart => ['For the account ', name],
  effects: 'This signs you out in every browser, and your apps have to ask you to sign in again.',
  effectsPasskeys: 'If you have passkeys, they are removed.',
  providers: 'Other providers are disconnected. Connect them again on the Security page.',
  newPassword: 'New password',
  set: 'Set the password',
  passkeyTitle: 'Add a new passkey',
  usePasskey: 'Add a new passkey instead of a password',
  usePassword: 'Set a password instead',
  passkeyLead: 'It replaces the passkeys that you had. You need no password.',
  passkeyDone: 'Your new passkey is added',
  passkeyDoneHere:
    'The passkeys that you had are removed. You are signed out in every other browser, and your apps have to ask you to sign in again.',
  passkeyDoneLead: 'You are signed out everywhere, also in apps. Sign in with your new passkey.',
  next: 'Continue',
  factor: 'Code of your authenticator app, or a recovery code',
  factorHint:
    'Mail alone does not open an account with two factors. If you replaced the authenticator app in the last days, the earlier one works, too.',
  recoveryCode: 'Recovery code',
  recoveryCodeHint: 'Mail alone does not open this account.',
  impossible: (operator: HtmlPart): HtmlPart => [
    'Mail alone does not open this account, and it has no recovery codes. To get back in, contact ',
    operator,
    ' and ask for a recovery link.',
  ],
  factorMissing: 'Enter a code.',
  factorWrong: 'This code is wrong or was used before. Enter another one.',
  factorLost: (operator: HtmlPart): HtmlPart => ['You have no code? Contact ', operator, '.'],
  limited: (seconds: number) => `Too many attempts. Wait ${duration(seconds)}, then try again.`,
  doneTitle: 'Your password is set',
  done: 'You are signed out everywhere, also in apps. Sign in with your new password.',
  signIn: 'Sign in',
  ways: {
    title: 'Ways into your account',
    lead: 'What you can use to sign in, or to get back in when you have lost something.',
    count: (ways: number) => (ways === 1 ? 'You have one. Set up another before you lose it.' : `You have ${ways}.`),
    texts: {
      password: 'Your password.',
      passkey: 'A passkey.',
      upstream: 'Another provider that you connected.',
      mail: 'A link to your email address, which sets a new password.',
      'mail and authenticator app': 'A link to your email address, with a code of your authenticator app.',
      'mail and recovery code': 'A link to your email address, with one of your recovery codes.',
    } satisfies Record<WayIn, string>,
    left: 'You then get in with one of these:',
    passwordAndCode: 'Your password, with a code of your authenticator app.',
    last: 'This is the only one. Set up another before you lose it.',
    requireTitle: 'Recovery by mail',
    requireLead:
      'A person who reads your mail can recover your account with a link. You can require one of your recovery codes beside the link.',
    requireLost:
      'If you then lose your passkeys and all recovery codes, mail no longer helps: only an operator of this service can let you in.',
    requiredLost: 'If you lose your passkeys and all recovery codes, only an operator of this service can let you in.',
    require: 'Require a recovery code',
    required: 'From now on, a recovery by mail asks for one of your recovery codes. Keep them where you can find them.',
    allowLead: 'A recovery by mail asks for one of your recovery codes.',
    allow: 'Stop requiring a recovery code',
    allowed: 'From now on, a link by mail is enough to recover your account.',
    operator: (operator: HtmlPart): HtmlPart => ['If you lose all of them, contact ', operator, '.'],
  },
};

/** The texts of sign-in by a code in a message. */
export const signInCode = {
  offer: 'Email me a code',
  title: 'Sign in with a code',
  askLead: 'Enter the username or email address of your account. We send a code to its verified email address.',
  ask: 'Send the code',
  sentTitle: 'Check your email',
  sentLead:
    'If there is such an account with a verified email address, a message with a code is on its way to it. Type the code here, in this browser.',
  sentNote: 'It can take a minute. Only the newest code works, for 15 minutes.',
  submit: 'Sign in',
  again: 'Use another username or address',
  resend: 'Send another code',
  proof: 'You signed in without a password or passkey. To go on, sign in again.',
  requireLost: 'Codes by mail no longer sign you in, either.',
  requiredLost: 'Codes by mail do not sign you in.',
};
