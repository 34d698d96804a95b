import type { HtmlPart } from './html.ts';

/** The texts of the console's overview. */
export const consoleOverviewTexts = {
  title: 'Overview',
  attention: 'Needs attention',
  nothing: 'Nothing needs attention.',
  levels: { problem: 'Problem', warning: 'Warning', request: 'Request' },
  scopesWait: (count: string): string =>
    count === '1' ? 'A developer asks for a scope.' : `Developers ask for ${count} scopes.`,
  scopesRemedy: 'See what they ask for',
  seeMail: 'See the messages',
  keyEnds: (name: HtmlPart, time: HtmlPart): HtmlPart => ['The admin key ', name, ' ends ', time, '.'],
  keyRemedy: 'Make another key in its place, if it is still needed.',
  appFails: (app: HtmlPart, count: string, reason: string): HtmlPart => [
    'The app ',
    app,
    ' was refused ',
    count,
    reason === '' ? ' times.' : ` times: ${reason}.`,
  ],
  appRemedy: 'See its newest steps',
  period: 'Period',
  periods: { day: 'Last 24 hours', month: 'Last 30 days' },
  counts: {
    signIns: 'Sign-ins',
    failures: 'Refused sign-ins',
    tokens: 'Tokens',
    refusals: 'Refused requests of apps',
    accounts: 'New accounts',
  },
  inHour: 'Hour (UTC)',
  inDay: 'Day (UTC)',
  count: 'Count',
  table: 'As a table',
  chart: (name: string, total: string): string =>
    `${name}: ${total} in this period, by time. The table below has the numbers.`,
  none: 'None in this period.',
  events: 'See the events',
  reasons: 'Why requests were refused',
  reason: 'Reason',
  what: 'What',
  app: 'App',
  noReason: 'none recorded',
  types: {
    'sign_in.failed': 'Sign-in',
    'token.refused': 'Token or code',
    'authorization.refused': 'Authorization',
    'client.auth_failed': 'Authentication of an app',
    'limit.exceeded': 'Limit',
  } as Readonly<Record<string, string>>,
  counted:
    'Counted from the audit trail once a minute. Repeated failures of one kind are recorded at a bounded rate, so they are a lower bound.',
};

/** The texts of the console's pages about the service itself. */
export const consoleSystemTexts = {
  title: 'System',
  tabsLabel: 'The service',
  tabs: { health: 'Health', mail: 'Mail', settings: 'Settings' },
  healthLead:
    'What this server finds about itself. The command tessera doctor looks at more: the files, the certificate, the proxy, a backup.',
  levels: { ok: 'In order', warning: 'Warning', problem: 'Problem' },
  nodes: 'Nodes',
  nodesLead:
    'Each process that makes IDs leases a number. A lease is prolonged once a minute; one that is not ends by itself.',
  node: (number: string): string => `Number ${number}`,
  leased: (time: HtmlPart): HtmlPart => ['leased until ', time],
  noNodes: 'No number is leased.',
  version: 'Version',
  issuer: 'Issuer',

  mailLead:
    'Messages, the newest first, without their contents. One that was given up has no content left: another one is sent here, where an operator can send it, or the person concerned asks again.',
  mailOff: 'Mail is off: TESSERA_SMTP_URL is not set.',
  mailNone: 'No message is on record.',
  statuses: {
    all: 'All',
    waiting: 'Waiting',
    dead: 'Given up',
    sent: 'Sent',
    expired: 'Too late',
    kept: 'Kept in the mailbox',
  } as Readonly<Record<string, string>>,
  filterLabel: 'Messages by what became of them',
  again: 'Send another one',
  againTo: (address: string): string => `Send another one: ${address}`,
  to: (address: HtmlPart): HtmlPart => ['to ', address],
  attempts: (count: number): string => (count === 1 ? '1 attempt' : `${count} attempts`),
  next: (time: HtmlPart): HtmlPart => ['next attempt ', time],
  asked: (time: HtmlPart): HtmlPart => ['asked for ', time],
  settled: (time: HtmlPart): HtmlPart => ['settled ', time],

  test: {
    title: 'Send a test message',
    link: 'Send a test message',
    lead: 'A short message goes to the address at once, and you see what the mail server answers.',
    to: 'Email address',
    toHint: 'Where it goes.',
    submit: 'Send',
    toBad: 'Enter an email address such as ada@example.com.',
    done: 'The mail server accepted the message',
    kept: 'No mail server is set, so the message is kept in the mailbox.',
    off: 'Mail is off: set TESSERA_SMTP_URL first.',
    failed: (problem: string): string => `The message was not sent. ${problem}`,
    backTo: 'Mail',
  },

  settingsLead:
    'Settings are made where the server runs, in its environment or by flags, and read once at its start. Who runs the server changes them; secrets are shown to nobody.',
  secretSet: 'Set, and not shown',
  initial: (text: HtmlPart): HtmlPart => ['Default: ', text],
  sources: { default: 'default', environment: 'environment or flag', file: 'file' },
  showAll: 'Every setting',
  showSet: 'Those that are set',
  noneSet: 'No setting is made: the defaults hold.',
};
