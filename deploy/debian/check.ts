import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { blocksOf } from '../../test/docs/blocks.ts';
import { plainEnvironment } from '../launch.ts';

/*
 * Runs the blocks of docs/how-to/install.md as they are written, in order, on a bare Debian 12 in a folder. Needs root, `mmdebstrap`,
 * Debian's packages, the npm registry, and the ports 80, 443, 3000 and 5432. A chroot has no systemd and no public name: a stand-in for
 * `systemctl` starts what the unit says, and Caddy signs the certificate itself.
 *
 * INSTALL_CHECK_BASE is a tar of the bare system, if there is one; INSTALL_CHECK_CA is a file of further certificate authorities.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = 'docs/how-to/install.md';
const folder = mkdtempSync(join(tmpdir(), 'tessera-install-'));
const system = join(folder, 'system');

const SYSTEMCTL = `#!/bin/bash
# Stands for systemd in a chroot: it starts what the unit says.
case "$*" in
  daemon-reload) ;;
  "enable --now tessera")
    unit=/etc/systemd/system/tessera.service
    value() { sed -n "s/^$1=//p" "$unit"; }
    set -a; . "$(value EnvironmentFile)"; eval "$(value Environment)"; set +a
    install -d -o tessera -m 0700 "/var/lib/$(value StateDirectory)" "/var/cache/$(value CacheDirectory)"
    cd "$(value WorkingDirectory)" || exit 1
    setsid runuser -u "$(value User)" -- $(value ExecStart) > /var/log/tessera.log 2>&1 &
    echo $! > /run/check-tessera.pid ;;
  "restart caddy")
    { printf '{\\n  local_certs\\n  skip_install_trust\\n}\\n'; cat /etc/caddy/Caddyfile; } > /run/check-Caddyfile
    XDG_DATA_HOME=/run/check-caddy setsid caddy run --adapter caddyfile --config /run/check-Caddyfile > /var/log/caddy.log 2>&1 &
    echo $! > /run/check-caddy.pid
    until cat /run/check-caddy/caddy/pki/authorities/local/root.crt >> /usr/local/share/ca-certificates/check.crt 2>/dev/null &&
      curl --silent --output /dev/null --insecure https://login.example.com/health/live; do sleep 1; done
    update-ca-certificates > /dev/null 2>&1 ;;
  *) echo "the stand-in for systemctl does not know: $*" >&2; exit 1 ;;
esac
`;

try {
  mkdirSync(system);
  const base = process.env['INSTALL_CHECK_BASE'] ?? join(folder, 'base.tar');
  if (!existsSync(base)) execFileSync('mmdebstrap', ['--quiet', '--variant=minbase', 'bookworm', base]);
  execFileSync('tar', ['--extract', '--file', base, '--directory', system]);
  for (const file of ['etc/hosts', 'etc/resolv.conf'])
    cpSync(join('/', file), join(system, file), { dereference: true });
  appendFileSync(join(system, 'etc/hosts'), '127.0.0.1 login.example.com\n');
  writeFileSync(join(system, 'usr/local/bin/systemctl'), SYSTEMCTL);
  chmodSync(join(system, 'usr/local/bin/systemctl'), 0o755);
  const authorities = process.env['INSTALL_CHECK_CA'];
  if (authorities !== undefined) {
    cpSync(authorities, join(system, 'etc/check-ca.crt'));
    writeFileSync(join(system, 'root/.npmrc'), 'cafile=/etc/check-ca.crt\n');
  }
  // Nothing here has to survive a power failure.
  writeFileSync(join(system, 'etc/dpkg/dpkg.cfg.d/check'), 'force-unsafe-io\n');
  // What `git clone` would bring.
  mkdirSync(join(system, 'opt/tessera'), { recursive: true });
  const clone = execFileSync('git', ['archive', 'HEAD'], { cwd: ROOT, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['--extract', '--directory', join(system, 'opt/tessera')], { input: clone });

  const blocks = blocksOf(PAGE).filter(({ language }) => language === 'sh');
  assert.ok(blocks.length >= 8);
  const script = [
    'set -euo pipefail',
    'export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8',
    'export NODE_EXTRA_CA_CERTS=/usr/local/share/ca-certificates/check.crt',
    "trap 'kill $(cat /run/check-*.pid) 2>/dev/null; pg_ctlcluster 15 main stop || true' EXIT",
    ...blocks.flatMap(({ place, text }, index) => [
      `echo "== ${place}"`,
      text,
      // What systemd does after the packages are installed.
      ...(index === 0 ? ['pg_ctlcluster 15 main start || true'] : []),
    ]),
    'echo "== all blocks ran"',
  ].join('\n');
  writeFileSync(join(system, 'root/page.sh'), script);
  const mounts =
    'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount -t tmpfs tmpfs "$1/run" && exec chroot "$1" bash /root/page.sh';
  const result = spawnSync('unshare', ['--mount', 'sh', '-c', mounts, 'sh', system], {
    encoding: 'utf8',
    // The settings of this machine's npm name files that are not there.
    env: plainEnvironment(),
    maxBuffer: 2 ** 28,
  });
  const [, ...parts] = result.stdout.split(/^== /m);
  if (result.status !== 0) process.stderr.write(`${result.stdout.slice(-4000)}\n${result.stderr.slice(-4000)}\n`);
  assert.equal(result.status, 0, 'a block failed');
  const doctor = parts.find((part) => /problem/.test(part)) ?? '';
  assert.match(doctor, /^No problems/m);
  assert.match(result.stdout, /"issuer":"https:\/\/login\.example\.com"/);
  process.stdout.write(`${blocks.length} blocks of ${PAGE} ran on a bare Debian 12\n${doctor.replace(/^.*\n/, '')}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write('The page works as written.\n');
