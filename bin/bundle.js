import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Where `make-bundle.js` puts the bundle. */
export const FOLDER = join(ROOT, 'build');
/** Its first file, and what it was made of. */
export const MAIN = join(FOLDER, 'main.js');
export const RECORD = join(FOLDER, 'made-of.json');

/** Size and time of a file. */
export function stateOf(file) {
  const { size, mtimeMs } = statSync(ROOT + file, { throwIfNoEntry: false }) ?? { size: 0, mtimeMs: 0 };
  return `${size} ${mtimeMs}`;
}

/**
 * The first file of the bundle. Undefined if there is none, or if a source or the installed packages have changed since it was made:
 * then the sources run as they are.
 */
export function currentBundle() {
  try {
    const madeOf = Object.entries(JSON.parse(readFileSync(RECORD, 'utf8')));
    return madeOf.every(([file, state]) => stateOf(file) === state) ? MAIN : undefined;
  } catch {
    // There is none, or it is half written.
    return undefined;
  }
}
