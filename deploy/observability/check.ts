import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/*
 * Checks the alert rules with promtool, which the tests do without: their syntax, and when each alert fires.
 */

const promtool = process.env['PROMTOOL'] ?? 'promtool';
const folder = fileURLToPath(new URL('.', import.meta.url));

const checks = [
  ['check', 'config', 'prometheus.yml'],
  ['check', 'rules', 'alerts.yml'],
  ['test', 'rules', 'alerts.test.yml'],
];

for (const args of checks) {
  process.stdout.write(`promtool ${args.join(' ')}\n`);
  const { error, status } = spawnSync(promtool, args, { cwd: folder, stdio: 'inherit' });
  if (error !== undefined) {
    process.stderr.write(
      `${promtool} cannot be run (${error.message}). Install it (Debian: apt-get install prometheus; or from ` +
        'https://prometheus.io/download), or set PROMTOOL to its path.\n',
    );
    process.exit(1);
  }
  if (status !== 0) process.exit(1);
}
