/** A sign-in at an upstream, as its session remembers it. */
export interface SignInThere {
  readonly sid: string;
  readonly upstreamId: string;
  readonly at: number;
}

/**
 * Whether a sign-in came through an upstream: none with a password or a factor of its own replaced it (`amr`), and the last one at an upstream
 * in its session until then was at this one.
 * @param there those of the account
 */
export function cameThrough(
  upstreamId: string,
  there: readonly SignInThere[],
  { sid, authTime, amr }: { readonly sid: string; readonly authTime: number; readonly amr: readonly string[] },
): boolean {
  if (!amr.includes('upstream')) return false;
  const before = there.filter((one) => one.sid === sid && one.at <= authTime).sort((one, other) => other.at - one.at);
  return before[0]?.upstreamId === upstreamId;
}
