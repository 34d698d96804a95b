import type { HtmlPart } from '../../pages/html.ts';
import { alternativeList } from '../../platform/date-text.ts';

/** The texts of the pages around a sign-up that needs more than its form. */
export const signUpTexts = {
  closedTitle: 'No new accounts',
  closed: (operator: HtmlPart): HtmlPart => [
    'This service does not let people create accounts themselves. If you need one, contact ',
    operator,
    '.',
  ],
  invitationTitle: 'You need an invitation',
  invitation: (operator: HtmlPart): HtmlPart => [
    'Only people with an invitation can create an account here. If you have one, open its link in this browser. To ask for one, contact ',
    operator,
    '.',
  ],
  haveAccount: 'I already have an account',
  domainBad: (domains: readonly string[]) =>
    `Use an address that ends in ${alternativeList(domains.map((it) => `@${it}`))}.`,
  verifyTitle: 'Check your email',
  verifyLead: (address: HtmlPart): HtmlPart => [
    'A message is on its way to ',
    address,
    '. Enter its code here to create your account. It works for 15 minutes, in this browser only.',
  ],
  verifyLeadUnknown:
    'Enter the code of the message to create your account. It works for 15 minutes, in the browser that asked for it.',
  code: 'Code',
  codeHint: 'Six digits',
  submit: 'Create account',
  nothing: 'No message? Check your spam folder, or',
  again: 'change what you entered',
  resend: 'Send another code',
  codeMissing: 'Enter the six digits of the code.',
  codeWrong: 'This code is wrong or has expired. Use the one in the newest message, or ask for another one.',
  limited: (time: string) => `Too many wrong codes. Wait ${time}, then start again.`,
  linkTitle: 'Create your account',
  linkLead: (address: HtmlPart): HtmlPart => ['Your address ', address, ' is confirmed when you press the button.'],
  elsewhereTitle: 'Go back to where you began',
  elsewhere: 'You began in another browser or on another device. Enter the code of the message there.',
  deadTitle: 'This link no longer works',
  dead: 'It was used already, has expired, or was replaced by a newer one. Enter the code of the newest message where you started, or start again.',
  startAgain: 'Start again',
  usernameTaken: 'Another person got this username meanwhile. Choose another one; you will get another code.',
  addressTaken: 'An account with this address exists already. Sign in to it instead.',
} as const;
