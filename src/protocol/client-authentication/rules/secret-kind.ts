import { emptyWord, unwrapped } from '../../../platform/validation/sent-text.ts';

/** What a wrong secret is, for the operator only: the owner of a secret, and whether it was valid once, say who has it. */
export type SecretKind =
  /** It equals one on record once its white space and quotes are removed. */
  | { readonly kind: 'wrapped'; readonly by: 'white space' | 'quotes' }
  | { readonly kind: 'another app'; readonly clientId: string }
  /** An operator or the app itself ended it. */
  | { readonly kind: 'ended'; readonly at: string; readonly secretId: string }
  /** Its time was over after a newer one was added. */
  | { readonly kind: 'expired'; readonly at: string; readonly secretId: string }
  | { readonly kind: 'word'; readonly word: string }
  | { readonly kind: 'placeholder' }
  | { readonly kind: 'shortened' }
  | { readonly kind: 'an admin key' }
  | { readonly kind: 'an id of a secret' }
  | { readonly kind: 'not a secret' }
  | { readonly kind: 'unknown' };

export const isSecretLike = (text: string): boolean => text.trimStart().startsWith('tcs_');

/** The form of a secret: `tcs_` and 43 characters. */
const SECRET = /^tcs_[A-Za-z0-9_-]{43}$/;

/** What a wrong secret is by its form. */
export function kindByForm(presented: string): SecretKind {
  const word = emptyWord(presented);
  if (word !== undefined) return { kind: 'word', word };
  const wrapped = unwrapped(presented);
  if (wrapped !== undefined) return { kind: 'wrapped', by: wrapped.by };
  if (/^[<{$%]|^your[_-]|secret$/i.test(presented)) return { kind: 'placeholder' };
  if (SECRET.test(presented)) return { kind: 'unknown' };
  if (presented.startsWith('tak_')) return { kind: 'an admin key' };
  return { kind: presented.startsWith('tcs_') ? 'shortened' : 'not a secret' };
}

/** What came, for the trace. It repeats nothing of the secret but a known word. */
export function describeSecret(secret: SecretKind = { kind: 'unknown' }): string {
  switch (secret.kind) {
    case 'wrapped':
      return `a secret with ${secret.by} around it`;
    case 'another app':
      return `a secret of another app: ${secret.clientId}`;
    case 'ended':
      return `a secret of this app that was ended at ${secret.at}`;
    case 'expired':
      return `a secret of this app that expired at ${secret.at}, after a newer one was added`;
    case 'word':
      return `the word ${secret.word} in place of a secret`;
    case 'placeholder':
      return 'a placeholder in place of a secret';
    case 'shortened':
      return 'a secret that was cut off or changed';
    case 'an admin key':
      return 'an admin key, which authenticates operators and no app';
    case 'an id of a secret':
      return 'the id of a secret in place of the secret';
    case 'not a secret':
      return 'a text that does not begin with tcs_, as every secret here does';
    case 'unknown':
      return 'a secret that is not on record';
  }
}

const copyAgain = (id: string): string =>
  `Copy the secret into the app again. If it is lost, make another: tessera client rotate-secret ${id}`;

const setNewest = (id: string, question: string, event: string): string =>
  `Set the newest secret in the app, on every machine that it runs on. If it is lost, make another: tessera client rotate-secret ${id}. ${question}: tessera events --client ${id} --type ${event}. From where the old one is still sent: tessera events --client ${id} --type client.auth_failed`;

/** What to do about it. */
export const SECRET_REMEDIES: Readonly<Record<SecretKind['kind'], (clientId: string) => string>> = {
  wrapped: () => 'Remove what is around the secret in the settings of the app.',
  'another app': (id) => `Set client_id and secret of one app: this request names ${id}.`,
  ended: (id) => setNewest(id, 'Who ended the old one', 'client.secret_ended'),
  expired: (id) => setNewest(id, 'Who added the newer one', 'client.secret_added'),
  word: () => 'Set the variable that should hold the secret: it has no value where the app runs.',
  placeholder: copyAgain,
  shortened: copyAgain,
  'an admin key': (id) =>
    `Take the admin key out of the app, and end it if others could read it: tessera admin-key revoke KEY_ID. ${copyAgain(id)}`,
  'an id of a secret': (id) =>
    `Set the secret itself, which was shown once, as clientSecret. If it is lost, make another: tessera client rotate-secret ${id}`,
  'not a secret': copyAgain,
  unknown: copyAgain,
};
