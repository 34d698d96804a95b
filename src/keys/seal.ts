import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deriveKey } from '../platform/crypto/secrets.ts';

/** The key that seals what the database holds. */
export const sealingKey = (root: Buffer): Buffer => deriveKey(root, 'sealing');

/** What a sealed signing key is bound to. */
export const signingKeyContext = (kid: string): string => `signing key ${kid}`;

/** What a sealed private key of ID tokens is bound to. */
export const keyPairContext = (alg: string, kid: string): string => `id token key ${alg} ${kid}`;

/**
 * Encrypts bytes for storage with AES-256-GCM.
 * @param key 32 bytes that the database does not hold
 * @param context bound to the ciphertext: it opens in this place only
 */
export function seal(key: Buffer, plaintext: Buffer, context: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(context, 'utf8'));
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url');
}

/** The sealed bytes, or undefined where another key, another context or another text sealed them. */
export function unseal(key: Buffer, sealed: string, context: string): Buffer | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < 28) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 });
  decipher.setAAD(Buffer.from(context, 'utf8'));
  decipher.setAuthTag(bytes.subarray(-16));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
  } catch {
    return undefined;
  }
}
