import { MINUTE } from '../../platform/clock.ts';
import { equalSecrets, keyedDigest } from '../../platform/crypto/secrets.ts';

/** How long a person may take to answer the browser's prompt. */
export const PASSKEY_CHALLENGE_LIFETIME = 5 * MINUTE;

/** What a challenge is good for. A response to it is accepted nowhere else. */
export interface ChallengeUse {
  readonly purpose: 'sign in' | 'second factor' | 'proof' | 'enrollment' | 'recovery' | 'undo';
  readonly browserHash: string;
  /** What it belongs to, such as the session in which a passkey is added; empty for none. */
  readonly subject: string;
}

const macOf = (key: Buffer, { purpose, browserHash, subject }: ChallengeUse, nonce: string, expiresAt: number) =>
  keyedDigest(key, JSON.stringify([purpose, browserHash, subject, nonce, expiresAt]));

const FORM = /^([A-Za-z0-9_-]{22})\.(\d{1,16})\.([A-Za-z0-9_-]{43})$/;

/**
 * A challenge of WebAuthn that says by itself until when, for what and in which browser it may be used, so that showing a page stores
 * nothing.
 * @param nonce 128 random bits
 */
export function createPasskeyChallenge(key: Buffer, use: ChallengeUse, nonce: string, now: number): string {
  const expiresAt = now + PASSKEY_CHALLENGE_LIFETIME;
  const text = `${nonce}.${expiresAt}.${macOf(key, use, nonce, expiresAt)}`;
  return Buffer.from(text).toString('base64url');
}

/** Whether a challenge was created with this key for this use. That it is used once is the caller's to check. */
export function judgePasskeyChallenge(
  key: Buffer,
  use: ChallengeUse,
  challenge: string,
  now: number,
): 'valid' | 'expired' | 'foreign' {
  const [, nonce = '', end = '', mac = ''] = FORM.exec(Buffer.from(challenge, 'base64url').toString('latin1')) ?? [];
  const expiresAt = Number(end);
  if (!equalSecrets(mac, macOf(key, use, nonce, expiresAt))) return 'foreign';
  return now < expiresAt ? 'valid' : 'expired';
}

/** Whether a signature counter shows that the key may have been copied (Web Authentication Level 3 §6.1.1). Zero means: no counter. */
export const counterWentBack = (stored: number, counter: number): boolean =>
  (stored > 0 || counter > 0) && counter <= stored;
