import Bowser from 'bowser';

/** What a person knows a session by; what is not told is null. */
export interface Device {
  /** Such as `Firefox`. */
  readonly browser: string | null;
  /** Such as `Windows`. */
  readonly system: string | null;
  /** Where it signed in from, as {@link networkOf} has it. */
  readonly network: string | null;
}

/** Longer than what browsers send, and short enough to read for anybody who signs in. */
const LONGEST = 512;

const BROWSERS: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));
const SYSTEMS: ReadonlySet<string> = new Set(Object.values(Bowser.OS_MAP));

/**
 * Browser and system in words. Only names from the lists of the library come out, nothing that was sent; and only these are
 * kept, for the whole header tells more of a person than they need to recognise it.
 */
export function deviceOf(userAgent: string | undefined, address: string | null): Device {
  const text = (userAgent ?? '').slice(0, LONGEST).trim();
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
 * An address without the part that tells one home from the next: the /24 of IPv4, the /48 of IPv6.
 * @param bucket as `addressBucket` writes it: IPv4 whole, IPv6 as its /64
 */
export function networkOf(bucket: string): string | null {
  const v4 = /^(\d+\.\d+\.\d+)\.\d+$/.exec(bucket);
  if (v4 !== null) return `${v4[1]}.x`;
  const v6 = /^([0-9a-f]+:[0-9a-f]+:[0-9a-f]+):[0-9a-f]+::\/64$/.exec(bucket);
  return v6 === null ? null : `${v6[1]}:x`;
}
