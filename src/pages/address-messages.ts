import { duration } from './error-messages.ts';
import type { HtmlPart } from './html.ts';

/** Where an address has other characters than ASCII before the at sign. */
export const badBeforeAt = (characters: string): string =>
  `Before the @, an address can have only unaccented letters, digits and signs; yours has ${characters}. After the @, any script is accepted.`;

/** What ends of an account whose address was never verified, when its person verifies one: an earlier holder may have set it up. */
const UNPROVED = 'Your password, passkeys and other providers are removed, unless you signed in with them.';

/** What a person reads who takes an account back. */
interface TakingBack {
  /** Since when what was added is removed. */
  readonly since: HtmlPart;
  /** Whether that is taken back, too, of which nobody was told in the seven days before. */
  readonly isEarlierToo: boolean;
  /** The address that the account has by then: the one that it has now, or an earlier one. */
  readonly address: 'present' | 'earlier';
  readonly isBarred: boolean;
  /** Whether the person had asked for the deletion of the account. */
  readonly isDeletionAsked: boolean;
}

/** The texts of pages about email addresses, and of those that links in messages open. */
export const addressTexts = {
  title: 'Email address',
  changeLink: 'Change your email address',
  verifyLink: 'Verify your email address',
  current: 'Current address',
  currentLead: 'You can sign in with it, and messages about your account go to it.',
  verified: 'verified',
  notVerified: 'not verified',
  noMail: 'This service sends no mail, so you cannot verify or change your address here. To have it changed, contact ',
  verifyLead: `We send a link and a code to it. When you confirm it, you are signed out in every other browser and in your apps. ${UNPROVED}`,
  verifySubmit: 'Send a link and a code',
  changeTitle: 'Change the address',
  changeState: 'You confirm the new one by a message.',
  changeLead:
    'We send a link and a code to the new address. Your address changes when you use one of them; you are then signed out in every other browser and in your apps.',
  unproved: UNPROVED,
  changesLimited: (seconds: number) =>
    `You changed your address too often. Wait ${duration(seconds)}, then try again. You can go back to an earlier address at any time.`,
  earlierTitle: 'Earlier addresses',
  earlierLead:
    'Each of these was told of the change and has a link that undoes it, so that a thief cannot keep your account. If a mailbox is no longer yours, say so here.',
  earlierUntil: 'can undo the change until ',
  earlierState: (count: number) => (count === 1 ? 'One can undo a change.' : `${count} can undo a change.`),
  earlierSubmit: 'No longer mine',
  earlierSubmitLead: (address: HtmlPart): HtmlPart => [
    'The link that was sent to ',
    address,
    ' stops working: that address can no longer undo the change. This cannot be taken back.',
  ],
  earlierYes: 'Yes, it is no longer mine',
  goBack: 'Go back to this address',
  goBackLead: (address: HtmlPart, since: HtmlPart): HtmlPart => [
    address,
    ' becomes the address of your account again. Other browsers and apps are signed out. What was added since ',
    since,
    ' is removed, and a username or password that was changed since then does not stay. Apps also lose the access that they were given in the seven days before.',
  ],
  goBackYes: 'Yes, go back to it',
  goBackConfirm: 'Go back to one of these',
  earlierNoFactor:
    'To say that one is no longer yours, wait until ten minutes after the change. Then confirm again that it is you, with an authenticator app, a recovery code or a passkey that you had set up before the change.',
  earlierDone: (address: HtmlPart): HtmlPart => [address, ' can no longer undo the change.'],
  newAddress: 'New email address',
  changeSubmit: 'Send a link and a code',
  bad: 'Enter an email address such as ada@example.com.',
  badBeforeAt,
  same: 'This is your address already.',
  notAllowed: 'Addresses of this domain are not accepted here. Enter another one.',
  codeTitle: 'Enter the code',
  codeState: (address: HtmlPart): HtmlPart => ['For ', address, '.'],
  codeLead: (address: HtmlPart): HtmlPart => [
    'Open the link of the message to ',
    address,
    ' in this browser, or type its code here. Both work for 15 minutes.',
  ],
  code: 'Code',
  codeHint: 'Six digits',
  codeSubmit: 'Confirm the address',
  codeMissing: 'Enter the code from the message.',
  codeWrong: 'This code is wrong or has expired. Use the one in the newest message, or ask for another one.',
  codeSessionOver:
    'This code ended when you were signed out of the session in which you asked for it. Nothing was changed. Ask for a new one.',
  resend: 'Send another message',
  sent: 'A message with a link and a code is on its way to the address, if it can be used here.',
  done: {
    'verify address': 'Your address is verified.',
    'replace unverified address': 'Your address is changed.',
    'change address': 'Your address is changed. We told your previous address, which can undo this for seven days.',
    'go back':
      'Your account has its earlier address again. What was added since is removed, and the address in between can no longer change anything.',
  },
  confirmTitle: 'Confirm this address',
  confirmLead: {
    'verify address': (address: HtmlPart, username: HtmlPart): HtmlPart => [
      'You confirm that ',
      address,
      ' is the address of your account ',
      username,
      '. Other browsers and apps are signed out.',
    ],
    'change address': (address: HtmlPart, username: HtmlPart): HtmlPart => [
      address,
      ' becomes the address of your account ',
      username,
      '. Other browsers and apps are signed out.',
    ],
  },
  confirmSubmit: 'Confirm the address',
  elsewhereTitle: 'Continue where you began',
  elsewhere:
    'This link and the code of its message work only in the browser in which you asked for them, while you are signed in there. Open the link or type the code there. If you cannot use that browser, ask for a new link in this one.',
  confirmedTitle: 'Your address is confirmed',
  toAccount: 'Go to your account',
  undoTitle: 'Undo the change of your address?',
  undoLead: (username: HtmlPart, address: HtmlPart): HtmlPart => [
    'The account ',
    username,
    ' gets the address ',
    address,
    ' back.',
  ],
  undoText: 'This happens when you undo the change:',
  effects: ({ since, isEarlierToo, address, isBarred, isDeletionAsked }: TakingBack): readonly HtmlPart[] => [
    'Every browser and every app is signed out.',
    'The password stops working, and other providers are disconnected.',
    isBarred
      ? 'The account is banned or suspended, so no link to set a new password is sent.'
      : address === 'present'
        ? 'We send a link to your email address, with which you set a new password.'
        : 'We send a link to this address, with which you set a new password.',
    [
      'What was added since ',
      since,
      ' is removed: ways to sign in, and an organization joined by an invitation. A username that was changed since then is changed back.',
    ],
    isEarlierToo
      ? 'Apps lose the access that they were given since then or in the seven days before.'
      : 'Apps lose the access that they were given since then.',
    isEarlierToo
      ? 'If the account has rights as an operator, what was done with them since then ends, and so does what was done to other accounts in the seven days before.'
      : 'If the account has rights as an operator, what was done with them since then ends.',
    ...(isDeletionAsked ? ['The deletion of the account is canceled.'] : []),
  ],
  undoCode: 'Code of your authenticator app, or a recovery code',
  undoCodeHint:
    'Use what you had set up before the address was changed. If you replaced it in the days before the change, the earlier one works, too.',
  undoPasskey: (operator: HtmlPart): HtmlPart => [
    'You had a passkey before the address was changed. It works here, also if it was removed since. If you no longer have it, contact ',
    operator,
    '.',
  ],
  undoByPasskey: 'Undo the change with a passkey',
  undoSubmit: 'Undo the change',
  undoWrong: 'This code is wrong. Check it, or use another one.',
  undoneTitle: 'The change is undone',
  undone: 'Your account has its earlier address again. Every browser and every app is signed out.',
  undoRefused: 'The change cannot be undone here. Contact ',
  secureLead: (username: HtmlPart): HtmlPart => ['This happened to the account ', username, ':'],
  secure: {
    person: {
      title: 'Was this you?',
      text: 'If it was not you, end everything now:',
      submit: 'This was not me: end everything',
      stay: 'If it was you, close this page. Nothing changes.',
    },
    /** What an operator did is not asked about, but what came before it. */
    operator: {
      title: 'Did somebody else use your account?',
      text: 'If somebody else used it before this, end everything now:',
      submit: 'Somebody else used it: end everything',
      stay: 'If nobody did, close this page. Nothing changes.',
    },
  },
  undoStay: 'If you changed the address yourself, close this page. Nothing changes.',
  securedTitle: 'Your account is secured',
  secured: 'Every browser and every app is signed out, and the password no longer works.',
  securedNext: 'A link to set a new password is on its way to your email address. Open it within 30 minutes.',
  securedAgain: 'Ask for another link',
  securedBarred:
    'The account is banned or suspended, so no link to set a new password is sent. When that is over, recover the account. If you think that it is a mistake, contact ',
  securedLost: 'If you cannot read that address, contact ',
  deadTitle: 'This link no longer works',
  dead: {
    used: 'It was used already. Nothing was changed now.',
    expired: 'It has expired. Nothing was changed.',
    session: 'It worked only as long as you stayed signed in where you asked for it. Nothing was changed.',
    // Nothing of the link is stored any more, so it may be any of these.
    ended:
      'It was used already, has expired or was replaced by a newer one, or your account was secured or changed since. Nothing was changed now.',
  },
  deadNext: {
    verify: 'If your address is not confirmed yet, ask for a new link in your account. You sign in first.',
    secure: 'Could another person be in your account? Recover it: that signs everybody out.',
    undo: (operator: HtmlPart): HtmlPart => [
      'If this is your account and you cannot sign in, recover it by the address that it has now. If that is not your address, contact ',
      operator,
      '.',
    ],
  },
  deadVerify: 'Ask for a new link',
  recover: 'Recover your account',
};
