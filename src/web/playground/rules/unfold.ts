/** A JWT taken apart. */
export interface Unfolded {
  /** The three parts as they are in the token. */
  readonly parts: readonly [string, string, string];
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** RFC 7519 §3.1 and RFC 7515 §3.1: three base64url parts, of which two are JSON. @returns undefined for anything else */
export function unfold(token: string): Unfolded | undefined {
  const [header, claims, signature, ...more] = token.split('.');
  if (header === undefined || claims === undefined || signature === undefined || more.length > 0) return undefined;
  try {
    return { parts: [header, claims, signature], header: decode(header), claims: decode(claims) };
  } catch {
    return undefined;
  }
}

const decode = (part: string): Record<string, unknown> => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));

/** Claims that are times, in seconds since the epoch. */
const TIMES: ReadonlySet<string> = new Set(['exp', 'iat', 'auth_time']);

/** A claim as it stands in the JSON of its token, and as people read it where that says more. */
export function claimText(name: string, value: unknown): { readonly json: string; readonly time?: string } {
  const json = JSON.stringify(value);
  if (!TIMES.has(name) || typeof value !== 'number') return { json };
  return { json, time: `${new Date(value * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC` };
}
