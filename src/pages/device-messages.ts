import type { HtmlPart } from './html.ts';

/** The pages of a device that signs in by a code. */
export const device = {
  title: 'Connect a device',
  lead: 'Enter the code that your device or program shows.',
  warning:
    'Only enter a code that you see on your own device. If somebody sent you a code or asks you to enter one, stop here: it would give them access to your account.',
  code: 'Code',
  codeHint: 'Eight letters, such as WDJB-MJHT',
  submit: 'Continue',
  codeMissing: 'Enter the code that your device shows.',
  codeMalformed: 'A code has eight letters and no vowels, such as WDJB-MJHT. Compare it with your device.',
  codeUnknown:
    'No device is waiting with this code. Codes expire after ten minutes: compare it with your device, or start again there.',
  tooMany: (wait: string): string => `Too many codes were entered here. Wait ${wait}, then try again.`,
  /** Where an app would have an address that one returns to. */
  place: 'your device',
  asks: 'This gives access to a device.',
  asksText: 'Allow it only if you started this yourself, and typed the code that your own device shows.',
  asked: (when: HtmlPart, where: HtmlPart): HtmlPart => ['Asked on ', when, ' from ', where, '.'],
  sameNetwork: 'the network that you are using now',
  otherNetwork: (network: string): string => `another network than the one that you are using now (${network})`,
  unknownNetwork: 'an unknown network',
  allowedTitle: 'Your device is connected',
  allowedText: 'Go back to your device: it continues by itself within a few seconds.',
  allowedNext: 'See your connected apps',
  deniedTitle: 'Your device was not connected',
  deniedText: 'It gets no access. You can close this page.',
  goneTitle: 'This code no longer works',
  goneText: 'It has expired, or was answered before. Start again on your device to get a new code.',
  again: 'Enter another code',
};
