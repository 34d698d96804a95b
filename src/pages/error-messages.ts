import { type UriDifference, WHERE_COMMANDS_RUN } from '../clients/rules/developer-advice.ts';
import type { HtmlPart } from './html.ts';

/** A time to wait, in words, rounded up. */
export function duration(seconds: number): string {
  const [count, unit] =
    seconds < 120
      ? [seconds, 'second']
      : seconds < 7200
        ? [Math.ceil(seconds / 60), 'minute']
        : [Math.ceil(seconds / 3600), 'hour'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** The texts of error pages: for the user above the line, for the developer below it. */
export const errorTexts = {
  forDeveloper: 'For the developer',
  code: 'Error',
  reason: 'Reason',
  correlation: 'Correlation ID',
  copy: 'Copy',
  copied: 'Copied',
  copyLabel: 'Copy the correlation ID',
  explain: 'For the operator',
  explainText: `Send this ID to the operator of the service, who can find out what happened. ${WHERE_COMMANDS_RUN}:`,
  app: 'App',
  remedy: 'What to do',
  byApi: 'Admin API',
  byCommand: WHERE_COMMANDS_RUN,
  copyCall: 'Copy the call',
  copyCommand: 'Copy the command',
  came: (name: string) => `${name} received`,
  nearest: 'Closest registered one',
  differs: 'Difference',
  differences: {
    'white space': 'white space',
    'percent-encoding': 'percent-encoding',
    'letter case': 'uppercase and lowercase',
    'slash at the end': 'a trailing slash',
    scheme: 'the scheme (http or https)',
    'user name': 'the user name',
    host: 'the host',
    port: 'the port',
    path: 'the path',
    query: 'the query',
    fragment: 'the fragment',
  } satisfies Record<UriDifference, string>,
  client: {
    title: 'This sign-in link does not work',
    text: 'The app that sent you here made a request that this service cannot accept, so you cannot be sent back to it safely. Go back to the app and start again. If it happens again, tell the developer of the app.',
  },
  disabled: {
    title: 'This app is disabled',
    text: 'You cannot sign in to it until an operator of this service enables it again. Contact the developer of the app.',
  },
  handleTitle: 'This page has expired',
  handleText:
    'This sign-in was started in another browser, is already finished, or is more than an hour old. Go back to the app and start again.',
  finishedTitle: 'This sign-in is already finished',
  finishedText: 'Go back to the app to continue.',
  help: (operator: HtmlPart, correlationId: HtmlPart): HtmlPart => [
    'For help, contact ',
    operator,
    ', and send this correlation ID: ',
    correlationId,
  ],
  again: (seconds: number) => `Try again in ${duration(seconds)}.`,
  sessionEnded: {
    title: 'You are signed out',
    text: 'Your session ended before this was done, so nothing was changed. Sign in and try again.',
  },
  /** By HTTP status. Any other status has the text of 400 or 500. */
  statuses: {
    400: {
      title: 'This request is not valid',
      text: 'Your browser sent a request that could not be read, so nothing was changed. Go back and try again.',
    },
    403: {
      title: 'This form came from another site',
      text: 'For your safety nothing was changed. Open your account here and try again.',
    },
    404: {
      title: 'Page not found',
      text: 'Check the address for typing mistakes, or continue from your account.',
    },
    405: {
      title: 'Nothing to show at this address',
      text: 'It only receives forms and requests from apps. Continue from your account.',
    },
    409: {
      title: 'This could not be done',
      text: 'Nothing was changed.',
    },
    413: {
      title: 'This is too large',
      text: 'What you sent is over the size limit, so nothing was changed. Go back and send less.',
    },
    414: {
      title: 'This address is too long',
      text: 'Go back to the app and start again. If it happens again, tell the developer of the app.',
    },
    415: {
      title: 'This format is not supported',
      text: 'The data was sent in a format that this address does not accept, so nothing was changed. Go back and send the form of the page again.',
    },
    429: {
      title: 'Too many requests',
      text: 'This was tried too many times in a short while, so nothing was changed.',
    },
    500: {
      title: 'Something went wrong on our side',
      text: 'Try again in a moment.',
    },
    503: { title: 'Temporarily unavailable', text: 'This service is overloaded or under maintenance.' },
  },
  /** Links to a page where the user can continue. */
  onward: { account: 'Go to your account', playground: 'Go to the playground' },
};
