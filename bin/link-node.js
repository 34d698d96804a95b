// npm runs this in a clone after it has installed the packages. Of several optional packages with a program `node`, npm before 11.19
// installs the one for this platform, and then removes its link with those of the others. Plain JavaScript, for any Node.
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pinnedNode } from './pinned-node.js';

const node = pinnedNode();
if (node !== undefined) {
  const links = join(dirname(node), '..', '..', '.bin');
  mkdirSync(links, { recursive: true });
  if (!existsSync(join(links, 'node'))) symlinkSync(relative(links, node), join(links, 'node'));
}
