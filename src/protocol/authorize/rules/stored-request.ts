import type { AuthorizationRequest, RedirectedError } from './request.ts';

/** A pending request as it is stored: `state` as octets, for JSON would spend up to six on one of its characters. */
export interface StoredRequest {
  /** The rest of it, as JSON. */
  readonly json: string;
  readonly state: Uint8Array | null;
  /** How many bytes all of it takes. */
  readonly size: number;
}

/** As many bytes as are kept of a request: anybody may begin one, and it stays for an hour. */
export const LARGEST_REQUEST = 4096;

/** What its row has beside: four hashes of 43 characters, an id, two times, an outcome. */
const BESIDE = 256;

export function storedRequest({ state, ...rest }: AuthorizationRequest): StoredRequest {
  const json = JSON.stringify(rest);
  const octets = state === null ? null : Buffer.from(state);
  return { json, state: octets, size: BESIDE + Buffer.byteLength(json) + (octets?.length ?? 0) };
}

/** What a row holds, as {@link storedRequest} made it. */
export function restoredRequest(json: string, octets: Uint8Array | null): AuthorizationRequest {
  const rest = JSON.parse(json) as AuthorizationRequest;
  return octets === null
    ? { ...BEFORE, ...rest }
    : { ...BEFORE, ...rest, state: Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('utf8') };
}

/** What a request lacks that a version kept which did not know of it. */
const BEFORE = {
  state: null,
  responseMode: 'query',
  maxAge: null,
  subjects: null,
  hinted: null,
  loginHint: null,
  claims: null,
} as const satisfies Partial<AuthorizationRequest>;

/**
 * Refuses a request that would take more than is kept of one, also where this one need not be kept: whether a page is needed
 * depends on the person, and an app must be able to rely on what it sends.
 */
export function checkSize(asked: AuthorizationRequest): RedirectedError | undefined {
  const { size, state } = storedRequest(asked);
  if (size <= LARGEST_REQUEST) return undefined;
  const json = (value: unknown) => Buffer.byteLength(JSON.stringify(value ?? null));
  const parts: readonly (readonly [name: string, bytes: number])[] = [
    ['state', state?.length ?? 0],
    ['nonce', json(asked.nonce)],
    ['claims', json(asked.claims) + json(asked.subjects)],
    ['resource', json(asked.resources)],
    ['login_hint', json(asked.loginHint)],
    ['redirect_uri', json(asked.redirectUri)],
  ];
  const [name, bytes] = parts.reduce((largest, part) => (part[1] > largest[1] ? part : largest));
  return {
    kind: 'redirect',
    error: 'invalid_request',
    description: `the request takes ${size} bytes, ${bytes} of them for ${name}; at most ${LARGEST_REQUEST} are kept, so shorten ${name}`,
    reason: `${name} too large`,
  };
}
