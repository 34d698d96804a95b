import Bowser from 'bowser';

/** What a person recognizes a session by; null where it is unknown. */
export interface Device {
  /** Such as `Firefox`. */
  readonly browser: string | null;
  /** Such as `Windows`. */
  readonly system: string | null;
  /** The network of the sign-in, as {@link networkOf} writes it. */
  readonly network: string | null;
}

/** How much of a User-Agent header is read, in characters: more than browsers send. */
const MAX_USER_AGENT = 512;

const BROWSERS: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));
const SYSTEMS: ReadonlySet<string> = new Set(Object.values(Bowser.OS_MAP));

/**
 * The names of browser and system, from the lists of the library: nothing that was sent is returned as it is. Only these are
 * stored, because the whole header says more about a person than is needed to recognize a session.
 * @param address as {@link networkOf} takes it
 */
export function deviceOf(userAgent: string | undefined, address: string | null): Device {
  const text = (userAgent ?? '').slice(0, MAX_USER_AGENT).trim();
  const parser = text === '' ? undefined : Bowser.getParser(text);
  const known = (names: ReadonlySet<string>, name: string | undefined) =>
    name !== undefined && names.has(name) ? name : null;
  return {
    browser: known(BROWSERS, parser?.getBrowserName()),
    system: known(SYSTEMS, parser?.getOSName()),
    network: address === null ? null : networkOf(address),
  };
}

/**
 * An address without the part that distinguishes one home from another: the /24 of IPv4, the /48 of IPv6.
 * @param bucket as `addressBucket` writes it: the whole IPv4 address, or the /64 of an IPv6 one
 */
export function networkOf(bucket: string): string | null {
  const v4 = /^(\d+\.\d+\.\d+)\.\d+$/.exec(bucket);
  if (v4 !== null) return `${v4[1]}.x`;
  const v6 = /^([0-9a-f]+:[0-9a-f]+:[0-9a-f]+):[0-9a-f]+::\/64$/.exec(bucket);
  return v6 === null ? null : `${v6[1]}:x`;
}
