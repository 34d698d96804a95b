/** What a wrong secret is, for the operator only: the owner of a secret, and whether it was valid once, say who has it. */
export type SecretKind =
  /** It equals one on record once its white space and quotes are removed. */
  | { readonly kind: 'wrapped'; readonly by: 'white space' | 'quotes' }
  | { readonly kind: 'another app'; readonly clientId: string }
  | { readonly kind: 'ended' }
  | { readonly kind: 'word'; readonly word: string }
  | { readonly kind: 'placeholder' }
  | { readonly kind: 'shortened' }
  | { readonly kind: 'not a secret' }
  | { readonly kind: 'unknown' };

/** What programs send in place of a variable that has no value. */
const WORDS: ReadonlySet<string> = new Set([
  'undefined',
  'null',
  'none',
  'nil',
  'nan',
  'false',
  'true',
  '[object object]',
]);

/** Whether a text is what programs send in place of a variable that has no value. */
export const isEmptyWord = (text: string): boolean => WORDS.has(text.trim().toLowerCase());

export const isSecretLike = (text: string): boolean => text.trimStart().startsWith('tcs_');

/** The form of a secret: `tcs_` and 43 characters. */
const SECRET = /^tcs_[A-Za-z0-9_-]{43}$/;

const QUOTES = /^(["'`])(.*)\1$/s;

/** A presented secret without the white space and quotes around it; undefined where it has neither. */
export function unwrapped(
  presented: string,
): { readonly secret: string; readonly by: 'white space' | 'quotes' } | undefined {
  const trimmed = presented.trim();
  const [, , inQuotes] = QUOTES.exec(trimmed) ?? [];
  if (inQuotes !== undefined) return { secret: inQuotes.trim(), by: 'quotes' };
  return trimmed === presented ? undefined : { secret: trimmed, by: 'white space' };
}

/** What a wrong secret is by its form. */
export function kindByForm(presented: string): SecretKind {
  const word = presented.trim().toLowerCase();
  if (isEmptyWord(word)) return { kind: 'word', word };
  const wrapped = unwrapped(presented);
  if (wrapped !== undefined) return { kind: 'wrapped', by: wrapped.by };
  if (/^[<{$%]|^your[_-]|secret$/i.test(presented)) return { kind: 'placeholder' };
  if (SECRET.test(presented)) return { kind: 'unknown' };
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
      return 'an old secret of this app, which was replaced';
    case 'word':
      return `the word ${secret.word} in place of a secret`;
    case 'placeholder':
      return 'a placeholder in place of a secret';
    case 'shortened':
      return 'a secret that was cut off or changed';
    case 'not a secret':
      return 'a text that does not begin with tcs_, as every secret here does';
    case 'unknown':
      return 'a secret that is not on record';
  }
}

const copyAgain = (id: string): string =>
  `Copy the secret into the app again. If it is lost, make another: tessera client rotate-secret ${id}`;

/** What to do about it. */
export const SECRET_REMEDIES: Readonly<Record<SecretKind['kind'], (clientId: string) => string>> = {
  wrapped: () => 'Remove what is around the secret in the settings of the app.',
  'another app': (id) => `Set client_id and secret of one app: this request names ${id}.`,
  ended: (id) =>
    `Set the newest secret in the app, on every machine that it runs on. If it is lost, make another: tessera client rotate-secret ${id}`,
  word: () => 'Set the variable that should hold the secret: it has no value where the app runs.',
  placeholder: copyAgain,
  shortened: copyAgain,
  'not a secret': copyAgain,
  unknown: copyAgain,
};
