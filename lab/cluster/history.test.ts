// store: PostgreSQL
/**
 * Decisions §5, "on any node": a recorded history of concurrent operations over several processes on one database, checked
 * against the decisions. Longer ones: npm run history -- --operations 1000000 --nodes 4
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WHOLE } from '../../test/support/whole.ts';
import { type ClusterKind, startCluster } from './cluster.ts';
import { explain } from './report.ts';
import { run } from './run.ts';

// A short sample, of which at least what is done is the same every time.
const seed = 1;
const operations = 1000;

const CLUSTERS: Readonly<Record<string, readonly [nodes: number, kind: ClusterKind]>> = {
  'two nodes on PostgreSQL': [2, {}],
  'two processes of one service on SQLite': [2, { isOneService: true, store: 'SQLite' }],
  ...(WHOLE && {
    'four nodes on PostgreSQL': [4, {}],
    'two processes of one service on PostgreSQL': [2, { isOneService: true }],
  }),
};
for (const [name, [nodes, kind]] of Object.entries(CLUSTERS)) {
  test(`${name} keep every promise through ${operations} concurrent operations`, async (t) => {
    t.diagnostic(`seed ${seed}`);
    const cluster = await startCluster(nodes, kind);
    try {
      const summary = await run(cluster, { operations, seed });
      assert.deepEqual(summary.violations.length, 0, `seed ${seed}: ${explain(summary)}\n${cluster.log()}`);
      assert.ok(summary.operations >= operations);
      t.diagnostic(`${summary.operations} operations in ${summary.seconds.toFixed(1)} s`);
    } finally {
      await cluster.close();
    }
  });
}
