import type { Difference } from '../../clients/rules/nearest-uri.ts';

/** A time to wait, in words; always a little longer rather than shorter. */
export function duration(seconds: number): string {
  const [count, unit] =
    seconds < 120
      ? [seconds, 'second']
      : seconds < 7200
        ? [Math.ceil(seconds / 60), 'minute']
        : [Math.ceil(seconds / 3600), 'hour'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** What errors say: to a person above the line, to a developer below it. */
export const errorTexts = {
  forDeveloper: 'For the developer',
  code: 'Error',
  reason: 'Reason',
  correlation: 'Correlation id',
  copy: 'Copy',
  copied: 'Copied',
  copyLabel: 'Copy the correlation id',
  app: 'App',
  remedy: 'What to do',
  copyCommand: 'Copy the command',
  came: (name: string) => `${name}, as it came`,
  nearest: 'The closest registered one',
  differs: 'They differ in',
  differences: {
    'white space': 'white space',
    'percent-encoding': 'percent-encoding',
    'letter case': 'upper and lower case',
    'slash at the end': 'a slash at the end',
    scheme: 'the scheme (http or https)',
    'user name': 'a user name',
    host: 'the host',
    port: 'the port',
    path: 'the path',
    query: 'the query',
    fragment: 'the fragment',
  } satisfies Record<Difference, string>,
  client: {
    title: 'This sign-in link does not work',
    text: 'The app that sent you here made a mistake in its address, so there is no safe way back to it. Tell whoever runs the app.',
  },
  disabled: {
    title: 'This app is switched off',
    text: 'Nobody can sign in to it here until whoever runs this service switches it on again. Ask whoever runs the app.',
  },
  handleTitle: 'This page has expired',
  handleText:
    'The sign-in that it belongs to was started in another browser, has ended, or is more than an hour old. Go back to the app and start again.',
  finishedTitle: 'This sign-in is finished',
  finishedText: 'You answered it before. Go back to the app to go on.',
  again: (seconds: number) => `Try again in ${duration(seconds)}.`,
  /** By the status of the answer; one that is not here says what 400 or 500 does. */
  statuses: {
    400: {
      title: 'This did not work',
      text: 'What your browser sent could not be read, so nothing was done. Go back and try again.',
    },
    403: {
      title: 'This form came from elsewhere',
      text: 'It did not come from our own pages, so nothing was changed. Open the page itself and start again.',
    },
    404: {
      title: 'There is nothing here',
      text: 'Check the address for a slip of the keys, or go on from your account.',
    },
    405: {
      title: 'There is no page here',
      text: 'This address takes what a form or an app sends. Go on from your account.',
    },
    413: {
      title: 'That was too much at once',
      text: 'What you sent is larger than we take, so nothing was done. Go back and send less.',
    },
    414: {
      title: 'This address is too long',
      text: 'Go back to where it came from and start again. If it happens again, tell whoever runs that app.',
    },
    415: {
      title: 'This cannot be read here',
      text: 'It was sent in a form that this address does not take, so nothing was done. Use the form on our own page.',
    },
    429: {
      title: 'That was too often',
      text: 'Nothing is wrong with what you did; it was only asked too many times.',
    },
    500: {
      title: 'Something went wrong on our side',
      text: 'It is not your doing. Try again in a moment; if it stays, tell whoever runs this service, with the correlation id below.',
    },
    503: { title: 'We cannot answer right now', text: 'Too much is asked at once, or our data is out of reach.' },
  },
  /** By the page that the way leads to. */
  onward: { account: 'Go to your account', playground: 'Go to the playground' },
};
