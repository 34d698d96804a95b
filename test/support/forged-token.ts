import { createHmac } from 'node:crypto';
import { type Core, openCore } from '../../src/core.ts';
import { unseal } from '../../src/keys/seal.ts';
import { readSigningKeys } from '../../src/keys/store.ts';
import type { TokenKind } from '../../src/keys/tokens.ts';
import { deriveKey } from '../../src/platform/crypto/secrets.ts';
import { readConfig } from '../../src/settings/config.ts';
import type { TestServer } from './server.ts';

/** The keys that sign at this moment, as an operator with the data and the secret could find them. */
export interface RealKeys {
  readonly kid: string;
  readonly access: Buffer;
  readonly refresh: Buffer;
  /** The key material from which both are derived, and the root that seals it. */
  readonly material: Buffer;
  readonly root: Buffer;
}

/** Opens a server's data a second time, as the command line does while the server runs. */
export async function withData<T>(
  { environment, now }: Pick<TestServer, 'environment' | 'now'>,
  work: (core: Core) => Promise<T>,
): Promise<T> {
  const core = await openCore(readConfig(environment), now);
  try {
    return await work(core);
  } finally {
    await core.close();
  }
}

/** Reads and opens the signing key of a server. */
export const realKeys = (server: Pick<TestServer, 'environment' | 'now'>): Promise<RealKeys> =>
  withData(server, async ({ database, secret: root }) => {
    const row = (await database.read(() => readSigningKeys({}))).find(({ retiredAt }) => retiredAt === null);
    const material = row && unseal(deriveKey(root, 'sealing'), row.sealed, `signing key ${row.kid}`);
    if (row === undefined || material === undefined) throw new Error('the signing key could not be opened');
    const derive = (kind: TokenKind) => deriveKey(material, `${kind} token`);
    return { kid: row.kid, access: derive('access'), refresh: derive('refresh'), material, root };
  });

export const encode = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** Parts of a compact JWS, decoded. */
export function parts(token: string): { header: Record<string, unknown>; claims: Record<string, unknown> } {
  const [header = '', claims = ''] = token.split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
  return { header: read(header), claims: read(claims) };
}

/**
 * Signs any header and claims with HMAC.
 * @param header as an object, or as the exact text
 * @param claims likewise
 */
export function forge(header: unknown, claims: unknown, key: Buffer | string, hash = 'sha256'): string {
  const input = `${encode(header)}.${encode(claims)}`;
  return `${input}.${createHmac(hash, key).update(input).digest('base64url')}`;
}
