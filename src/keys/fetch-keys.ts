import { type Outgoing, OutgoingFailed } from '../platform/http/outgoing.ts';
import { type ClientKey, usableKeys } from './rules/jwks.ts';

/** How much of a key set is read, and for how long it is waited for. */
export interface KeySetBounds {
  readonly longestBody: number;
  readonly timeoutMs: number;
}

/** Fetches a key set (RFC 7517 §5). @returns its keys that can be used, or what is wrong */
export async function fetchKeys(
  ask: Outgoing,
  url: string,
  bounds: KeySetBounds,
): Promise<readonly ClientKey[] | { readonly problem: string }> {
  const headers = { accept: 'application/jwk-set+json, application/json' };
  try {
    const { status, body } = await ask({ method: 'GET', url, headers, ...bounds });
    if (status !== 200) return { problem: `the response has the status ${status}` };
    return usableKeys(parseJson(body)) ?? { problem: 'the response is no JSON Web Key Set of at most 20 keys' };
  } catch (error) {
    if (error instanceof OutgoingFailed) return { problem: error.message };
    throw error;
  }
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
