// store: none
/** The dashboard and the alerts name only what Tessera measures, and the documentation says what to do about each alert. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { read } from '../../docs/site/markdown.ts';
import { readConfig } from '../../src/settings/config.ts';
import { blocksOf } from './blocks.ts';

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const FOLDER = 'deploy/observability';
const { groups } = parse(read(`${FOLDER}/alerts.yml`)) as { groups: readonly { rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);
const recorded = rules.flatMap(({ record }) => record ?? []);

interface Dashboard {
  readonly panels: readonly { readonly id: number; readonly targets?: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
}
const dashboard = JSON.parse(read(`${FOLDER}/dashboard.json`)) as Dashboard;
const variables = dashboard.templating.list.map(({ query }) => (typeof query === 'string' ? query : query.query));
const panels = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** The metrics of the reference with their labels, and the names of those that the library adds. */
const page = read('docs/reference/metrics.md');
const documented = new Map(
  [...page.matchAll(/^\| `(tessera_\w+)` \| (\w+) \| (.*?) ?\|/gm)].map(([, name = '', type, labels = '']) => [
    name,
    { type, labels: new Set([...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label)) },
  ]),
);
const ofTheProcess = [...page.matchAll(/`((?:nodejs|process)_[\w*]+)`/g)].map(
  ([, name = '']) => new RegExp(`^${name.replaceAll('*', '\\w+')}$`),
);
/** Labels that Prometheus adds, and those of buckets. */
const ADDED = ['job', 'instance', 'le'];

/** The metrics of an expression, with the labels that it names beside each; the texts in it are left out. */
function* metricsOf(expression: string): Generator<{ name: string; labels: string[] }> {
  for (const [, name = '', matchers = ''] of expression.matchAll(
    /\b((?:tessera|nodejs|process)_\w+)(?:\{([^}]*)\})?/g,
  )) {
    yield { name, labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label) };
  }
}

const place = (text: string): string => text.slice(0, 200);

test('every metric of the dashboard and of the alerts is in the reference, with its labels', () => {
  const seen = new Set<string>();
  assert.ok(panels.length > 20 && alerts.length > 15 && recorded.length > 3 && documented.size > 20);
  for (const expression of [...panels, ...variables, ...rules.map(({ expr }) => expr)]) {
    const names = [...metricsOf(expression)];
    for (const { name, labels } of names) {
      const base = documented.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
      const metric = documented.get(base);
      if (metric === undefined) {
        assert.ok(
          ofTheProcess.some((known) => known.test(name)),
          `${name} in ${place(expression)}`,
        );
        continue;
      }
      seen.add(base);
      assert.equal(base !== name, metric.type === 'histogram', `${name} in ${place(expression)}`);
      const unknown = labels.filter((label) => !ADDED.includes(label) && !metric.labels.has(label));
      assert.deepEqual(unknown, [], place(expression));
    }
    // What is summed by a label has it.
    const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/\s*,\s*/));
    const known = names.flatMap(({ name }) => [
      ...((documented.get(name) ?? documented.get(name.replace(/_(bucket|sum|count)$/, '')))?.labels ?? []),
    ]);
    for (const label of grouped) assert.ok([...ADDED, ...known].includes(label), `${label} in ${place(expression)}`);
  }
  assert.ok(seen.size > 15);
});

test('a recorded ratio that an alert reads is there, and each one is read', () => {
  const used = new Set(rules.flatMap(({ expr }) => expr.match(/\btessera:\w+:\w+/g) ?? []));
  assert.deepEqual([...used].sort(), [...recorded].sort());
});

test('every alert says how urgent it is and what happened, and has its remedy in the documentation', () => {
  const names = alerts.map(({ alert = '' }) => alert);
  assert.equal(new Set(names).size, names.length);
  for (const { alert = '', labels, annotations } of alerts) {
    assert.match(labels?.['severity'] ?? '', /^(page|ticket)$/, alert);
    assert.ok((annotations?.['summary'] ?? '').length > 10 && (annotations?.['description'] ?? '').length > 10, alert);
  }
  const rows = [...read('docs/how-to/observe.md').matchAll(/^\| `(Tessera\w+)` \| (\w+) \|/gm)];
  const severity = new Map(alerts.map(({ alert, labels }) => [alert, labels?.['severity']]));
  assert.deepEqual(rows.map(([, name]) => name).sort(), [...names].sort());
  for (const [, name = '', urgency] of rows) assert.equal(urgency, severity.get(name), name);
});

test('the panels of the dashboard have ids of their own, and the example of Prometheus reads the rules', () => {
  const ids = dashboard.panels.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  const { rule_files, scrape_configs } = parse(read(`${FOLDER}/prometheus.yml`)) as {
    rule_files: string[];
    scrape_configs: { job_name: string }[];
  };
  assert.deepEqual([rule_files, scrape_configs.map(({ job_name }) => job_name)], [['alerts.yml'], ['tessera']]);
});

test('every alert has a case in which it fires, and one in which it does not', () => {
  const { tests } = parse(read(`${FOLDER}/alerts.test.yml`)) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
  };
  const cases = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
  const names = alerts.map(({ alert = '' }) => alert).sort();
  const inCases = (fires: boolean) =>
    [
      ...new Set(cases.filter(({ exp_alerts }) => exp_alerts.length > 0 === fires).map(({ alertname }) => alertname)),
    ].sort();
  assert.deepEqual(inCases(true), names);
  assert.deepEqual(inCases(false), names);
});

test('the settings in the how-to are settings of Tessera, and switch on what it says', () => {
  const blocks = blocksOf('docs/how-to/observe.md').filter(({ language }) => language === 'sh');
  const settings = blocks.flatMap(({ text }) => [...text.matchAll(/\b((?:TESSERA|OTEL)_\w+)=(\S+)/g)]);
  assert.ok(settings.length > 4);
  const config = readConfig(Object.fromEntries(settings.map(([, name, value]) => [name, value])));
  assert.deepEqual(config.metricsAddress, { host: '127.0.0.1', port: 9464 });
  assert.deepEqual([config.telemetry?.traces?.ratio, config.telemetry?.endpoint], [0.01, 'http://localhost:4318']);
  // The commands that the page names.
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  assert.ok('start' in scripts && 'check-alerts' in scripts && 'bench-telemetry' in scripts);
});
