import type { HtmlPart } from './html.ts';

/** The texts about passkeys. */
export const passkeys = {
  signIn: 'Sign in with a passkey',
  use: 'Use your passkey',
  /** What the script says where the prompt of the browser came to nothing. */
  cancelled: 'No passkey was used. Try again, or sign in another way.',
  notCreated: 'No passkey was created. You can try again.',
  exists: 'This device already has a passkey for your account.',
  failed: 'The passkey could not be used in this browser. Sign in another way.',
  notCreatedHere: 'This browser could not create a passkey. Try another browser or device.',
  /** What the server says of a response. */
  unknown:
    'This passkey is no longer set up for an account here: it was removed. Sign in another way, and delete it from your device or password manager.',
  expired: 'The request for your passkey has expired. Try again.',
  notVerified:
    'Your device did not check that it was you. Use a passkey that asks for your fingerprint, face or PIN, or sign in another way.',
  invalid: 'The passkey could not be checked. Try again, or sign in another way.',
  tooMany: 'Your account has as many passkeys as it can have. First remove one that you no longer use.',
  title: 'Passkeys',
  lead: 'Sign in with your fingerprint, face or screen lock, without a password. A passkey works on this site only, so no other site can trick you into giving it away.',
  none: 'You have no passkeys yet.',
  count: (passkeys: number) => (passkeys === 1 ? 'You have one passkey.' : `You have ${passkeys} passkeys.`),
  add: 'Add a passkey',
  offer: 'Sign in faster next time',
  offerLead: 'Add a passkey, and sign in here with your fingerprint, face or screen lock. Your password still works.',
  notNow: 'Not now',
  unsupported: 'This browser cannot use passkeys, or scripts are off. Use another browser or device.',
  notOffered: 'No more passkeys can be added here. Those that you have keep working.',
  verifyAddressFirst: 'To add a passkey, first verify your email address.',
  added: (name: HtmlPart): HtmlPart => ['The passkey ', name, ' is added. You can sign in with it from now on.'],
  addedFirst: (name: HtmlPart): HtmlPart => [
    'The passkey ',
    name,
    ' is added. You can sign in with it from now on. You are signed out in every other browser, and have to sign in to your apps again.',
  ],
  kept: 'Stored',
  synced: 'Synced between your devices',
  notSynced: 'Only on the device or key that made it, not backed up',
  created: 'Added',
  lastUsed: 'Last used',
  never: 'Not yet',
  name: 'Name',
  nameBad:
    'Enter a name of 1 to 64 characters, at least one of them visible, and none that changes the direction of text.',
  rename: 'Rename',
  renameOf: (name: string) => `Rename ${name}`,
  renamed: (name: HtmlPart): HtmlPart => ['The passkey is now called ', name, '.'],
  remove: 'Remove',
  removeThis: (name: HtmlPart): HtmlPart => ['The passkey ', name, ' no longer signs you in.'],
  removeYes: 'Yes, remove the passkey',
  removeOf: (name: string) => `Yes, remove the passkey ${name}`,
  removed:
    'The passkey is removed. You are signed out in every other browser, and have to sign in to your apps again. Delete it from your device or password manager too.',
  removedBefore: 'This passkey was already removed.',
  lastWay: 'This passkey is your only way to sign in. Add another passkey or set a password before you remove it.',
  removePassword: 'Remove your password',
  removePasswordYes: 'Yes, remove my password',
  removePasswordLead:
    'Without a password, you sign in with passkeys alone, and there is nothing to guess or steal. You get recovery codes, in case you lose your passkeys.',
  passwordRemoved:
    'Your password is removed. You are signed out in every other browser, and have to sign in to your apps again. From now on, sign in with a passkey.',
} as const;
