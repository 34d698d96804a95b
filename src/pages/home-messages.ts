import type { HtmlPart } from './html.ts';

/** The texts of the page at the base URL. */
export const home = {
  title: 'Welcome',
  heading: 'Sign in to your apps with one account.',
  lead: 'You decide what each app may know about you, and can take that back at any time.',
  signIn: 'Sign in',
  create: 'Create an account',
  signedInAs: (name: HtmlPart): HtmlPart => ['You are signed in as ', name, '.'],
  account: 'Go to your account',
  apps: 'Your apps',
  noApps: 'Apps that you use, or that you were given access to, appear here if they have a website.',
  allApps: 'What each app may know about you',
  developers: 'For developers',
  playground: 'Walk through the flow',
  playgroundNote: 'Get an app and its first token in under a minute, and see every byte on the way.',
  reference: 'API reference',
  referenceNote: 'Every call with its parameters and responses.',
  discovery: 'Discovery document',
  discoveryNote: 'The configuration that OpenID Connect libraries read.',
};
