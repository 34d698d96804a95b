import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** The Prometheus operator whose custom resources the chart is held against. */
export const OPERATOR = 'v0.85.0';

type Schema = { readonly [name: string]: unknown };

/** Writes the schemas of the operator's custom resources, as `servicemonitor.json` and `prometheusrule.json`. */
export function writeOperatorSchemas(folder: string): void {
  // The Go module proxy has the definitions that are installed in a cluster, and Go verifies what it downloads.
  const module = `github.com/prometheus-operator/prometheus-operator@${OPERATOR}`;
  const downloaded = execFileSync('go', ['mod', 'download', '-json', module], { cwd: folder, encoding: 'utf8' });
  const { Dir } = JSON.parse(downloaded) as { readonly Dir: string };
  for (const kind of ['servicemonitor', 'prometheusrule']) {
    const path = join(Dir, 'example/prometheus-operator-crd', `monitoring.coreos.com_${kind}s.yaml`);
    const definition = parse(readFileSync(path, 'utf8')) as {
      readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[] };
    };
    const schema = definition.spec.versions[0]?.schema.openAPIV3Schema;
    writeFileSync(join(folder, `${kind}.json`), JSON.stringify(schema, closed));
  }
}

/** A cluster drops properties that are not in the schema, without an error: here they are errors. */
function closed(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('properties' in value) || !('type' in value)) return value;
  return { additionalProperties: false, ...value };
}
