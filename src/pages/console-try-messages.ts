import type { HtmlPart } from './html.ts';

/** The requests of an app, sent by hand. */
export const consoleTryMessages = {
  link: 'Try it',
  title: (name: HtmlPart): HtmlPart => ['Try ', name],
  lead: 'A sign-in with the settings of this app, and what the app sends then. Its values are new each time this page opens.',
  disabled: 'The app is disabled: every request below is refused.',
  nothing: 'No browser comes back to this app, and it gets no token for itself: there is nothing to try here.',
  redirectUri: 'Redirect URI',
  endpoints: 'Endpoints',
  scopes: 'Scopes',
  change: 'Choose what the app asks for',
  choose: 'Show the requests',
  request: 'The request, and its values',
  showCommand: 'Show the command',
  copyCommand: 'Copy',
  signIn: '1. Sign in',
  signInLead:
    'You sign in as yourself, or as somebody else in a private window. What you allow counts: the app stands among your connected apps until you take its access away.',
  begin: 'Begin the sign-in',
  exchange: '2. Exchange the code for tokens',
  exchangeLead: (uri: HtmlPart): HtmlPart => [
    'The browser comes back to ',
    uri,
    ' with a code and the state above. The app did not begin this sign-in, so it should refuse them; where nothing runs, the browser finds no page. Copy the code from the address bar: it is good for a minute, and once.',
  ],
  exchangeNote: 'Run this where the secret is. It never passes through this page: the server keeps a hash of it alone.',
  exchangePublic: 'The app has no secret: the verifier shows that the same program asks.',
  claims: '3. Read the claims',
  claimsLead: 'With the access token of the answer. The ID token beside it has claims as well.',
  watch: 'Watch in the log of the app what it is told',
  ownToken: 'A token of the app itself',
  ownTokenLead: 'It is about no person. Run this where the secret is.',
} as const;
