import { mailTexts } from '../../../mail/messages.ts';

const { undone: texts } = mailTexts;

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
  /** How many apps were disabled that were registered with it, or of which nothing whole is left. */
  readonly registered: number;
  /** How many secrets of other apps. */
  readonly secrets: number;
  /** How many other providers were disabled, or let in again whom they let in before. */
  readonly upstreams: number;
  /** Of how many apps, organizations and groups settings ended that were changed. */
  readonly settings: number;
  /** The apps, organizations, groups and other providers with settings that stay, by their ids. */
  readonly leftSettings: readonly string[];
  /** How many assignments to apps and memberships that were given with the account. */
  readonly access: number;
  /** How many roles, memberships and assignments of others that were raised with the account are as they were before. */
  readonly rights: number;
  /** How many were taken away with it, or made less. */
  readonly lostRights: number;
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
    lostRights: 0,
    suspended: 0,
    leftSettings: [],
    changed: [],
    through: [],
    letGo: undefined,
    left: undefined,
  },
};

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
  const things = goingOn(facts);
  return things.length === 0 ? [] : [texts.goesOn(things)];
}

/** Says what goes on because another operator let it go on. */
function letGoSentences(facts: GoesOn): readonly string[] {
  const things = goingOn(facts);
  return things.length === 0 ? [] : [texts.letGo(things)];
}

function goingOn(facts: GoesOn): readonly string[] {
  const { made, invitations, apps, upstreams, settings, access, rights, accounts } = facts;
  const { going } = texts;
  return [
    made > 0 && going.made(made),
    invitations > 0 && going.invitations(invitations),
    apps.length > 0 && going.apps(apps),
    upstreams > 0 && going.upstreams(upstreams),
    settings > 0 && going.settings(settings),
    access > 0 && going.access(access),
    rights > 0 && going.rights(rights),
    accounts.length > 0 && going.accounts(accounts),
  ].filter((what) => what !== false);
}

/** Says what was removed from an account and what is there again; nothing where that is nothing. */
export function undoneSentences({
  removed,
  restored,
  passkeys,
  passkeysRestored,
  identities,
  usedPasskeys = 0,
  lostRights,
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
  const { added, earlier } = texts;
  const gone = [
    removed.app && added.app,
    passkeys > 0 && added.passkeys(passkeys),
    removed.codes && added.codes,
    apps > 0 && added.apps(apps),
    made > 0 && added.made(made),
    registered > 0 && added.registered(registered),
    secrets > 0 && added.secrets(secrets),
    upstreams > 0 && added.upstreams(upstreams),
    settings > 0 && added.settings(settings),
    access > 0 && added.access(access),
    suspended > 0 && added.suspended(suspended),
    left !== undefined && added.membership(left),
  ].filter((what) => what !== false);
  const again = [
    restored.app && earlier.app,
    restored.codes && earlier.codes,
    passkeysRestored > 0 && earlier.passkeys(passkeysRestored),
  ].filter((what) => what !== false);
  const renewed = (['codes', 'app'] as const).find((what) => removed[what] && restored[what]);
  return [
    gone.length > 0 && texts.removed(gone),
    identities > 0 && texts.disconnected,
    usedPasskeys > 0 && texts.usedPasskey,
    rights > 0 && texts.rights(rights),
    lostRights > 0 && texts.lostRights(lostRights),
    leftSettings.length > 0 && texts.leftSettings(leftSettings),
    changed.length > 0 && texts.changed(changed),
    through.length > 0 && texts.through(through),
    ...(letGo === undefined ? [] : letGoSentences(letGo)),
    again.length > 0 && texts.worksAgain(again),
    renewed !== undefined && texts.renewed(renewed),
  ].filter((sentence) => sentence !== false);
}
