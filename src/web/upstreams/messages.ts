import type { HtmlPart } from '../../pages/html.ts';

/** The texts of signing in through another provider. */
export const upstreamTexts = {
  cancelled: (name: HtmlPart): HtmlPart => ['You did not sign in at ', name, '. You can sign in another way.'],
  denied: (name: HtmlPart): HtmlPart => [name, ' refused the sign-in. Try again, or sign in another way.'],
  unable: (name: HtmlPart): HtmlPart => [
    'The app asks you to sign in again, and ',
    name,
    ' cannot confirm that you did. Sign in another way.',
  ],
  unreachable: (name: HtmlPart): HtmlPart => [
    name,
    ' cannot be reached at the moment, or does not answer as it should. Try again later, or sign in another way.',
  ],
  refused: (name: HtmlPart): HtmlPart => [
    'What ',
    name,
    ' answered cannot be accepted. Try again, or sign in another way.',
  ],
  reference: (id: string): HtmlPart => [' If you report this, give the reference ', id, '.'],
  expired: 'This sign-in took too long, was used before, or began in another browser. Begin again.',
  notOffered: 'This way to sign in is not offered. Sign in another way.',
  title: (name: string) => `No account for ${name} yet`,
  heading: (name: HtmlPart): HtmlPart => ['You are signed in at ', name],
  known: (name: HtmlPart, label: HtmlPart): HtmlPart => [name, ' knows you as ', label, '.'],
  notConnected: (name: HtmlPart): HtmlPart => [
    'No account here is connected with that. An account is never found by its email address, because anyone could claim yours at ',
    name,
    '.',
  ],
  hasAccount: (address: HtmlPart, name: HtmlPart): HtmlPart => [
    'Your address ',
    address,
    ' has an account here. Sign in to it once more, as you did before: then ',
    name,
    ' is connected, and signs you in from the next time on.',
  ],
  signInAndConnect: 'Sign in and connect',
  cannotSignIn: 'If you can no longer sign in to it, recover it first.',
  haveAccount: 'I have an account here',
  connectFirst: (name: HtmlPart): HtmlPart => [
    'Sign in as you usually do. Then connect ',
    name,
    ' on the Security page of your account, and use it from the next time on.',
  ],
  signIn: 'Sign in',
  create: 'Create an account',
  createLead: (name: HtmlPart): HtmlPart => ['You will sign in to it with ', name, ', without a password.'],
  submit: 'Create account',
  unproved: (name: HtmlPart, operator: HtmlPart): HtmlPart => [
    'A new account needs a verified email address. This service cannot rely on ',
    name,
    ' for yours, and sends no mail to verify it. If you need an account, contact ',
    operator,
    '.',
  ],
  closed: (name: HtmlPart, operator: HtmlPart): HtmlPart => [
    'People cannot create an account with ',
    name,
    ' themselves. If you need one, contact ',
    operator,
    '.',
  ],
} as const;
