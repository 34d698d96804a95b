import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { admin, newClient, newUser, refresh, tokensFor } from '../../test/support/flow.ts';
import { startReceiver } from '../../test/support/logout-receiver.ts';
import { startOtlpReceiver } from '../../test/support/otlp-receiver.ts';
import type { TestServer } from '../../test/support/server.ts';
import { freePort, launchClone } from '../launch.ts';
import { CHECKED, driveSignIn } from '../sign-in.ts';

/*
 * Drives a Tessera for three minutes while a real Prometheus scrapes it and evaluates the alert rules, asks Prometheus what the
 * dashboard asks, and then stops Tessera until the alert fires. Needs `prometheus` in PATH, or PROMETHEUS.
 */

const MINUTE = 60_000;
const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const program = process.env['PROMETHEUS'] ?? 'prometheus';
const folder = mkdtempSync(join(tmpdir(), 'tessera-observe-'));
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Metrics without a series as long as nothing of the kind has happened, and those of PostgreSQL, on SQLite. */
const DID_NOT_HAPPEN = [
  /tessera_mails_total/,
  /tessera_breach_checks_total/,
  /tessera_telemetry_spans_dropped_total/,
  /tessera_database_connections/,
];

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
}
interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly name: string; readonly health: string; readonly lastError?: string }[];
  }[];
}
interface Alerts {
  readonly alerts: readonly { readonly state: string; readonly labels: { readonly alertname: string } }[];
}

const [port, metricsPort, prometheusPort] = [await freePort(), await freePort(), await freePort()];
const url = `http://localhost:${port}`;
const collector = await startOtlpReceiver();
const app = await startReceiver();
const stopping: (() => Promise<unknown>)[] = [];

/** What the API of Prometheus answers. */
async function ask(path: string, parameters: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const answer = await fetch(`http://127.0.0.1:${prometheusPort}/api/v1/${path}?${new URLSearchParams(parameters)}`);
  const { status, data, error } = (await answer.json()) as { status: string; data: unknown; error?: string };
  assert.equal(status, 'success', `${path} ${JSON.stringify(parameters)}: ${error}`);
  return data;
}

const firing = async (): Promise<string[]> =>
  ((await ask('alerts')) as Alerts).alerts
    .filter(({ state }) => state === 'firing')
    .map(({ labels }) => labels.alertname);

async function startPrometheus(): Promise<void> {
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '5s' },
    rule_files: [join(FOLDER, 'alerts.yml')],
    scrape_configs: [{ job_name: 'tessera', static_configs: [{ targets: [`127.0.0.1:${metricsPort}`] }] }],
  };
  writeFileSync(join(folder, 'prometheus.yml'), stringify(config));
  const child = spawn(
    program,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${prometheusPort}`,
      '--log.level=error',
    ],
    { stdio: 'inherit' },
  );
  const ended = once(child, 'exit');
  stopping.push(async () => {
    child.kill();
    await ended;
  });
  const isReady = () =>
    fetch(`http://127.0.0.1:${prometheusPort}/-/ready`)
      .then(({ ok }) => ok)
      .catch(() => false);
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    await wait(200);
  }
}

/** What happens at a service: sign-ins, a refusal, and a ban of which the app is told. */
async function drive(): Promise<void> {
  await driveSignIn(url);
  const server = { baseUrl: url } as TestServer;
  const client = await newClient(server, { idTokenSignedResponseAlg: 'EdDSA', backchannelLogoutUri: app.uri });
  const user = await newUser(server);
  await tokensFor(server, client, user);
  await admin(server, 'PUT', `/users/${user.id}/ban`, {});
  assert.equal((await refresh(server, client, 'unknown')).status, 400);
}

/** Asks what the panels ask, with what Grafana puts in place of its variables. */
async function askForPanels({ panels, templating }: Dashboard): Promise<void> {
  const expressions = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
  const empty: string[] = [];
  for (const { title, expr } of expressions) {
    const query = expr.replaceAll('$job', 'tessera').replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m');
    const { result } = (await ask('query', { query })) as { result: readonly unknown[] };
    if (result.length > 0) continue;
    assert.ok(
      DID_NOT_HAPPEN.some((metric) => metric.test(expr)),
      `${title}: ${query} has no data`,
    );
    empty.push(title);
  }
  const lists = templating.list.map(({ query }) => (typeof query === 'string' ? query : query.query));
  for (const list of lists) {
    const [, metric = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(list) ?? [];
    if (metric === '') continue;
    const values = await ask(`label/${label}/values`, { 'match[]': metric.replaceAll('$job', 'tessera') });
    assert.equal((values as string[]).length, 1, list);
  }
  say(
    `dashboard: ${expressions.length - empty.length} of ${expressions.length} queries have data; without, in ${empty.join('; ')}`,
  );
}

try {
  const { stdout, stderr, error } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  if (error !== undefined) throw new Error(`${program} cannot be run (${error.message}): install prometheus`);
  say(/version \S+/.exec(stdout + stderr)?.[0].replace('version', 'Prometheus') ?? 'Prometheus');
  const tessera = await launchClone(port, join(folder, 'data'), {
    ...CHECKED,
    TESSERA_METRICS_ADDRESS: `127.0.0.1:${metricsPort}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_METRIC_EXPORT_INTERVAL: '5000',
  });
  stopping.push(() => tessera.stop());
  await startPrometheus();
  const end = Date.now() + 3 * MINUTE;
  let rounds = 0;
  for (; Date.now() < end; rounds++) await drive();
  say(`drove ${2 * rounds} people through sign-in and tokens in 3 minutes`);

  const { groups } = (await ask('rules')) as Rules;
  const rules = groups.flatMap((group) => group.rules);
  assert.ok(rules.length > 20);
  for (const { name, health, lastError } of rules) assert.equal(health, 'ok', `${name}: ${lastError}`);
  assert.deepEqual(await firing(), []);
  say(`rules: ${rules.length} are evaluated, no alert fires`);
  await askForPanels(JSON.parse(readFileSync(join(FOLDER, 'dashboard.json'), 'utf8')) as Dashboard);

  await tessera.stop();
  const stopped = Date.now();
  while (!(await firing()).includes('TesseraDown')) {
    assert.ok(Date.now() < stopped + 5 * MINUTE, 'TesseraDown does not fire');
    await wait(1000);
  }
  say(`TesseraDown fires ${Math.round((Date.now() - stopped) / 1000)} s after Tessera has stopped`);
} finally {
  for (const stop of stopping.reverse()) await stop();
  await app.close();
  await collector.close();
  rmSync(folder, { recursive: true, force: true });
}
say('The metrics, the rules and the dashboard work together.');
