import { enumerated, sentenceList } from '../../platform/date-text.ts';

/** How many ids a sentence names. */
const MOST_NAMED = 10;

const idsText = (ids: readonly string[]): string => {
  const more = ids.length > MOST_NAMED ? ` and ${ids.length - MOST_NAMED} more` : '';
  return enumerated(ids.slice(0, MOST_NAMED)) + more;
};

const access = (count: number): string =>
  count === 1
    ? 'an assignment to an app or a membership that was given'
    : `${count} assignments to apps and memberships that were given`;

const made = (count: number): string =>
  count === 1 ? 'an admin key or a role that was given' : `${count} admin keys or roles that were given`;

const settings = (count: number): string =>
  count === 1
    ? 'changed settings of an app, an organization or a group, or a blocked domain'
    : `changed settings of ${count} apps, organizations and groups, or blocked domains`;

/** What the owner of an account is told of what others may have done with it. */
export const undoneTexts = {
  /** What was added since the account may have been in foreign hands, and was removed. */
  removed: (things: readonly string[]) => `This was added recently, and was removed: ${sentenceList(things)}.`,
  added: {
    app: 'an authenticator app',
    passkeys: (count: number) => (count === 1 ? 'a passkey' : `${count} passkeys`),
    codes: 'recovery codes',
    apps: (count: number) => (count === 1 ? 'the access of an app' : `the access of ${count} apps`),
    made,
    registered: (count: number) =>
      count === 1
        ? 'an app that was registered, enabled or changed, which is disabled'
        : `${count} apps that were registered, enabled or changed, which are disabled`,
    secrets: (count: number) => (count === 1 ? 'a secret of an app' : `${count} secrets of apps`),
    upstreams: (count: number) =>
      count === 1
        ? 'what was done to another provider for signing in'
        : `what was done to ${count} other providers for signing in`,
    settings,
    access,
    suspended: (count: number) =>
      count === 1
        ? 'an account that was created, which is suspended'
        : `${count} accounts that were created, which are suspended`,
    membership: (organization: string) => `the membership of ${organization}`,
  },

  disconnected:
    'Other providers are disconnected. If you signed in with one, connect it again on the Security page of your account.',
  usedPasskey:
    'The passkey with which this was done no longer works. If you still have it, add it again on the Security page of your account.',
  rights: (count: number) =>
    count === 1
      ? 'A role, a membership or an assignment of somebody else that was raised is as it was before.'
      : `${count} roles, memberships and assignments of others that were raised are as they were before.`,
  lostRights: (count: number) =>
    count === 1
      ? 'A role, a membership or an assignment of somebody else was taken away or made less. If that was wrong, ask an operator to give it again.'
      : `${count} roles, memberships and assignments of others were taken away or made less. Where that was wrong, ask an operator to give them again.`,
  leftSettings: (ids: readonly string[]) =>
    `Some settings of these stay as they are now, because they were closed, somebody else changed them since, or they were changed very often: ${idsText(ids)}. Check them.`,
  changed: (accountIds: readonly string[]) =>
    `These accounts were created or changed recently, and go on: ${idsText(accountIds)}. Check them.`,
  through: (accountIds: readonly string[]) =>
    `How these people sign in was set with your account: ${idsText(accountIds)}. What was made through their accounts ended. Those whose account is still open to somebody else were signed out, and recover it by mail. Tell them.`,

  worksAgain: (things: readonly string[]) => `This works again: ${sentenceList(things)}.`,
  earlier: {
    app: 'your earlier authenticator app',
    codes: 'your earlier recovery codes',
    passkeys: (count: number) => (count === 1 ? 'your earlier passkey' : 'your earlier passkeys'),
  },
  renewed: (what: 'app' | 'codes') =>
    what === 'app'
      ? 'If you replaced it yourself and have only the new one, choose “Forgot your password?” on the sign-in page: the new one is accepted there, too.'
      : 'If you renewed them yourself and have only the new ones, choose “Forgot your password?” on the sign-in page: the new ones are accepted there, too.',

  /** What was made in the time before, and goes on. */
  goesOn: (things: readonly string[]) =>
    `This was made with your account in the days before, and goes on: ${sentenceList(things)}. End what is not yours.`,
  /** What was made before an operator took a role of the person away, and goes on. */
  letGo: (things: readonly string[]) =>
    `This was made with your account before an operator took a role of yours away. The operator let it go on, and it does: ${sentenceList(things)}. Tell an operator of this service what was not you.`,
  going: {
    made,
    invitations: (count: number) => (count === 1 ? 'an invitation' : `${count} invitations`),
    apps: (ids: readonly string[]) => `what was done to these apps: ${idsText(ids)}`,
    upstreams: (count: number) =>
      count === 1 ? 'what was done to another provider' : `what was done to ${count} other providers`,
    settings,
    access,
    rights: (count: number) =>
      count === 1
        ? 'a role, a membership or an assignment of somebody else that was changed or taken away'
        : `${count} roles, memberships and assignments of others that were changed or taken away`,
    accounts: (ids: readonly string[]) => `what was done to these accounts: ${idsText(ids)}`,
  },
} as const;
