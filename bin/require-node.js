// Plain JavaScript, because the Node that must be told apart cannot read TypeScript.
const REQUIRED = 26;
// Where npm installs the pinned version: the optionalDependencies of package.json.
const PINNED = { 'linux-x64': 'Linux x64', 'linux-arm64': 'Linux arm64', 'darwin-arm64': 'macOS arm64' };

const { platform, arch, version, execPath } = process;
// Files, signals and the tests are those of Unix, and a half working server would be worse than none.
if (platform === 'win32') {
  console.error('Tessera does not run on Windows: use WSL 2, which is Linux. See docs/reference/platforms.md.');
  process.exit(1);
}
if (Number(process.versions.node.split('.')[0]) < REQUIRED) {
  const isPinned = `${platform}-${arch}` in PINNED;
  console.error(
    `Tessera needs Node ${REQUIRED} or newer; this is ${version} (${execPath}).\n` +
      (isPinned
        ? import.meta.url.includes('/node_modules/')
          ? 'npm installed the right Node beside it: run `npx tessera` in the folder where you installed Tessera.'
          : 'Run `npm ci`, which installs the right Node, and start Tessera through npm (npm start, npm test,\n' +
            'npm run tessera -- …), which finds it.'
        : `npm installs the right Node on ${Object.values(PINNED).join(', ')}; this is ${platform} ${arch}.\n` +
          `Install Node ${REQUIRED} yourself (https://nodejs.org/en/download), check it with \`node --version\`, and try again.\n` +
          'See docs/reference/platforms.md.'),
  );
  process.exit(1);
}
