import { createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 random bits from the system's generator, as 43 base64url characters. */
export const randomSecret = (): string => randomBytes(32).toString('base64url');

/** What a random identifier is made of, in bytes. */
const IDENTIFIER = 16;
/** Random bytes for the identifiers to come: asking the generator for each by itself costs more than signing a token. */
let supply = Buffer.alloc(0);

/** 128 random bits, as 22 base64url characters: for identifiers that must never repeat. They are told, and no secrets. */
export function randomIdentifier(): string {
  if (supply.length === 0) supply = randomBytes(IDENTIFIER * 256);
  const bytes = supply.subarray(0, IDENTIFIER);
  supply = supply.subarray(IDENTIFIER);
  return bytes.toString('base64url');
}

/**
 * The same with the instant before it, in milliseconds: so names that are made one after the other stand side by side in an
 * index, and a commit of many writes few pages.
 */
export const timedIdentifier = (now: number): string => now.toString(16).padStart(12, '0') + randomIdentifier();

/** A random identifier for a name that people give to commands: it never begins with a dash, which would make it a flag. */
export function randomName(): string {
  for (;;) {
    const name = randomIdentifier();
    if (!name.startsWith('-')) return name;
  }
}

/** How a random secret is kept: its SHA-256. Of 256 random bits, no slower hash is needed. */
export const digest = (secret: string): string => hash('sha256', secret, 'base64url');

/** Compares two strings in a time that does not depend on where they differ. */
export function equalSecrets(left: string, right: string): boolean {
  const a = hash('sha256', left, 'buffer');
  const b = hash('sha256', right, 'buffer');
  return timingSafeEqual(a, b);
}

/** A 256-bit key for one purpose (RFC 5869). Different labels give keys that say nothing of each other. */
export const deriveKey = (material: Buffer, label: string): Buffer =>
  Buffer.from(hkdfSync('sha256', material, Buffer.alloc(0), `tessera ${label}`, 32));

/** A keyed digest of a text: reproducible by whoever holds the key, unpredictable to everyone else. */
export const keyedDigest = (key: Buffer, text: string): string =>
  createHmac('sha256', key).update(text, 'utf8').digest('base64url');
