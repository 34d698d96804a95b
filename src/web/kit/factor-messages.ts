import type { HtmlPart } from './html.ts';

/** The texts of the second step of a sign-in. */
export const verify = {
  title: 'Two-step sign-in',
  signingIn: (username: HtmlPart): HtmlPart => ['Signing in as ', username],
  totpLead: 'Enter the six digits that your authenticator app shows for this account.',
  totpCode: 'Code',
  totpWrong:
    'This code is not valid. Enter the one that your app shows now. If none is accepted, set the clock of your device automatically.',
  totpUsed: 'Each code is accepted once. Wait for the next one if you have just used this one.',
  recoveryLead:
    'Enter one of the recovery codes that you kept when you set up your authenticator app. Each works once.',
  recoveryCode: 'Recovery code',
  recoveryHint: '12 letters and digits, such as 9x2k-4mfq-7h3d',
  recoveryWrong: 'This recovery code is not valid, or was used before. Enter another one.',
  submit: 'Continue',
  useRecoveryCode: 'Use a recovery code instead',
  useTotp: 'Use your authenticator app instead',
  another: 'Sign in as another person',
  expired: 'Your sign-in took too long, or your account changed meanwhile. Sign in again.',
};
