// Plain JavaScript, because the Node that must be told apart cannot read TypeScript.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { pinnedNode } from './pinned-node.js';

const REQUIRED = 26;
// Where npm installs the pinned version: the optionalDependencies of package.json.
const PINNED = { 'linux-x64': 'Linux x64', 'linux-arm64': 'Linux arm64', 'darwin-arm64': 'macOS arm64' };

const { platform, arch, version, execPath } = process;
// Files, signals and the tests are those of Unix, and a half working server would be worse than none.
if (platform === 'win32') {
  console.error('Tessera does not run on Windows: use WSL 2, which is Linux. See docs/reference/versions.md.');
  process.exit(1);
}
if (Number(process.versions.node.split('.')[0]) < REQUIRED) {
  // Where npm did not link the Node that it installed, the command still finds it. A script that goes on after this one cannot.
  const node = process.argv[1] === fileURLToPath(import.meta.url) ? undefined : pinnedNode();
  if (node !== undefined) await runWith(node);
  const isPinned = `${platform}-${arch}` in PINNED;
  console.error(
    `Tessera needs Node ${REQUIRED} or newer; this is ${version} (${execPath}).\n` +
      (isPinned
        ? 'Run `npm ci`, which installs the right Node, and start Tessera through npm (npm start, npm test,\n' +
          'npm run tessera -- …), which finds it.'
        : `npm installs the right Node on ${Object.values(PINNED).join(', ')}; this is ${platform} ${arch}.\n` +
          `Install Node ${REQUIRED} yourself (https://nodejs.org/en/download), check it with \`node --version\`, and try again.\n` +
          'See docs/reference/versions.md.'),
  );
  process.exit(1);
}

/** Runs this command with another Node, and ends as it does; returns if that Node cannot be started. */
async function runWith(node) {
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  await new Promise((resolve) => {
    child.on('error', () => {
      // It has no end to wait for.
      child.removeAllListeners('close');
      resolve();
    });
    child.on('close', (code, signal) => {
      if (signal === null) process.exit(code);
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    });
  });
}
