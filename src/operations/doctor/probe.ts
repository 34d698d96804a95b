import { HOUR } from '../../platform/clock.ts';
import { deriveKey, equalSecrets, keyedDigest } from '../../platform/crypto/secrets.ts';

/** Where a running server tells what it saw of a request. */
export const PROBE_PATH = '/health/seen';

/** The header that proves who asks. */
export const PROBE_HEADER = 'tessera-probe';

/** What a running server saw of a request that came through whatever stands in front of it. */
export interface ProbeReport {
  /** Its clock, in milliseconds. */
  readonly now: number;
  readonly baseUrl: string;
  readonly trustProxy: false | number | string;
  /** The caller's address, as the server believes it; null where what it was told is none. */
  readonly address: string | null;
  /** The address that the connection came from. */
  readonly peer: string;
  readonly host: string | null;
  readonly forwardedFor: string | null;
}

/** The key of the proof: who has the root secret may ask, and nobody else learns that there is something to ask. */
export const probeKey = (root: Buffer): Buffer => deriveKey(root, 'doctor probe');

/** A proof that its sender has the root secret. */
export const sealProbe = (key: Buffer, now: number): string => `${now}.${keyedDigest(key, `${now}`)}`;

/** Whether a header is a proof of this hour: clocks that differ are one of the things that the command looks for. */
export function isProbe(key: Buffer, header: string, now: number): boolean {
  const [, time = '', proof = ''] = /^(\d{1,16})\.([\w-]{43})$/.exec(header) ?? [];
  return Math.abs(now - Number(time)) <= HOUR && equalSecrets(proof, keyedDigest(key, time));
}
