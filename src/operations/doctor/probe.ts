import { HOUR } from '../../platform/clock.ts';
import { deriveKey, equalSecrets, keyedDigest } from '../../platform/crypto/secrets.ts';
import type { LogLoss } from '../../platform/log-output.ts';

/** Where a running server reports how it sees a request. */
export const PROBE_PATH = '/health/seen';

/** The header with the proof that the caller has the root secret. */
export const PROBE_HEADER = 'tessera-probe';

/** How a running server sees a request that came through the proxies in front of it. */
export interface ProbeReport {
  /** Its clock, in milliseconds. */
  readonly now: number;
  readonly version: string;
  /** What it has lost of its log. */
  readonly log: LogLoss;
  readonly baseUrl: string;
  readonly trustProxy: false | number | string;
  /** The caller's address, as the server determined it; null if it was told something that is not an address. */
  readonly address: string | null;
  /** The address that the connection came from. */
  readonly peer: string;
  readonly host: string | null;
  readonly forwardedFor: string | null;
}

/** The key of the proof, derived from the root secret. For callers without it, the route does not exist. */
export const probeKey = (root: Buffer): Buffer => deriveKey(root, 'doctor probe');

/** A proof that its sender has the root secret. */
export const sealProbe = (key: Buffer, now: number): string => `${now}.${keyedDigest(key, `${now}`)}`;

/** Whether a header is a proof from within an hour: different clocks are one of the findings of the command. */
export function isProbe(key: Buffer, header: string, now: number): boolean {
  const [, time = '', proof = ''] = /^(\d{1,16})\.([\w-]{43})$/.exec(header) ?? [];
  return Math.abs(now - Number(time)) <= HOUR && equalSecrets(proof, keyedDigest(key, time));
}
