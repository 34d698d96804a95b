import { enumerated, sentenceList } from '../../../platform/date-text.ts';

/** What changed of an account that its owner has again; structurally what `removeAddedSince` tells. */
export interface UndoneFacts {
  readonly removed: { readonly app: boolean; readonly codes: boolean };
  readonly restored: { readonly app: boolean; readonly codes: boolean };
  /** How many were removed. They are not named: a thief may have chosen their names. */
  readonly passkeys: number;
  readonly passkeysRestored: number;
  /** How many identities at other providers. */
  readonly identities: number;
  /** How many passkeys were removed with which what is reported was done. */
  readonly usedPasskeys?: number;
  readonly apps: number;
  /** How many admin keys and roles that were made with the account. */
  readonly made: number;
  /** How many apps were disabled that were registered with it. */
  readonly registered: number;
  /** How many secrets of other apps. */
  readonly secrets: number;
  /** How many other providers were disabled, or let in again whom they let in before. */
  readonly upstreams: number;
  /** How many apps, organizations and groups have settings again that were changed. */
  readonly settings: number;
  /** The apps, organizations, groups and other providers with settings that stay, by their ids. */
  readonly leftSettings: readonly string[];
  /** How many assignments to apps and memberships that were given with the account. */
  readonly access: number;
  /** How many roles, memberships and assignments of others are as they were before they were changed or taken away with the account. */
  readonly rights: number;
  /** How many accounts were suspended that were created with the account. */
  readonly suspended: number;
  /** The other accounts that were created or changed with it, by their ids. */
  readonly changed: readonly string[];
  /** The accounts of other operators that were opened with it, by their ids. */
  readonly through: readonly string[];
  /** What goes on, because another operator let it go on who took a role of the person away. */
  readonly letGo: GoesOn | undefined;
  readonly left: string | undefined;
}

export const NOTHING_UNDONE: UndoneFacts = {
  ...{ removed: { app: false, codes: false }, restored: { app: false, codes: false } },
  ...{ passkeys: 0, passkeysRestored: 0, identities: 0, apps: 0, made: 0, registered: 0, secrets: 0 },
  ...{
    upstreams: 0,
    settings: 0,
    access: 0,
    rights: 0,
    suspended: 0,
    leftSettings: [],
    changed: [],
    through: [],
    letGo: undefined,
    left: undefined,
  },
};

const RENEWED =
  'If you renewed it yourself, and have the new one alone, recover your account by “Forgot your password?” on the sign-in page: that accepts the new one, too.';

/** Apps are named by their ids: a thief may have chosen their names. */
const idsText = (ids: readonly string[]): string => {
  const more = ids.length > MOST_NAMED ? ` and ${ids.length - MOST_NAMED} more` : '';
  return enumerated(ids.slice(0, MOST_NAMED)) + more;
};
const MOST_NAMED = 10;

const leftSettingsText = (ids: readonly string[]): string =>
  `Settings of these stay as they are, as somebody else changed them since or they were changed very often: ${idsText(ids)}. Check them.`;

const changedText = (accountIds: readonly string[]): string =>
  `These accounts were created or changed in the time before, and go on: ${idsText(accountIds)}. Check them.`;

const throughText = (accountIds: readonly string[]): string =>
  `How these people sign in was set with your account, and what was made through theirs ended: ${idsText(accountIds)}. Those whose account is still open to somebody else were signed out, and recover it by mail. Tell them.`;

const accessText = (count: number): string =>
  count === 1
    ? 'an assignment to an app or a membership that was given'
    : `${count} assignments to apps and memberships that were given`;

const rightsText = (count: number): string =>
  count === 1
    ? 'A role, a membership or an assignment of somebody else that was changed or taken away is as it was before.'
    : `${count} roles, memberships and assignments of others that were changed or taken away are as they were before.`;

const settingsText = (count: number): string =>
  count === 1
    ? 'changed settings of an app, an organization or a group, or a blocked domain'
    : `changed settings of ${count} apps, organizations and groups, or blocked domains`;

/** What was made with an account in the time before, and goes on. */
export interface GoesOn {
  /** How many admin keys and roles. */
  readonly made: number;
  readonly invitations: number;
  /** The apps that were registered, accepted, approved or changed, by their ids. */
  readonly apps: readonly string[];
  /** How many other providers were registered, enabled or changed. */
  readonly upstreams: number;
  /** How many apps, organizations and groups had settings changed that may let somebody in. */
  readonly settings: number;
  /** How many assignments to apps and memberships. */
  readonly access: number;
  /** How many roles, memberships and assignments of others were changed or taken away. */
  readonly rights: number;
  /** The accounts that were created or changed, by their ids. */
  readonly accounts: readonly string[];
}

/** Says what goes on because the person has shown that the account was theirs all the time, or because an operator could not end it. */
export function goesOnSentences(facts: GoesOn): readonly string[] {
  const list = goesOnList(facts);
  return list === undefined
    ? []
    : [`This was made with your account in the days before, and goes on: ${list}. End what is not yours.`];
}

/** Says what goes on because another operator let it go on. */
function letGoSentences(facts: GoesOn): readonly string[] {
  const list = goesOnList(facts);
  return list === undefined
    ? []
    : [
        `This was made with your account before an operator took a role of yours away. The operator let it go on, and it does: ${list}. Tell an operator of this service what was not you.`,
      ];
}

function goesOnList(facts: GoesOn): string | undefined {
  const { made, invitations, apps, upstreams, settings, access, rights, accounts } = facts;
  const goesOn = [
    made > 0 && (made === 1 ? 'an admin key or a role that was given' : `${made} admin keys or roles that were given`),
    invitations > 0 && (invitations === 1 ? 'an invitation' : `${invitations} invitations`),
    apps.length > 0 && `what was done to these apps: ${idsText(apps)}`,
    upstreams > 0 &&
      (upstreams === 1 ? 'what was done to another provider' : `what was done to ${upstreams} other providers`),
    settings > 0 && settingsText(settings),
    access > 0 && accessText(access),
    rights > 0 &&
      (rights === 1
        ? 'a role, a membership or an assignment of somebody else that was changed or taken away'
        : `${rights} roles, memberships and assignments of others that were changed or taken away`),
    accounts.length > 0 && `what was done to these accounts: ${idsText(accounts)}`,
  ].filter((what) => what !== false);
  return goesOn.length === 0 ? undefined : sentenceList(goesOn);
}

const USED_PASSKEY =
  'The passkey with which this was done no longer works. If you still have it, add it again on the Security page of your account.';

const DISCONNECTED =
  'Nobody signs in to it with another provider any more. If you did, connect the provider again on the Security page of your account.';

/** Says what was removed from an account and what is there again; nothing where that is nothing. */
export function undoneSentences({
  removed,
  restored,
  passkeys,
  passkeysRestored,
  identities,
  usedPasskeys = 0,
  apps,
  made,
  registered,
  secrets,
  upstreams,
  settings,
  leftSettings,
  access,
  rights,
  suspended,
  changed,
  through,
  letGo,
  left,
}: UndoneFacts): readonly string[] {
  const gone = [
    removed.app && 'an authenticator app',
    passkeys > 0 && (passkeys === 1 ? 'a passkey' : `${passkeys} passkeys`),
    removed.codes && 'recovery codes',
    apps > 0 && (apps === 1 ? 'the access of an app' : `the access of ${apps} apps`),
    made > 0 && (made === 1 ? 'an admin key or a role that was given' : `${made} admin keys or roles that were given`),
    registered > 0 &&
      (registered === 1
        ? 'an app that was registered or enabled, which is disabled'
        : `${registered} apps that were registered or enabled, which are disabled`),
    secrets > 0 && (secrets === 1 ? 'a secret of an app' : `${secrets} secrets of apps`),
    upstreams > 0 &&
      (upstreams === 1
        ? 'what was done to another provider for signing in'
        : `what was done to ${upstreams} other providers for signing in`),
    settings > 0 && settingsText(settings),
    access > 0 && accessText(access),
    suspended > 0 &&
      (suspended === 1
        ? 'an account that was created, which is suspended'
        : `${suspended} accounts that were created, which are suspended`),
    left !== undefined && `the membership of ${left}`,
  ].filter((what) => what !== false);
  const again = [
    restored.app && 'your earlier authenticator app',
    restored.codes && 'your earlier recovery codes',
    passkeysRestored > 0 && (passkeysRestored === 1 ? 'your earlier passkey' : 'your earlier passkeys'),
  ].filter((what) => what !== false);
  return [
    ...(gone.length > 0 ? [`This was added in the time before, and was removed: ${sentenceList(gone)}.`] : []),
    ...(identities > 0 ? [DISCONNECTED] : []),
    ...(usedPasskeys > 0 ? [USED_PASSKEY] : []),
    ...(rights > 0 ? [rightsText(rights)] : []),
    ...(leftSettings.length > 0 ? [leftSettingsText(leftSettings)] : []),
    ...(changed.length > 0 ? [changedText(changed)] : []),
    ...(through.length > 0 ? [throughText(through)] : []),
    ...(letGo === undefined ? [] : letGoSentences(letGo)),
    ...(again.length > 0 ? [`This works again: ${sentenceList(again)}.`] : []),
    ...((removed.app && restored.app) || (removed.codes && restored.codes) ? [RENEWED] : []),
  ];
}
