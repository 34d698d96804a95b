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
  /** The other apps whose redirect URIs were changed, by their ids. */
  readonly redirected: readonly string[];
  /** How many other providers were disabled, or let in again whom they let in before. */
  readonly upstreams: number;
  /** How many assignments to apps and memberships that were given with the account. */
  readonly access: number;
  readonly left: string | undefined;
}

export const NOTHING_UNDONE: UndoneFacts = {
  ...{ removed: { app: false, codes: false }, restored: { app: false, codes: false } },
  ...{ passkeys: 0, passkeysRestored: 0, identities: 0, apps: 0, made: 0, registered: 0, secrets: 0 },
  ...{ upstreams: 0, access: 0, redirected: [], left: undefined },
};

const RENEWED =
  'If you renewed it yourself, and have the new one alone, recover your account by “Forgot your password?” on the sign-in page: that accepts the new one, too.';

/** Apps are named by their ids: a thief may have chosen their names. */
const idsText = (clientIds: readonly string[]): string => {
  const more = clientIds.length > MOST_NAMED ? ` and ${clientIds.length - MOST_NAMED} more` : '';
  return clientIds.slice(0, MOST_NAMED).join(', ') + more;
};
const MOST_NAMED = 10;

const redirectedText = (clientIds: readonly string[]): string =>
  `The redirect URIs or keys of these apps were changed in the time before, and were left as they are: ${idsText(clientIds)}. Check them.`;

const accessText = (count: number): string =>
  count === 1
    ? 'an assignment to an app or a membership that was given'
    : `${count} assignments to apps and memberships that were given`;

/** What was made with an account in the time before, and goes on because its owner has shown that it was theirs all the time. */
export interface GoesOn {
  /** How many admin keys and roles. */
  readonly made: number;
  readonly invitations: number;
  /** The apps that were registered, accepted, approved or changed, by their ids. */
  readonly apps: readonly string[];
  /** How many other providers were registered, enabled or changed. */
  readonly upstreams: number;
  /** How many assignments to apps and memberships. */
  readonly access: number;
}

export function goesOnSentences({ made, invitations, apps, upstreams, access }: GoesOn): readonly string[] {
  const goesOn = [
    made > 0 && (made === 1 ? 'an admin key or a role that was given' : `${made} admin keys or roles that were given`),
    invitations > 0 && (invitations === 1 ? 'an invitation' : `${invitations} invitations`),
    apps.length > 0 && `what was done to these apps: ${idsText(apps)}`,
    upstreams > 0 &&
      (upstreams === 1 ? 'what was done to another provider' : `what was done to ${upstreams} other providers`),
    access > 0 && accessText(access),
  ].filter((what) => what !== false);
  if (goesOn.length === 0) return [];
  return [
    `This was made with your account in the days before, and goes on: ${goesOn.join(', ')}. End what is not yours.`,
  ];
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
  redirected,
  upstreams,
  access,
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
    access > 0 && accessText(access),
    left !== undefined && `the membership of ${left}`,
  ].filter((what) => what !== false);
  const again = [
    restored.app && 'your earlier authenticator app',
    restored.codes && 'your earlier recovery codes',
    passkeysRestored > 0 && (passkeysRestored === 1 ? 'your earlier passkey' : 'your earlier passkeys'),
  ].filter((what) => what !== false);
  return [
    ...(gone.length > 0 ? [`This was added in the time before, and was removed: ${gone.join(', ')}.`] : []),
    ...(identities > 0 ? [DISCONNECTED] : []),
    ...(usedPasskeys > 0 ? [USED_PASSKEY] : []),
    ...(redirected.length > 0 ? [redirectedText(redirected)] : []),
    ...(again.length > 0 ? [`This works again: ${again.join(', ')}.`] : []),
    ...((removed.app && restored.app) || (removed.codes && restored.codes) ? [RENEWED] : []),
  ];
}
