import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deriveKey } from '../platform/crypto/secrets.ts';

/** The key that seals keys in the database. */
export const sealingKey = (root: Buffer): Buffer => deriveKey(root, 'sealing');

/** The context of a sealed key of access and refresh tokens. */
export const signingKeyContext = (kid: string): string => `signing key ${kid}`;

/** The context of a sealed private key of ID tokens. */
export const keyPairContext = (alg: string, kid: string): string => `id token key ${alg} ${kid}`;

/**
 * Encrypts bytes for storage with AES-256-GCM.
 * @param key 32 bytes that are not in the database
 * @param context authenticated with the ciphertext, which can be decrypted only with the same one
 */
export function seal(key: Buffer, plaintext: Buffer, context: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(context, 'utf8'));
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url');
}

/**
 * Decrypts sealed bytes; undefined for another key or context, or if they were changed. So is another text for the same bytes, which decoding
 * would take: what is used once, such as a state, is known by its text.
 */
export function unseal(key: Buffer, sealed: string, context: string): Buffer | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < 28 || bytes.toString('base64url') !== sealed) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 });
  decipher.setAAD(Buffer.from(context, 'utf8'));
  decipher.setAuthTag(bytes.subarray(-16));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
  } catch {
    return undefined;
  }
}
