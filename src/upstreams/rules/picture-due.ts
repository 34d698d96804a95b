import { DAY } from '../../platform/clock.ts';

/** After this, a picture is fetched again from where it was fetched before. */
const AGAIN = DAY;

export interface KnownPicture {
  /** The picture of the account; null where it has none. */
  readonly current: string | null;
  /** The pictures that were made of what the account's identities name. */
  readonly made: readonly string[];
  /** The digest of the address that was last tried for this identity, and when. */
  readonly triedHash: string | null;
  readonly triedAt: number | null;
}

/**
 * Why the picture that an upstream names is not fetched; undefined where it is. One that the person or an operator has set is never replaced,
 * and where they removed the upstream's, none comes again (decisions §14).
 * @param hash the digest of its address
 */
export function whyNoPicture(
  { current, made, triedHash, triedAt }: KnownPicture,
  hash: string,
  now: number,
): 'set here' | 'removed here' | 'fetched before' | undefined {
  if (current === null && made.length > 0) return 'removed here';
  if (current !== null && !made.includes(current)) return 'set here';
  return triedHash === hash && triedAt !== null && now - triedAt < AGAIN ? 'fetched before' : undefined;
}
