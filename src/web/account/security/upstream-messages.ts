import type { HtmlPart } from '../../../pages/html.ts';

/** The texts of the providers through which a person signs in. */
export const connectTexts = {
  title: 'Other providers',
  lead: 'You can sign in here with an account that you have elsewhere. It is recognized by its permanent ID, never by an email address.',
  none: 'No other provider is connected.',
  connect: (name: HtmlPart): HtmlPart => ['Connect ', name],
  known: 'Known there as',
  connected: 'Connected',
  lastUsed: 'Last used',
  disabled: 'This service does not offer it at the moment.',
  disconnect: (name: HtmlPart): HtmlPart => ['Disconnect ', name],
  disconnectLead: (name: HtmlPart): HtmlPart => [
    'You no longer sign in with ',
    name,
    '. All other browsers and all apps are signed out.',
  ],
  disconnectYes: (name: HtmlPart): HtmlPart => ['Yes, disconnect ', name],
  disconnected: (name: HtmlPart): HtmlPart => [
    name,
    ' was disconnected: it no longer signs you in. All other browsers and all apps were signed out.',
  ],
  verifyAddressFirst: 'Verify your email address first. Then you can connect other providers.',
  confirmTitle: 'Connect this provider?',
  confirmLead: (name: HtmlPart, username: HtmlPart): HtmlPart => [
    'From now on, you can sign in to the account ',
    username,
    ' with ',
    name,
    '.',
  ],
  confirmWarning: (name: HtmlPart): HtmlPart => [
    'Connect it only if this is your own account at ',
    name,
    ', and you began this yourself.',
  ],
  done: (name: HtmlPart): HtmlPart => [name, ' is connected. You can sign in with it from now on.'],
  connectedBefore: (name: HtmlPart): HtmlPart => ['This account at ', name, ' is already connected.'],
  anotherAccount: (name: HtmlPart): HtmlPart => [
    'This account at ',
    name,
    ' is connected to another account here. Sign in with it, disconnect it there, then connect it here.',
  ],
  tooMany: 'You have connected as many as possible. Disconnect one first.',
  lastWay: 'This is your only way to sign in. Set up another one first.',
  removedBefore: 'It was disconnected before.',
} as const;
