import { createHmac, hash, hkdfSync, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';

/** 256 random bits from the system's generator, as 43 base64url characters. */
export const randomSecret = (): string => randomBytes(32).toString('base64url');

/** The secret by which a browser stays known after its session, in the form of a {@link randomSecret}. It says nothing of that of the session. */
export const knownSecretOf = (sessionSecret: string): string => digest(`known by ${sessionSecret}`);

/** Whether a text could be a {@link randomSecret}. Programs also send `undefined`, a placeholder or a part of the right text. */
export const isSecretForm = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** A code for a person to type: six digits from the system's generator. The number of tries must be limited. */
export const randomCode = (): string => String(randomInt(1_000_000)).padStart(6, '0');

/** Random characters of an alphabet, each as likely as any other. */
export const randomCharacters = (alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');

/** The size of a random identifier, in bytes. */
const IDENTIFIER = 16;
/** Random bytes for the next identifiers. Calling the generator for each would cost more than signing a token. */
let supply = Buffer.alloc(0);

/** 128 random bits, as 22 base64url characters: for identifiers that must be unique but need not be secret. */
export function randomIdentifier(): string {
  if (supply.length === 0) supply = randomBytes(IDENTIFIER * 256);
  const bytes = supply.subarray(0, IDENTIFIER);
  supply = supply.subarray(IDENTIFIER);
  return bytes.toString('base64url');
}

/**
 * A random identifier prefixed with the time in milliseconds, so that consecutive ones are adjacent in an index, and a commit with many
 * of them writes few pages.
 */
export const timedIdentifier = (now: number): string => now.toString(16).padStart(12, '0') + randomIdentifier();

/** A random identifier that can be passed to commands: it never begins with a dash, which would make it a flag. */
export function randomName(): string {
  for (;;) {
    const name = randomIdentifier();
    if (!name.startsWith('-')) return name;
  }
}

/** The SHA-256 digest under which a random secret is stored. For 256 random bits, no slower hash is needed. */
export const digest = (secret: string): string => hash('sha256', secret, 'base64url');

/** Compares two strings in constant time, that is, independent of where they differ. */
export function equalSecrets(left: string, right: string): boolean {
  const a = hash('sha256', left, 'buffer');
  const b = hash('sha256', right, 'buffer');
  return timingSafeEqual(a, b);
}

/** Derives a 256-bit key for one purpose (RFC 5869). Keys with different labels are independent. */
export const deriveKey = (material: Buffer, label: string): Buffer =>
  Buffer.from(hkdfSync('sha256', material, Buffer.alloc(0), `tessera ${label}`, 32));

/** An HMAC of a text: reproducible with the key, unpredictable without it. */
export const keyedDigest = (key: Buffer, text: string): string =>
  createHmac('sha256', key).update(text, 'utf8').digest('base64url');
