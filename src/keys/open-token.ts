import type { Keys } from './keys.ts';
import type { KeyRing } from './ring.ts';
import { COMPACT, TOKEN_KINDS, type TokenKey, type TokenKind } from './token-key.ts';

/** Longer than any token of ours. */
const LONGEST = 8192;

export interface OpenedToken {
  readonly kind: TokenKind;
  readonly claims: Readonly<Record<string, unknown>>;
  /** The ring whose key verified it: the verdict holds only while the database has the same version. */
  readonly ring: KeyRing;
}

/** The claims of a token of one kind whose signature is ours, or undefined. No claim is looked at before. */
export const openToken = (keys: Keys, kind: TokenKind, token: string): Promise<OpenedToken | undefined> =>
  open(keys, [kind], token);

/** The same for a token of any kind: its header tells which. */
export const openAnyToken = (keys: Keys, token: string): Promise<OpenedToken | undefined> =>
  open(keys, TOKEN_KINDS, token);

async function open(keys: Keys, kinds: readonly TokenKind[], token: string): Promise<OpenedToken | undefined> {
  if (token.length > LONGEST) return undefined;
  const header = token.slice(0, token.indexOf('.'));
  let ring = keys.ring();
  let key = keyFor(ring, kinds, header);
  if (key === undefined && COMPACT.test(token)) {
    // Another node may have rotated the keys since this one read them.
    ring = await keys.recheck();
    key = keyFor(ring, kinds, header);
  }
  const claims = key?.verify(token);
  return key && claims && { kind: key.kind, claims, ring };
}

function keyFor(ring: KeyRing, kinds: readonly TokenKind[], header: string): TokenKey | undefined {
  for (const kind of kinds) {
    const key = ring.byHeader(kind, header);
    if (key !== undefined) return key;
  }
  return undefined;
}
