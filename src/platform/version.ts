import { createRequire } from 'node:module';

const manifest: { version: string } = createRequire(import.meta.url)('../../package.json');

/** A version of Tessera, such as `0.2.0`. */
export type Version = `${number}.${number}.${number}`;

/** The version of these sources. */
export const VERSION: string = manifest.version;

const partsOf = (version: string): number[] => version.split('-', 1).join('').split('.').map(Number);

/** Whether the first version is later than the second. A pre-release counts as its release. */
export function isLater(version: string, than: string): boolean {
  const [parts, others] = [partsOf(version), partsOf(than)];
  const index = parts.findIndex((part, place) => part !== others[place]);
  return index >= 0 && !((parts[index] ?? 0) < (others[index] ?? 0));
}
