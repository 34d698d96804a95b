import type { Keys } from './keys.ts';
import type { KeyRing } from './ring.ts';
import type { TokenKind } from './token-key.ts';

/** Longer than any token of ours. */
const LONGEST = 8192;

/**
 * RFC 7515 §7.1: three base64url parts without padding. The signature of HS256 is 32 bytes: 43 characters, the last of
 * which carries four bits, so only every fourth character is canonical there.
 */
const COMPACT = /^([A-Za-z0-9_-]{1,1024})\.[A-Za-z0-9_-]{1,8192}\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

export interface OpenedToken {
  readonly claims: Readonly<Record<string, unknown>>;
  /** The ring whose key verified it: the verdict holds only while the database has the same version. */
  readonly ring: KeyRing;
}

/** The claims of a token of one kind whose signature is ours, or undefined. No claim is looked at before. */
export async function openToken(keys: Keys, kind: TokenKind, token: string): Promise<OpenedToken | undefined> {
  if (token.length > LONGEST) return undefined;
  const header = COMPACT.exec(token)?.[1];
  if (header === undefined) return undefined;
  let ring = keys.ring();
  let key = ring.byHeader(kind, header);
  if (key === undefined) {
    // Another node may have rotated the keys since this one read them.
    ring = await keys.recheck();
    key = ring.byHeader(kind, header);
  }
  const claims = key?.verify(token);
  return claims && { claims, ring };
}
