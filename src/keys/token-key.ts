import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { createSigner } from 'fast-jwt';
import { deriveKey } from '../secrets.ts';

/** The kinds of JWT that only this server reads. Each has a key, a `typ` and an audience of its own. */
export const TOKEN_TYPES = { access: 'at+jwt', refresh: 'rt+jwt' } as const;
export type TokenKind = keyof typeof TOKEN_TYPES;
export const TOKEN_KINDS = Object.keys(TOKEN_TYPES) as readonly TokenKind[];

/** One key for one kind of token. */
export interface TokenKey {
  readonly kid: string;
  readonly kind: TokenKind;
  sign(claims: Readonly<Record<string, unknown>>): string;
  /** The claims, or undefined where the signature is not this key's. Says nothing about expiry or life. */
  verify(token: string): Readonly<Record<string, unknown>> | undefined;
}

/** The key of one kind that one version of the server's key material gives. */
export function tokenKey(material: Buffer, kid: string, kind: TokenKind): TokenKey {
  const key = deriveKey(material, `${kind} token`);
  const typ = TOKEN_TYPES[kind];
  const sign = createSigner({ key, algorithm: 'HS256', kid, header: { alg: 'HS256', typ } });
  const secret = createSecretKey(key);
  return {
    kid,
    kind,
    sign,
    verify(token) {
      const [headerEnd, payloadEnd] = [token.indexOf('.'), token.lastIndexOf('.')];
      // Compared as text: so of all ways to write a signature only the canonical one is taken (RFC 4648 §3.5).
      const mac = createHmac('sha256', secret).update(token.slice(0, payloadEnd), 'utf8').digest('base64url');
      const [expected, presented] = [Buffer.from(mac), Buffer.from(token.slice(payloadEnd + 1))];
      if (presented.length !== expected.length || !timingSafeEqual(presented, expected)) return undefined;
      // Nothing is parsed that was not signed with this key.
      return objectIn(Buffer.from(token.slice(headerEnd + 1, payloadEnd), 'base64url').toString('utf8'));
    },
  };
}

function objectIn(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

/** The header segment of the tokens that a key signs: always the same text. */
export function headerOf(key: TokenKey): string {
  return Buffer.from(JSON.stringify({ alg: 'HS256', typ: TOKEN_TYPES[key.kind], kid: key.kid })).toString('base64url');
}
